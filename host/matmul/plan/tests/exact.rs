//! Exact products: the moduli, the parts of K and the panels.

use super::*;
use crate::matmul::arithmetic::Arithmetic;

fn residues(element: ElementType, shape: (usize, usize, usize)) -> Option<ResiduesPlan> {
    let request = Request::Fastest(Arithmetic::Exact, None);
    let plan = Plan::of(&row_major(element, shape), H200, request).expect("a plan");
    let Steps::Exact(exact) = plan.steps else {
        panic!("{} is not exact", plan.kernel.name);
    };
    exact.residues
}

#[test]
fn moduli_grow_with_the_type_and_with_k() {
    let square = |element, size| {
        let plan = residues(element, (size, size, size)).expect("products of residues");
        assert!(plan.is_reduced);
        (plan.count(), plan.bits[0], plan.bits[1])
    };
    assert_eq!(square(ElementType::F32, 512), (12, 47, 46));
    assert_eq!(square(ElementType::F32, 8192), (13, 51, 50));
    assert_eq!(square(ElementType::F64, 4096), (20, 77, 77));
    assert_eq!(square(ElementType::F64, 8192), (21, 81, 80));
}

#[test]
fn small_products_and_few_lines_are_computed_one_by_one() {
    for shape in [
        (200, 200, 200),
        (4, 5000, 5000),
        (5000, 1, 5000),
        (300, 300, 0),
    ] {
        assert!(residues(ElementType::F64, shape).is_none(), "{shape:?}");
    }
    assert!(residues(ElementType::F64, (210, 210, 210)).is_some());
}

#[test]
fn k_is_cut_where_sums_could_exceed_the_range_of_the_reduction() {
    let part = |k| {
        residues(ElementType::F32, (64, 64, k))
            .expect("products of residues")
            .part
    };
    assert_eq!(part(1 << 16), 1 << 16);
    assert_eq!(part((1 << 16) + 1), (1 << 15) + 16);
    assert_eq!(part(200_000), 50_000);
}

#[test]
fn panels_bound_the_memory() {
    let panel = |shape| {
        residues(ElementType::F64, shape)
            .expect("products of residues")
            .panel
    };
    assert_eq!(panel((8192, 8192, 8192)), (8192, 8192));
    for shape in [
        (32768, 32768, 32768),
        (100_000, 2000, 60_000),
        (70_000, 70_000, 64),
    ] {
        let (m, n) = panel(shape);
        let bytes = 21 * ((m + n) * shape.2 + m * n);
        assert!(bytes <= 8 << 30, "{shape:?}: {m} x {n}");
        assert!(m.max(n) >= 1024, "{shape:?}: {m} x {n}");
    }
}

/// The residues of the smallest panels of a product of f64 fit the memory for panels; longer products are chains.
#[test]
fn products_by_residues_have_memory_for_them() {
    let plan = |shape| {
        let request = Request::Fastest(Arithmetic::Auto, None);
        Plan::of(&row_major(ElementType::F64, shape), H200, request).expect("a plan")
    };
    for shape in [(1024, 1024, 1 << 18), (50_000, 1500, 1 << 18)] {
        let Steps::Residues(residues) = plan(shape).steps else {
            panic!("{shape:?} is not by residues");
        };
        let (m, n) = residues.panel;
        let parts = shape.2.div_ceil(residues.part);
        let bytes = 14 * ((m + n) * shape.2 + parts * m * n);
        assert!(bytes <= 8 << 30, "{shape:?}: {m} x {n}");
    }
    let long = plan((1024, 1024, (1 << 18) + 1));
    assert!(!matches!(long.steps, Steps::Residues(_)));
}

#[test]
fn devices_without_tensor_cores_for_i8_reduce_words() {
    let old = DeviceFacts {
        compute_capability: Some((7, 5)),
        ..H200
    };
    let problem = row_major(ElementType::F64, (500, 500, 500));
    let request = Request::Fastest(Arithmetic::Exact, None);
    let plan = Plan::of(&problem, old, request).expect("a plan");
    let Steps::Exact(ExactPlan {
        residues: Some(residues),
    }) = plan.steps
    else {
        panic!("{} has no residues", plan.kernel.name);
    };
    assert!(!residues.is_reduced);
    assert_eq!(residues.kernel.name, "matmul_coarsened_i8");
}
