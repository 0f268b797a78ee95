//! The decisions of a plan besides the kernel: orientation, staging, stores, grids.

use super::*;

const AUTO: Request = Request::Fastest(Arithmetic::Auto, None);

fn plan(problem: &Problem) -> Plan {
    Plan::of(problem, H200, AUTO).expect("a plan")
}

#[test]
fn rows_that_do_not_start_at_multiples_of_16_bytes_are_copied() {
    let staging = |shape| plan(&row_major(ElementType::Bf16, shape)).staging;
    assert_eq!(staging((512, 512, 512)), [Staging::InPlace; 2]);
    // A's rows have K elements, and B's N.
    let of_k = [Staging::Copied, Staging::InPlace];
    assert_eq!(staging((512, 512, 513)), of_k);
    let of_n = [Staging::InPlace, Staging::Copied];
    assert_eq!(staging((512, 513, 512)), of_n);
    assert_eq!(staging((512, 512, 0)), [Staging::Unread; 2]);
    // f32 on CUDA cores is read where it lies, and so is f64 of slim results.
    let in_place = |element, shape| plan(&row_major(element, shape)).staging;
    assert_eq!(
        in_place(ElementType::F32, (65, 65, 65)),
        [Staging::InPlace; 2]
    );
    assert_eq!(
        in_place(ElementType::F64, (769, 769, 769)),
        [Staging::Copied; 2]
    );
    assert_eq!(
        in_place(ElementType::F64, (513, 513, 513)),
        [Staging::InPlace; 2]
    );
}

#[test]
fn bytes_across_k_are_transposed() {
    for (a, b) in ORDERS.into_iter().flat_map(|a| ORDERS.map(|b| (a, b))) {
        let mut problem = problem(ElementType::I8, (512, 512, 512), a, b);
        problem.output = ElementType::I32;
        let of = |is_along| match is_along {
            true => Staging::InPlace,
            false => Staging::Transposed,
        };
        let expected = [of(a == Order::RowMajor), of(b == Order::ColumnMajor)];
        assert_eq!(plan(&problem).staging, expected);
    }
    // Words of four elements have to be whole; a vector lies in both orders.
    let old = DeviceFacts {
        compute_capability: Some((7, 5)),
        ..H200
    };
    let mut words = problem(
        ElementType::I8,
        (64, 64, 18),
        Order::RowMajor,
        Order::ColumnMajor,
    );
    words.output = ElementType::I32;
    words.a.leading_dimension = 32;
    let of_words = Plan::of(&words, old, AUTO).expect("a plan");
    assert_eq!(of_words.staging, [Staging::Copied; 2]);
    let mut vector = row_major(ElementType::I8, (64, 1, 64));
    vector.output = ElementType::I32;
    assert_eq!(plan(&vector).staging, [Staging::InPlace; 2]);
    vector.b.leading_dimension = 2;
    let strided = [Staging::InPlace, Staging::Transposed];
    assert_eq!(plan(&vector).staging, strided);
}

#[test]
fn a_plan_computes_the_transpose_of_few_rows_and_of_a_row() {
    let is_transposed = |shape| plan(&row_major(ElementType::F16, shape)).is_transposed;
    assert!(is_transposed((16, 4096, 512)));
    assert!(!is_transposed((4096, 16, 512)));
    assert!(is_transposed((1, 4096, 512)));
    assert!(!is_transposed((4096, 1, 512)));
    assert!(!is_transposed((4096, 4096, 512)));
    // Its staging is that of the transposes of B and A.
    let unaligned_b = plan(&row_major(ElementType::F16, (16, 4095, 512)));
    let expected = [Staging::Copied, Staging::InPlace];
    assert_eq!(unaligned_b.staging, expected);
}

#[test]
fn outputs_are_stored_in_bulk_only_unchanged_and_to_aligned_rows() {
    let store = |change: fn(&mut Problem)| {
        let mut problem = row_major(ElementType::F16, (512, 512, 512));
        change(&mut problem);
        plan(&problem).store
    };
    assert_eq!(store(|_| {}), Store::Bulk);
    assert_eq!(store(|it| it.is_plain = false), Store::Single);
    assert_eq!(store(|it| it.output = ElementType::F32), Store::Single);
    assert_eq!(store(|it| it.c.alignment = 8), Store::Single);
    assert_eq!(store(|it| it.c.leading_dimension = 516), Store::Single);
    assert_eq!(store(|it| (it.m, it.a.alignment) = (16, 256)), Store::Own);
}

#[test]
fn operands_that_products_share_are_split_once_for_several_launches() {
    let staging = |batch, change: fn(&mut Problem)| {
        let mut problem = row_major(ElementType::F32, (1024, 1024, 1024));
        problem.batch = batch;
        problem.is_shared = [batch == 1, true];
        change(&mut problem);
        plan(&problem).staging
    };
    assert_eq!(staging(1, |_| {}), [Staging::Split; 2]);
    assert_eq!(staging(64, |_| {}), [Staging::Split; 2]);
    let once = [Staging::Split, Staging::SplitOnce];
    assert_eq!(staging(65, |_| {}), once);
    let prepared = [Staging::Split, Staging::Prepared];
    assert_eq!(
        staging(65, |it| it.prepared[1] = Some(PreparedAs::Split)),
        prepared
    );
    let gram = [Staging::Split, Staging::SplitWithOther];
    assert_eq!(staging(1, |it| it.is_gram = true), gram);
}

#[test]
fn each_kind_of_grid_has_blocks_for_all_products() {
    let blocks = |batch, shape| {
        let problem = Problem {
            batch,
            ..row_major(ElementType::Bf16, shape)
        };
        let grid = plan(&problem).grid.config(batch, String::new).unwrap().grid;
        (grid.x, grid.y)
    };
    // Clusters stay on the device, blocks without clusters do not, and products with a vector lie along y.
    assert_eq!(blocks(1, (4096, 4096, 512)), (132, 1));
    assert_eq!(blocks(1000, (64, 64, 64)), (1000, 1));
    assert_eq!(blocks(3, (4096, 1, 512)).1, 3);
}

#[test]
fn a_split_product_has_a_fallback_for_each_kind_of_kernel() {
    let of = |device, n| {
        let plan = Plan::of(&row_major(ElementType::F32, (n, n, n)), device, AUTO).unwrap();
        match plan.steps {
            Steps::Split(split) => (split.fallback.method, split.passes),
            _ => panic!("{} splits no operands", plan.kernel.name),
        }
    };
    assert_eq!(of(H200, 1024), (Method::OutOfRange, SplitPasses::One));
    assert_eq!(of(A100, 1024), (Method::OutOfRangeMma, SplitPasses::Two));
}

#[test]
fn rows_of_a_cluster_tile_are_whole_warpgroups() {
    for kernel in KERNELS {
        if matches!(
            kernel.method,
            Method::Wgmma(_) | Method::Single | Method::Skinny(_) | Method::Split(_)
        ) {
            let rows = kernel.cluster_tile().rows;
            assert!(
                rows.is_multiple_of(64),
                "{}: {rows} rows are not whole warpgroups of 64",
                kernel.name
            );
        }
    }
}
