//! Products with block scales, and with rows that are counted on the device.

use super::*;

const AUTO: Request = Request::Fastest(Arithmetic::Auto, None);

/// A product of a row-major A and a column-major B, to bf16.
fn of_layer(element: ElementType, shape: (usize, usize, usize)) -> Problem {
    let orders = [Order::RowMajor, Order::ColumnMajor];
    Problem::packed((element, ElementType::Bf16), shape, orders, 256)
}

fn scaled(shape: (usize, usize, usize)) -> Problem {
    Problem {
        is_scaled: true,
        ..of_layer(ElementType::F8E4M3, shape)
    }
}

#[test]
fn few_rows_have_tiles_of_their_own_and_k_is_never_split() {
    let of = |m, n, k| {
        let plan = Plan::of(&scaled((m, n, k)), H200, AUTO).expect("a kernel");
        assert!(plan.division.is_none(), "{m} x {n} x {k}");
        assert!(matches!(plan.steps, Steps::Scaled));
        plan.kernel.name
    };
    assert_eq!(of(1, 2112, 7168), "matmul_scaled_small_e4m3");
    assert_eq!(of(128, 4096, 7168), "matmul_scaled_small_e4m3");
    assert_eq!(of(128, 129_280, 7168), "matmul_scaled_skinny_e4m3");
    assert_eq!(of(1, 1, 1 << 20), "matmul_scaled_small_e4m3");
    assert_eq!(of(4096, 4096, 7168), "matmul_scaled_medium_e4m3");
    assert_eq!(of(4096, 129_280, 7168), "matmul_scaled_e4m3");
}

#[test]
fn only_hopper_has_kernels_for_blocks_and_counted_rows() {
    let counted = Problem {
        is_counted: true,
        batch: 8,
        ..of_layer(ElementType::Bf16, (512, 512, 512))
    };
    assert_eq!(name(&counted, H200, AUTO), Some("matmul_counted_bf16_nt"));
    for problem in [scaled((512, 512, 512)), counted] {
        assert_eq!(name(&problem, A100, AUTO), None);
        for arithmetic in [Arithmetic::Chain, Arithmetic::Split, Arithmetic::Exact] {
            let request = Request::Fastest(arithmetic, None);
            assert_eq!(name(&problem, H200, request), None, "{arithmetic:?}");
        }
    }
}

#[test]
fn counted_rows_of_other_types_and_orders_have_no_kernel() {
    let counted = |problem: Problem| Problem {
        is_counted: true,
        ..problem
    };
    let unscaled = counted(of_layer(ElementType::F8E4M3, (64, 64, 64)));
    let turned = counted(problem(
        ElementType::Bf16,
        (64, 64, 64),
        Order::ColumnMajor,
        Order::RowMajor,
    ));
    for problem in [unscaled, turned] {
        assert_eq!(name(&problem, H200, AUTO), None);
        let reason = obstacle(&problem, H200, AUTO);
        assert!(
            reason.starts_with("rows are counted on the device for"),
            "{reason}"
        );
    }
    let both = Problem {
        is_scaled: true,
        ..unscaled
    };
    assert_eq!(name(&both, H200, AUTO), Some("matmul_scaled_small_e4m3"));
}
