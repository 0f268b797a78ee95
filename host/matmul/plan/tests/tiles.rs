//! Small tiles or large ones.

use super::*;

/// The tiles with the fastest rounds are selected.
#[test]
fn the_tiles_of_halves_follow_the_rounds() {
    let selected = |n| {
        let problem = row_major(ElementType::Bf16, (n, n, n));
        let selection = Plan::of(&problem, H200, Request::Fastest(Arithmetic::Auto, None)).unwrap();
        (selection.kernel.name, selection.reason)
    };
    let [deep, turned, medium, large] = [
        "matmul_wgmma_deep_bf16_nn",
        "matmul_wgmma_turned_bf16_t",
        "matmul_wgmma_medium_bf16_nn",
        "matmul_wgmma_bf16_nn",
    ];
    let rounds = |small, medium, large| SelectionReason::Rounds {
        small,
        medium: Some(medium),
        large,
    };
    assert_eq!(selected(1024), (deep, rounds(1, 1, 1)));
    assert_eq!(
        selected(1280),
        (turned, SelectionReason::Turned { rounds: 1 })
    );
    assert_eq!(
        selected(1536),
        (turned, SelectionReason::Turned { rounds: 1 })
    );
    assert_eq!(selected(1537), (medium, rounds(3, 1, 1)));
    assert_eq!(selected(1792), (large, rounds(3, 2, 1)));
    assert_eq!(selected(2048), (large, rounds(4, 2, 1)));
    assert_eq!(selected(3072), (medium, rounds(9, 3, 3)));
    assert_eq!(selected(4096), (large, rounds(16, 6, 4)));
}

#[test]
fn the_tiles_of_8_bit_floats_follow_the_rounds() {
    let selected = |n| {
        let mut problem = row_major(ElementType::F8E4M3, (n, n, n));
        problem.output = ElementType::Bf16;
        name(&problem, H200, Request::Fastest(Arithmetic::Auto, None))
    };
    assert_eq!(selected(1024), Some("matmul_wgmma_deep_e4m3"));
    assert_eq!(selected(1536), Some("matmul_wgmma_e4m3"));
    assert_eq!(selected(2048), Some("matmul_wgmma_medium_e4m3"));
    assert_eq!(selected(4096), Some("matmul_wgmma_e4m3"));
}

#[test]
fn methods_without_medium_tiles_have_large_ones() {
    let selected = |element, arithmetic| {
        let problem = row_major(element, (64, 64, 64));
        let request = Request::Fastest(arithmetic, Some(TileSize::Medium));
        name(&problem, H200, request)
    };
    let chain = selected(ElementType::F32, Arithmetic::Chain);
    assert_eq!(chain, Some("matmul_coarsened_medium_f32_nn"), "it has some");
    let split = selected(ElementType::F32, Arithmetic::Split);
    assert_eq!(split, Some("matmul_split_f32"));
    let f64 = selected(ElementType::F64, Arithmetic::Auto);
    assert_eq!(f64, Some("matmul_mma_medium_f64_nn"), "it has some");
}

#[test]
fn the_tiles_of_f64_follow_the_rounds() {
    let selected = |n| {
        let problem = row_major(ElementType::F64, (n, n, n));
        let request = Request::Fastest(Arithmetic::Chain, None);
        let selection = Plan::of(&problem, H200, request).unwrap();
        (selection.kernel.name, selection.reason)
    };
    let (small, medium, large) = (
        "matmul_mma_small_f64_nn",
        "matmul_mma_medium_f64_nn",
        "matmul_mma_f64_nn",
    );
    let rounds = |small, medium, large| SelectionReason::Rounds {
        small,
        medium: Some(medium),
        large,
    };
    assert_eq!(selected(512), (small, rounds(1, 1, 1)));
    assert_eq!(selected(640), (small, rounds(1, 1, 1)));
    assert_eq!(selected(768), (medium, rounds(2, 2, 1)));
    assert_eq!(selected(1024), (medium, rounds(2, 2, 1)));
    assert_eq!(selected(1280), (large, rounds(4, 4, 1)));
    assert_eq!(selected(1536), (medium, rounds(5, 5, 2)));
    assert_eq!(selected(2048), (large, rounds(8, 8, 2)));
    assert_eq!(selected(4096), (large, rounds(32, 32, 8)));
}

/// Large tiles have no registers for parts of K.
#[test]
fn parts_of_f64_have_small_or_medium_tiles() {
    let selected = |shape, tiles| {
        let problem = row_major(ElementType::F64, shape);
        let request = Request::Fastest(Arithmetic::Auto, tiles);
        let plan = Plan::of(&problem, H200, request).unwrap();
        assert!(plan.division.is_some(), "{shape:?}");
        plan.kernel.name
    };
    let (small, medium) = ("matmul_mma_small_f64_nn", "matmul_mma_medium_f64_nn");
    for tiles in [None, Some(TileSize::Small), Some(TileSize::Large)] {
        assert_eq!(selected((16, 16, 1 << 20), tiles), small);
        assert_eq!(selected((32, 1024, 4096), tiles), small);
        assert_eq!(selected((128, 128, 1 << 20), tiles), medium);
        assert_eq!(selected((512, 512, 1 << 16), tiles), medium);
    }
}

