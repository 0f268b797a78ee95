mod decisions;
mod division;
mod exact;
mod group;
mod invariant;
mod model;
mod scaled;
mod tensor_cores;
mod tiles;
mod vectors;

use super::*;
use crate::matmul::kernels::KERNELS;
use crate::matmul::types::ElementType;

const H200: DeviceFacts = DeviceFacts {
    multiprocessors: 132,
    compute_capability: Some((9, 0)),
    limit: None,
    driver: None,
    warp_threads: 32,
};

const A100: DeviceFacts = DeviceFacts {
    multiprocessors: 108,
    compute_capability: Some((8, 0)),
    limit: None,
    driver: None,
    warp_threads: 32,
};

#[cfg(feature = "cuda")]
const OLD_DRIVER: DeviceFacts = DeviceFacts {
    driver: Some(crate::error::CudaVersion {
        major: 11,
        minor: 8,
    }),
    ..H200
};

const ORDERS: [Order; 2] = [Order::RowMajor, Order::ColumnMajor];

fn problem(element: ElementType, (m, n, k): (usize, usize, usize), a: Order, b: Order) -> Problem {
    Problem::packed((element, element), (m, n, k), [a, b], 256)
}

fn row_major(element: ElementType, shape: (usize, usize, usize)) -> Problem {
    problem(element, shape, Order::RowMajor, Order::RowMajor)
}

fn name(problem: &Problem, device: DeviceFacts, request: Request) -> Option<&'static str> {
    Plan::of(problem, device, request).map(|selection| selection.kernel.name)
}

fn parts_of(plan: &Plan) -> Option<Parts> {
    plan.division.as_ref().map(|it| it.parts)
}

#[test]
fn every_packed_product_has_a_kernel_of_each_method_and_size() {
    let requests = [
        Request::Tiled,
        Request::Coarsened(None),
        Request::Coarsened(Some(TileSize::Small)),
        Request::Coarsened(Some(TileSize::Medium)),
        Request::Coarsened(Some(TileSize::Large)),
    ];
    for element in [ElementType::F32, ElementType::F64] {
        for (a, b) in ORDERS.into_iter().flat_map(|a| ORDERS.map(|b| (a, b))) {
            for shape in [(1, 1, 1), (64, 64, 0), (128, 129, 31), (4096, 4096, 4096)] {
                let problem = problem(element, shape, a, b);
                for request in requests {
                    let selection = Plan::of(&problem, H200, request).expect("a kernel");
                    assert!(computes(selection.kernel, &problem, H200));
                }
            }
        }
    }
}

#[test]
fn every_kernel_of_the_table_is_selected_for_some_problem() {
    let requests = [
        Request::Tiled,
        Request::Coarsened(Some(TileSize::Small)),
        Request::Coarsened(Some(TileSize::Large)),
        Request::Fastest(Arithmetic::Auto, None),
        Request::Fastest(Arithmetic::Auto, Some(TileSize::Small)),
        Request::Fastest(Arithmetic::Auto, Some(TileSize::Medium)),
        Request::Fastest(Arithmetic::Auto, Some(TileSize::Large)),
        Request::Fastest(Arithmetic::Chain, Some(TileSize::Small)),
        Request::Fastest(Arithmetic::Chain, Some(TileSize::Large)),
        Request::Fastest(Arithmetic::Split, Some(TileSize::Small)),
        Request::Fastest(Arithmetic::Split, Some(TileSize::Large)),
        Request::Fastest(Arithmetic::Exact, None),
        Request::Grouped(TileSize::Small),
        Request::Grouped(TileSize::Large),
    ];
    let mut selected = Vec::new();
    for element in ELEMENTS {
        for (a, b) in ORDERS.into_iter().flat_map(|a| ORDERS.map(|b| (a, b))) {
            let shapes = [
                (64, 64, 64),
                (64, 65, 64),
                (256, 16, 64),
                (256, 256, 64),
                (1536, 1536, 64),
                (4900, 4900, 4900),
                (8192, 32, 512),
                (8192, 64, 512),
                (16_384, 64, 512),
                (16_384, 128, 512),
                (64, 1, 64),
                (65, 1, 300),
            ];
            for (shape, output) in shapes
                .into_iter()
                .flat_map(|shape| ELEMENTS.map(|it| (shape, it)))
            {
                let mut problem = problem(element, shape, a, b);
                problem.output = output;
                let rows = [(false, false), (true, false), (false, true)];
                for (device, (is_scaled, is_counted)) in [H200, A100]
                    .into_iter()
                    .flat_map(|device| rows.map(|rows| (device, rows)))
                {
                    let problem = Problem {
                        is_scaled,
                        is_counted,
                        ..problem
                    };
                    let plans = requests.map(|it| Plan::of(&problem, device, it));
                    for plan in plans.into_iter().flatten() {
                        selected.push(plan.kernel.name);
                        if let Steps::Split(split) = &plan.steps {
                            selected.push(split.fallback.name);
                        }
                    }
                }
            }
        }
    }
    for kernel in KERNELS {
        assert!(selected.contains(&kernel.name), "{}", kernel.name);
    }
}

