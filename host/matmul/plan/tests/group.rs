//! Products of unequal shapes.

use super::*;
use crate::matmul::plan::group::select_in_group;

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
    // Enough blocks, but most of their outputs lie outside of the results.
    let slim = [(4096, 8, 256); 16];
    assert_eq!(kernel_of(&slim, H200), "matmul_grouped_small_f32_nn");
}

#[test]
fn products_on_tensor_cores_are_launched_alone() {
    let fastest = Request::Fastest(Arithmetic::Auto, None);
    let alone = |element, shape| {
        let problem = row_major(element, shape);
        let selection = Plan::of(&problem, H200, fastest).unwrap();
        is_alone(&problem, H200, &selection)
    };
    assert!(alone(ElementType::F32, (1024, 1024, 1024)));
    assert!(!alone(ElementType::F32, (512, 512, 512)));
    assert!(!alone(ElementType::F32, (64, 64, 64)));
    assert!(alone(ElementType::F64, (4096, 4096, 64)));
    assert!(!alone(ElementType::F64, (64, 64, 64)));
}

#[test]
fn halves_that_have_the_same_bits_alone_share_a_launch() {
    let fastest = Request::Fastest(Arithmetic::Auto, None);
    let alone = |problem: &Problem, device| {
        let selection = Plan::of(problem, device, fastest).unwrap();
        is_alone(problem, device, &selection)
    };
    for device in [H200, A100] {
        for element in [ElementType::F16, ElementType::Bf16] {
            let alone = |shape| alone(&row_major(element, shape), device);
            assert!(!alone((64, 64, 64)));
            assert!(!alone((256, 512, 1024)));
            // Enough tiles, a vector, a split K, unaligned rows.
            assert!(alone((4096, 4096, 64)));
            assert!(alone((64, 1, 64)));
            assert!(alone((64, 64, 1 << 14)));
            assert!(alone((64, 65, 64)));
        }
    }
    let problem = row_major(ElementType::F16, (64, 64, 64));
    let kernel = select_in_group(&[&problem], A100).unwrap();
    assert_eq!(kernel.name, "matmul_mma_grouped_f16_nn");
}

#[test]
fn no_problem_has_no_kernel() {
    assert!(select_in_group(&[], H200).is_none());
}