#[test]
fn the_tiles_of_chains_follow_the_rounds() {
    let selected = |n, batch| {
        let problem = Problem {
            batch,
            ..row_major(ElementType::F32, (n, n, n))
        };
        let request = Request::Fastest(Arithmetic::Chain, None);
        let selection = Plan::of(&problem, H200, request).unwrap();
        let SelectionReason::Rounds {
            small,
            medium: Some(medium),
            large,
        } = selection.reason
        else {
            panic!("{:?}", selection.reason);
        };
        (selection.kernel.name, (small, medium, large))
    };
    let (small, medium, large) = (
        "matmul_coarsened_small_f32_nn",
        "matmul_coarsened_medium_f32_nn",
        "matmul_coarsened_f32_nn",
    );
    assert_eq!(selected(512, 1), (small, (1, 1, 1)));
    assert_eq!(selected(768, 1), (small, (3, 2, 1)));
    assert_eq!(selected(1024, 1), (large, (4, 2, 1)));
    assert_eq!(selected(1536, 1), (medium, (9, 5, 3)));
    assert_eq!(selected(4096, 1), (large, (63, 32, 16)));
    assert_eq!(selected(64, 1000), (medium, (16, 8, 8)));
    assert_eq!(selected(128, 1000), (large, (61, 31, 16)));
    assert_eq!(selected(192, 1000), (medium, (137, 69, 46)));
}

/// Large tiles if they fill the device, otherwise small ones.
#[test]
fn the_size_of_the_tiles_follows_the_blocks() {
    let device = DeviceFacts {
        multiprocessors: 4,
        compute_capability: None,
        limit: None,
        driver: None,
        warp_threads: 32,
    };
    let reason = |element, m, n| {
        let problem = row_major(element, (m, n, 64));
        Plan::of(&problem, device, Request::Coarsened(None)).map(|selection| selection.reason)
    };
    // Large tiles of f64 are 128 x 64.
    assert_eq!(
        reason(ElementType::F64, 384, 128),
        Some(SelectionReason::EnoughBlocks {
            blocks: Some(6),
            needed: 6
        })
    );
    assert_eq!(
        reason(ElementType::F64, 0, 128),
        Some(SelectionReason::TooFewBlocks {
            blocks: 0,
            needed: 6
        })
    );
    assert_eq!(
        reason(ElementType::F64, usize::MAX, usize::MAX),
        Some(SelectionReason::EnoughBlocks {
            blocks: None,
            needed: 6
        })
    );
}

#[test]
fn tiles_above_the_diagonal_do_not_count() {
    let request = Request::Fastest(Arithmetic::Chain, None);
    let reason = |is_gram| {
        let problem = Problem {
            is_gram,
            output: ElementType::I32,
            ..problem(
                ElementType::I8,
                (2048, 2048, 64),
                Order::ColumnMajor,
                Order::RowMajor,
            )
        };
        Plan::of(&problem, H200, request).expect("a kernel").reason
    };
    assert_eq!(
        reason(false),
        SelectionReason::EnoughBlocks {
            blocks: Some(256),
            needed: 198
        }
    );
    assert_eq!(
        reason(true),
        SelectionReason::TooFewBlocks {
            blocks: 136,
            needed: 198
        }
    );
}

#[test]
fn large_tiles_of_a_batch_lie_within_its_results() {
    let of = |(m, n), batch| {
        let problem = Problem {
            batch,
            output: ElementType::I32,
            ..row_major(ElementType::I8, (m, n, 64))
        };
        let request = Request::Fastest(Arithmetic::Chain, None);
        Plan::of(&problem, H200, request).expect("a kernel").reason
    };
    for (shape, batch) in [((64, 64), 1000), ((16, 16), 1000), ((64, 129), 200)] {
        let reason = of(shape, batch);
        assert!(
            matches!(reason, SelectionReason::EmptyTiles { .. }),
            "{shape:?} {reason:?}"
        );
    }
    for (shape, batch) in [((128, 128), 1000), ((120, 250), 1000), ((2048, 2048), 1)] {
        let reason = of(shape, batch);
        assert!(
            matches!(reason, SelectionReason::EnoughBlocks { .. }),
            "{shape:?} {reason:?}"
        );
    }
}

#[test]
fn tiles_of_the_transpose_need_an_a_along_k() {
    let selected = |a, b, is_gram| {
        let problem = Problem {
            is_gram,
            ..problem(ElementType::Bf16, (1536, 1536, 1536), a, b)
        };
        let auto = Request::Fastest(Arithmetic::Auto, None);
        name(&problem, H200, auto).expect("a kernel")
    };
    let [rows, columns] = ORDERS;
    let turned = [rows, columns].map(|b| selected(rows, b, false));
    let expected = ["matmul_wgmma_turned_bf16_t", "matmul_wgmma_turned_bf16_n"];
    assert_eq!(turned, expected);
    let others = [rows, columns].map(|b| selected(columns, b, false));
    let expected = ["matmul_wgmma_medium_bf16_tn", "matmul_wgmma_medium_bf16_tt"];
    assert_eq!(others, expected);
    let gram = selected(rows, columns, true);
    assert!(!gram.contains("turned"), "{gram}");
}
