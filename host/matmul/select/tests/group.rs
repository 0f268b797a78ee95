//! Products of unequal shapes.

use super::*;
use crate::matmul::select::group::select_in_group;

fn kernel_of(shapes: &[(usize, usize, usize)], device: DeviceFacts) -> &'static str {
    let problems: Vec<_> = shapes
        .iter()
        .map(|&shape| row_major(ElementType::F32, shape))
        .collect();
    let problems: Vec<_> = problems.iter().collect();
    select_in_group(&problems, device).unwrap().name
}

#[test]
fn large_tiles_are_for_groups_that_fill_the_device() {
    let large = [(512, 512, 256); 16];
    assert_eq!(kernel_of(&large, H200), "matmul_grouped_f32_nn");
    assert_eq!(kernel_of(&large[..4], H200), "matmul_grouped_small_f32_nn");
    // Enough blocks, most of whose outputs lie outside of the results.
    let slim = [(4096, 8, 256); 16];
    assert_eq!(kernel_of(&slim, H200), "matmul_grouped_small_f32_nn");
}

#[test]
fn products_on_tensor_cores_are_launched_alone() {
    let fastest = Request::Fastest(Arithmetic::Auto, None);
    let alone = |element, shape| {
        let problem = row_major(element, shape);
        let selection = select(&problem, H200, fastest).unwrap();
        is_alone(&problem, H200, &selection)
    };
    assert!(alone(ElementType::F32, (1024, 1024, 1024)));
    assert!(!alone(ElementType::F32, (64, 64, 64)));
    assert!(alone(ElementType::F64, (4096, 4096, 64)));
    assert!(!alone(ElementType::F64, (64, 64, 64)));
}

#[test]
fn no_problem_has_no_kernel() {
    assert!(select_in_group(&[], H200).is_none());
}