const ELEMENTS: [ElementType; 8] = [
    ElementType::F16,
    ElementType::Bf16,
    ElementType::F32,
    ElementType::F64,
    ElementType::I8,
    ElementType::I32,
    ElementType::F8E4M3,
    ElementType::F8E5M2,
];

/// The kernel that `matmul` selects for square matrices.
fn fastest(
    element: ElementType,
    n: usize,
    device: DeviceFacts,
    arithmetic: Arithmetic,
) -> Option<&'static str> {
    let problem = row_major(element, (n, n, n));
    name(&problem, device, Request::Fastest(arithmetic, None))
}

#[test]
fn integers_are_multiplied_on_every_device() {
    let kernel = |capability, n, b: MatrixLayout, arithmetic| {
        let device = DeviceFacts {
            compute_capability: capability,
            ..H200
        };
        let mut problem = row_major(ElementType::I8, (n, n, n));
        (problem.output, problem.b) = (ElementType::I32, b);
        name(&problem, device, Request::Fastest(arithmetic, None))
    };
    // Unaligned rows.
    let anywhere = MatrixLayout::packed(Order::RowMajor, (8, 8), 1);
    let aligned = MatrixLayout::packed(Order::ColumnMajor, (4096, 4096), 256);
    for b in [anywhere, aligned] {
        let auto = |capability, n| kernel(Some(capability), n, b, Arithmetic::Auto);
        assert_eq!(auto((9, 0), 8), Some("matmul_wgmma_skinny_small_i8"));
        assert_eq!(auto((9, 0), 17), Some("matmul_wgmma_deep_i8"));
        assert_eq!(auto((9, 0), 4096), Some("matmul_wgmma_i8"));
        for other in [(8, 0), (8, 9), (10, 0)] {
            assert_eq!(auto(other, 8), Some("matmul_mma_small_i8"));
            assert_eq!(auto(other, 4096), Some("matmul_mma_i8"));
        }
        assert_eq!(auto((7, 5), 8), Some("matmul_coarsened_small_i8"));
        assert_eq!(auto((7, 5), 4096), Some("matmul_coarsened_i8"));
        let chain = kernel(Some((9, 0)), 4096, b, Arithmetic::Chain);
        assert_eq!(chain, Some("matmul_coarsened_i8"));
        let split = kernel(Some((9, 0)), 4096, b, Arithmetic::Split);
        assert_eq!(split, None);
    }
}

#[test]
fn a_product_with_a_vector_has_a_kernel_of_its_own_on_every_device() {
    let old = DeviceFacts {
        compute_capability: Some((7, 5)),
        ..H200
    };
    let auto = |element, (m, n), a, b, device| {
        let problem = problem(element, (m, n, 4096), a, b);
        name(&problem, device, Request::Fastest(Arithmetic::Auto, None))
    };
    let [rows, columns] = ORDERS;
    for device in [H200, old] {
        let bf16 = |shape, a, b| auto(ElementType::Bf16, shape, a, b, device);
        assert_eq!(bf16((4096, 1), rows, rows), Some("matvec_along_bf16"));
        assert_eq!(bf16((4096, 1), columns, rows), Some("matvec_across_bf16"));
        assert_eq!(bf16((1, 4096), rows, rows), Some("matvec_across_bf16"));
        assert_eq!(bf16((1, 4096), rows, columns), Some("matvec_along_bf16"));
        // A single row is contiguous in either order.
        for (a, b) in ORDERS.into_iter().flat_map(|a| ORDERS.map(|b| (a, b))) {
            let dot = auto(ElementType::F64, (1, 1), a, b, device);
            assert_eq!(dot, Some("matvec_along_f64"));
        }
    }
    // 8-bit elements lie in either order.
    for (a, b) in ORDERS.into_iter().flat_map(|a| ORDERS.map(|b| (a, b))) {
        for (element, output, kernel) in [
            (ElementType::I8, ElementType::I32, "matvec_i8"),
            (ElementType::I8, ElementType::Bf16, "matvec_i8_bf16"),
            (ElementType::F8E4M3, ElementType::Bf16, "matvec_e4m3"),
            (ElementType::F8E5M2, ElementType::F32, "matvec_e5m2_f32"),
        ] {
            for shape in [(1, 4096, 8192), (4096, 1, 8192)] {
                let mut problem = problem(element, shape, a, b);
                problem.output = output;
                let auto = Request::Fastest(Arithmetic::Auto, None);
                let on = |device| name(&problem, device, auto);
                assert_eq!(on(A100), Some(kernel));
                let is_float8 = matches!(element, ElementType::F8E4M3 | ElementType::F8E5M2);
                assert_eq!(on(H200) == Some(kernel), !is_float8, "{kernel}");
                let ordinary = "matmul_coarsened_small_i8";
                let on_old = (output == ElementType::I32).then_some(ordinary);
                assert_eq!(on(old), on_old);
            }
        }
    }
    let chain = Request::Fastest(Arithmetic::Chain, None);
    let problem = row_major(ElementType::F64, (4096, 1, 4096));
    assert_eq!(name(&problem, H200, chain), Some("matmul_mma_small_f64_nn"));
}

