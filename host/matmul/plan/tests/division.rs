//! Products with a split K, and products of which one device computes a part.

use super::*;

#[test]
fn k_is_divided_by_the_shape_alone() {
    let parts = |element, shape, device, arithmetic| {
        let problem = row_major(element, shape);
        let selection = Plan::of(&problem, device, Request::Fastest(arithmetic, None)).unwrap();
        parts_of(&selection).map(|it| (it.count, it.len))
    };
    let small = DeviceFacts {
        multiprocessors: 2,
        compute_capability: Some((7, 5)),
        limit: None,
        driver: None,
        warp_threads: 32,
    };
    for device in [H200, small] {
        for element in [ElementType::F32, ElementType::F64] {
            let auto = |shape| parts(element, shape, device, Arithmetic::Auto);
            assert_eq!(auto((128, 128, 1 << 20)), Some((66, 15_888)));
            assert_eq!(auto((256, 256, 1024)), Some((16, 64)));
            assert_eq!(auto((2, 3, 1024)), Some((16, 64)));
            assert_eq!(auto((2, 3, 1023)), None);
            assert_eq!(auto((1024, 1024, 1024)), None);
            assert_eq!(auto((4096, 1, 1 << 20)), None);
            let chain = parts(element, (128, 128, 1 << 20), device, Arithmetic::Chain);
            assert_eq!(chain, None);
        }
    }
}

#[test]
fn parts_of_f32_are_split_where_outputs_are_many() {
    let of = |problem: &Problem, device| {
        let plan = Plan::of(problem, device, Request::Fastest(Arithmetic::Auto, None)).unwrap();
        let parts = parts_of(&plan).map(|it| (it.count, it.len));
        (parts, plan.kernel.method)
    };
    let of_shape = |shape, device| of(&row_major(ElementType::F32, shape), device);
    for (shape, parts) in [
        ((512, 512, 1024), (2, 512)),
        ((512, 512, 65_536), (4, 16_384)),
        ((256, 256, 4096), (8, 512)),
        ((384, 384, 8192), (7, 1216)),
        ((1024, 128, 8192), (8, 1024)),
        ((640, 640, 4096), (2, 2048)),
    ] {
        let (found, method) = of_shape(shape, H200);
        assert_eq!(found, Some(parts), "{shape:?}");
        assert!(matches!(method, Method::Split(_)), "{shape:?}");
    }
    // Few outputs, few rows or columns, little work, and devices without warpgroup products.
    let mut gram = row_major(ElementType::F32, (512, 512, 65_536));
    gram.is_gram = true;
    for (problem, device) in [
        (row_major(ElementType::F32, (128, 128, 1 << 20)), H200),
        (row_major(ElementType::F32, (64, 1024, 8192)), H200),
        (row_major(ElementType::F32, (256, 256, 4095)), H200),
        (
            row_major(ElementType::F32, (512, 512, 65_536)),
            H200.at_most((8, 0)),
        ),
        (gram, H200),
    ] {
        let (parts, method) = of(&problem, device);
        assert!(parts.is_some(), "{problem}");
        assert!(matches!(method, Method::Coarsened(_)), "{problem}");
    }
    // Larger results fill the device without parts.
    assert_eq!(of_shape((768, 768, 4096), H200).0, None);
}