#[test]
fn the_name_of_the_kernel_says_its_operands_layouts() {
    let cases = [
        (Order::RowMajor, Order::RowMajor, "matmul_tiled_f64_nn"),
        (Order::ColumnMajor, Order::RowMajor, "matmul_tiled_f64_tn"),
        (Order::RowMajor, Order::ColumnMajor, "matmul_tiled_f64_nt"),
        (
            Order::ColumnMajor,
            Order::ColumnMajor,
            "matmul_tiled_f64_tt",
        ),
    ];
    for (a, b, expected) in cases {
        let problem = problem(ElementType::F64, (5, 6, 7), a, b);
        assert_eq!(name(&problem, H200, Request::Tiled), Some(expected));
    }
}

#[test]
fn copies_are_as_wide_as_the_rows_of_b_allow() {
    let large = Request::Coarsened(Some(TileSize::Large));
    for (columns, expected) in [
        (128, "matmul_coarsened_f32_nn"),
        (132, "matmul_coarsened_f32_nn"),
        (130, "matmul_coarsened_f32_nn_unaligned"),
        (129, "matmul_coarsened_f32_nn_unaligned"),
    ] {
        let mut problem = row_major(ElementType::F32, (128, columns, 128));
        assert_eq!(name(&problem, H200, large), Some(expected));
        problem.b.leading_dimension = 256;
        assert_eq!(name(&problem, H200, large), Some("matmul_coarsened_f32_nn"));
        problem.b.alignment = 4;
        let unaligned = Some("matmul_coarsened_f32_nn_unaligned");
        assert_eq!(name(&problem, H200, large), unaligned);
    }
}

#[test]
fn a_problem_that_no_kernel_computes_has_none() {
    let usual = row_major(ElementType::F32, (64, 64, 64));
    let mut column_major_result = usual;
    column_major_result.c.order = Order::ColumnMajor;
    let mut batch = usual;
    batch.batch = 2;
    let mut other_output = usual;
    other_output.output = ElementType::F64;
    for problem in [column_major_result, other_output] {
        assert_eq!(name(&problem, H200, Request::Coarsened(None)), None);
    }
    let mut finished = usual;
    finished.is_plain = false;
    for problem in [batch, finished] {
        assert_eq!(name(&problem, H200, Request::Tiled), None);
        assert!(name(&problem, H200, Request::Coarsened(None)).is_some());
    }
    let old = DeviceFacts {
        compute_capability: Some((7, 0)),
        ..H200
    };
    assert_eq!(name(&usual, old, Request::Tiled), None);
    assert!(name(&usual, H200, Request::Tiled).is_some());
}

#[test]
fn a_reason_is_one_line_for_a_person() {
    let reason = SelectionReason::TooFewBlocks {
        blocks: 16,
        needed: 198,
    };
    assert_eq!(
        reason.to_string(),
        "small tiles, because large ones would be 16 blocks, and it takes 198 to fill the device"
    );
    let one = SelectionReason::TooFewBlocks {
        blocks: 1,
        needed: 198,
    };
    assert_eq!(
        one.to_string(),
        "small tiles, because large ones would be 1 block, and it takes 198 to fill the device"
    );
    let rounds = |small, medium, large| SelectionReason::Rounds {
        small,
        medium,
        large,
    };
    assert_eq!(
        rounds(1, None, 1).to_string(),
        "the tile size with the shortest estimated time (1 round of small tiles, 1 of large)"
    );
    assert_eq!(
        rounds(9, Some(5), 3).to_string(),
        "the tile size with the shortest estimated time (9 rounds of small tiles, 5 of medium, 3 of large)"
    );
}

#[test]
fn a_product_with_the_transpose_is_computed_as_any_other() {
    for element in [ElementType::F32, ElementType::F64, ElementType::Bf16] {
        for (n, k) in [(1, 64), (64, 1 << 16), (1024, 1024), (2560, 4096)] {
            let full = problem(element, (n, n, k), Order::ColumnMajor, Order::RowMajor);
            let gram = Problem {
                is_gram: true,
                ..full
            };
            let request = Request::Fastest(Arithmetic::Auto, None);
            let [full, gram] =
                [full, gram].map(|it| Plan::of(&it, H200, request).expect("a kernel"));
            let kind = |plan: &Plan| std::mem::discriminant(&plan.kernel.method);
            assert_eq!(
                (kind(&full), parts_of(&full)),
                (kind(&gram), parts_of(&gram)),
                "{element:?} {n} {k}"
            );
        }
    }
}