#[test]
fn k_of_narrow_elements_is_divided_into_whole_stages() {
    let of = |element, shape, device, request| {
        let mut problem = row_major(element, shape);
        problem.output = element.of_sums();
        let plan = Plan::of(&problem, device, request).unwrap();
        let parts = parts_of(&plan).map(|it| (it.count, it.len));
        (parts, plan.kernel.method)
    };
    let auto = Request::Fastest(Arithmetic::Auto, None);
    for (element, per_16_bits) in [
        (ElementType::Bf16, 1),
        (ElementType::F8E4M3, 2),
        (ElementType::I8, 2),
    ] {
        let parts = |(m, n, k)| {
            let (parts, _) = of(element, (m, n, k * per_16_bits), H200, auto);
            parts.map(|(count, len)| (count, len / per_16_bits))
        };
        assert_eq!(parts((128, 2112, 7168)), Some((7, 1024)));
        assert_eq!(parts((67, 71, 30_016)), Some((59, 512)));
        assert_eq!(parts((256, 256, 3072)), Some((6, 512)));
        // Too few elements would be saved, or there are too many tiles.
        assert_eq!(parts((256, 256, 3071)), None);
        assert_eq!(parts((1024, 1152, 1 << 16)), None);
        // Two tiles of 64 rows fill the device without parts, or tiles of 192 rows do not.
        assert_eq!(parts((128, 4096, 7168)), None);
        assert_eq!(parts((64, 4096, 7168)), None);
        let of_more = parts((192, 2048, 7168));
        assert_eq!(of_more, (per_16_bits == 1).then_some((4, 1792)));
        // Two parts gain nothing if there are few rows.
        let of_two = |m| parts((m, 7168, 16_384));
        assert_eq!(of_two(64), None);
        assert_eq!(of_two(65), (per_16_bits == 1).then_some((2, 8192)));
    }
    assert_eq!(of(ElementType::Bf16, (512, 2048, 3072), H200, auto).0, None);
    let vector = (1, 2112, 8192);
    assert_eq!(of(ElementType::Bf16, vector, H200, auto).0, None);
    assert_eq!(of(ElementType::F8E5M2, vector, H200, auto).0, None);
    assert_eq!(of(ElementType::I8, vector, H200, auto).0, None);
    // The kernels are those of the device, or of the older one that was requested.
    let tall = (64, 64, 1 << 14);
    let (parts, method) = of(ElementType::F16, tall, H200, auto);
    assert!(matches!(method, Method::Wgmma(_)));
    let older = Request::FastestAt((8, 0), Arithmetic::Auto, Some(TileSize::Small));
    for (device, request) in [(A100, auto), (H200, older)] {
        let (found, method) = of(ElementType::F16, tall, device, request);
        assert!(matches!(method, Method::Mma(_)));
        assert_eq!(found, parts);
    }
}

#[test]
fn a_part_of_a_product_is_computed_in_the_way_of_the_whole() {
    let whole = (1024, 1024, 1024);
    let (m, n, k) = whole;
    let part = |element, rows| row_major(element, (rows, n, k));
    let part_of = |m, n, arithmetic| Request::PartOf { m, n, arithmetic };
    let request = part_of(m, n, Arithmetic::Auto);
    let chain = part_of(m, n, Arithmetic::Chain);
    for rows in [1, 8, 1024] {
        let selection = Plan::of(&part(ElementType::F32, rows), H200, chain).unwrap();
        assert!(
            matches!(selection.kernel.method, Method::Coarsened(_)),
            "{rows}"
        );
        let selection = Plan::of(&part(ElementType::F32, rows), H200, request).unwrap();
        assert!(
            matches!(selection.kernel.method, Method::Split(_)),
            "{rows}"
        );
        // Skinny products have the same bits.
        let selection = Plan::of(&part(ElementType::F16, rows), H200, request).unwrap();
        let method = selection.kernel.method;
        assert!(
            matches!(method, Method::Wgmma(_) | Method::Skinny(_)),
            "{rows}"
        );
    }
    // The result is so small that K is split; its parts do not depend on the rows of a rank.
    let (m, n) = (100, 64);
    let small = row_major(ElementType::F64, (m, n, 5000));
    let expected = Plan::of(&small, H200, Request::Fastest(Arithmetic::Auto, None)).unwrap();
    for rows in [1, 33] {
        let part = Problem { m: rows, ..small };
        let selection = Plan::of(&part, H200, part_of(m, n, Arithmetic::Auto)).unwrap();
        assert_eq!(
            (parts_of(&selection), selection.reason),
            (parts_of(&expected), expected.reason)
        );
        assert!(selection.division.is_some());
    }
    // A vector stays one.
    let column = row_major(ElementType::F32, (3, 1, 50));
    let selection = Plan::of(&column, H200, part_of(9, 1, Arithmetic::Auto)).unwrap();
    assert!(matches!(selection.kernel.method, Method::Vector(_)));
}
