//! Tensor cores, on devices that have them.

use super::*;
#[cfg(feature = "cuda")]
use crate::error::CudaVersion;
use crate::matmul::plan::cost::aligned_copies_pay;

#[test]
fn tensor_cores_are_selected_where_they_are() {
    let auto = |element, n, device| fastest(element, n, device, Arithmetic::Auto);
    let older = DeviceFacts {
        compute_capability: Some((8, 9)),
        ..H200
    };
    let newer = DeviceFacts {
        compute_capability: Some((10, 0)),
        ..H200
    };
    let wide_warps = DeviceFacts {
        compute_capability: None,
        warp_threads: 64,
        ..H200
    };
    // The transpose of a result with few rows, whose A is the transpose of a row-major B.
    let few_rows = row_major(ElementType::Bf16, (16, 256, 16));
    assert_eq!(
        name(&few_rows, H200, Request::Fastest(Arithmetic::Auto, None)),
        Some("matmul_wgmma_skinny_small_bf16_t")
    );
    assert_eq!(
        auto(ElementType::Bf16, 192, H200),
        Some("matmul_wgmma_deep_bf16_nn")
    );
    assert_eq!(auto(ElementType::F32, 4096, H200), Some("matmul_split_f32"));
    assert_eq!(
        auto(ElementType::F64, 2048, H200),
        Some("matmul_mma_f64_nn")
    );
    assert_eq!(
        fastest(ElementType::F64, 512, H200, Arithmetic::Chain),
        Some("matmul_mma_small_f64_nn")
    );
    let oldest = DeviceFacts {
        compute_capability: Some((7, 5)),
        ..H200
    };
    for device in [A100, older, newer] {
        let halves = [ElementType::F16, ElementType::Bf16];
        assert_eq!(
            halves.map(|it| auto(it, 8, device)),
            [
                Some("matmul_mma_small_f16_nn"),
                Some("matmul_mma_small_bf16_nn")
            ]
        );
        assert_eq!(
            halves.map(|it| auto(it, 4096, device)),
            [Some("matmul_mma_f16_nn"), Some("matmul_mma_bf16_nn")]
        );
    }
    for device in [oldest, wide_warps] {
        assert_eq!(auto(ElementType::Bf16, 8, device), None);
    }
    for device in [oldest, A100, older, newer, wide_warps] {
        let expected = match device.compute_capability {
            Some((8, 0) | (10, 0)) => "matmul_mma_split_f32",
            _ => "matmul_coarsened_f32_nn",
        };
        assert_eq!(auto(ElementType::F32, 4096, device), Some(expected));
        assert_eq!(
            auto(ElementType::F64, 2048, device),
            Some("matmul_coarsened_f64_nn")
        );
    }
}

/// If K and the long side are long, the skinny tile with the fastest rounds is selected.
#[test]
fn few_rows_have_skinny_tiles() {
    let of_types = |element, output, (m, n, k)| {
        let problem = Problem {
            output,
            ..row_major(element, (m, n, k))
        };
        let request = Request::Fastest(Arithmetic::Auto, None);
        name(&problem, H200, request).unwrap()
    };
    let layer = |m, n, k| {
        let name = of_types(ElementType::Bf16, ElementType::Bf16, (m, n, k));
        name.trim_start_matches("matmul_wgmma_")
    };
    assert_eq!(layer(64, 8192, 512), "skinny_bf16_t");
    assert_eq!(layer(64, 8192, 511), "deep_bf16_nn");
    assert_eq!(layer(64, 511, 512), "deep_bf16_nn");
    assert_eq!(layer(33, 8192, 512), "skinny_bf16_t");
    assert_eq!(layer(32, 8192, 512), "skinny_medium_bf16_t");
    assert_eq!(layer(16, 8192, 512), "skinny_small_bf16_t");
    // Two tiles of 32 along the short side are faster, until many pairs read and one tile of 64 is.
    assert_eq!(layer(64, 1024, 2048), "skinny_medium_bf16_t");
    assert_eq!(layer(64, 2048, 2048), "skinny_medium_bf16_t");
    assert_eq!(layer(64, 4096, 4096), "skinny_bf16_t");
    assert_eq!(layer(32, 4224, 512), "skinny_medium_bf16_t");
    // A long last round of tiles of 64 rows takes longer than one of 128, and a short one less.
    assert_eq!(layer(64, 8448, 7168), "skinny_bf16_t");
    assert_eq!(layer(64, 16_384, 7168), "skinny_tall_bf16_t");
    assert_eq!(layer(64, 24_576, 1536), "skinny_bf16_t");
    assert_eq!(layer(64, 129_280, 7168), "skinny_tall_bf16_t");
    // Square tiles read least, and take longest to write.
    assert_eq!(layer(128, 4224, 512), "skinny_bf16_t");
    assert_eq!(layer(128, 16_896, 512), "skinny_square_bf16_t");
    assert_eq!(layer(128, 129_280, 7168), "skinny_square_bf16_t");
    let bytes = of_types(ElementType::F8E4M3, ElementType::Bf16, (128, 24_576, 1536));
    assert!(!bytes.contains("skinny"), "{bytes}");
    let taller = layer(129, 16_896, 512);
    assert!(!taller.contains("skinny"), "{taller}");
    // Rounds are those of the device.
    let device = DeviceFacts {
        multiprocessors: 8,
        ..H200
    };
    let problem = row_major(ElementType::Bf16, (64, 1024, 2048));
    let tall = name(&problem, device, Request::Fastest(Arithmetic::Auto, None));
    assert_eq!(tall, Some("matmul_wgmma_skinny_tall_bf16_t"));
}

#[test]
fn products_are_split_from_a_size_on_and_where_it_keeps_the_bound() {
    let auto = |n, batch| {
        let problem = row_major(ElementType::F32, (n, n, n));
        let problem = Problem { batch, ..problem };
        name(&problem, H200, Request::Fastest(Arithmetic::Auto, None))
    };
    assert_eq!(
        auto(519, 1),
        Some("matmul_coarsened_medium_f32_nn_unaligned")
    );
    assert_eq!(auto(520, 1), Some("matmul_split_small_f32"));
    // A batch has as many clusters as all of its products.
    assert_eq!(auto(255, 64), Some("matmul_coarsened_f32_nn_unaligned"));
    assert_eq!(auto(256, 64), Some("matmul_split_f32"));
    assert_eq!(auto(384, 2), Some("matmul_split_small_f32"));
    let chain = fastest(ElementType::F32, 4096, H200, Arithmetic::Chain);
    assert_eq!(chain, Some("matmul_coarsened_f32_nn"));
    let split = |n, k| {
        let problem = row_major(ElementType::F32, (n, n, k));
        name(&problem, H200, Request::Fastest(Arithmetic::Split, None))
    };
    assert_eq!(split(4096, 62), None);
    assert_eq!(split(4096, 63), Some("matmul_split_f32"));
    // Large tiles make 32 clusters, small ones 64, and the device has room for 66: one round.
    assert_eq!(split(1024, 1024), Some("matmul_split_small_f32"));
    assert_eq!(
        fastest(ElementType::F64, 256, H200, Arithmetic::Split),
        None
    );
    assert_eq!(
        fastest(ElementType::F16, 256, H200, Arithmetic::Chain),
        None
    );
}

/// Without warpgroups, warps split products on request, and by default only on devices whose tensor cores gain by
/// it.
#[test]
fn products_are_split_by_warps_elsewhere() {
    let selected = |n, capability, arithmetic| {
        let device = DeviceFacts {
            compute_capability: Some(capability),
            ..A100
        };
        let problem = row_major(ElementType::F32, (n, n, n));
        name(&problem, device, Request::Fastest(arithmetic, None))
    };
    for capability in [(8, 0), (10, 0)] {
        let auto = |n| selected(n, capability, Arithmetic::Auto);
        assert_eq!(auto(4096), Some("matmul_mma_split_f32"));
        assert_eq!(auto(1024), Some("matmul_mma_split_small_f32"));
        assert_eq!(auto(512), Some("matmul_coarsened_medium_f32_nn"));
    }
    for capability in [(8, 6), (8, 9), (12, 0)] {
        let auto = selected(4096, capability, Arithmetic::Auto);
        assert_eq!(auto, Some("matmul_coarsened_f32_nn"));
        let split = selected(4096, capability, Arithmetic::Split);
        assert_eq!(split, Some("matmul_mma_split_f32"));
    }
    assert_eq!(selected(4096, (7, 5), Arithmetic::Split), None);
}

/// A newer device can run the kernels of an older one, and an older one runs its own.
#[test]
fn kernels_of_an_older_device_are_selected_by_request() {
    let selected = |element, capability, device| {
        // Larger products of f64 are of residues.
        let size = if element == ElementType::F64 {
            2048
        } else {
            4096
        };
        let problem = row_major(element, (size, size, size));
        let request = Request::FastestAt(capability, Arithmetic::Auto, None);
        name(&problem, device, request)
    };
    let mma = Some("matmul_mma_f16_nn");
    let simulated = DeviceFacts {
        compute_capability: None,
        ..H200
    };
    for device in [H200, A100, simulated] {
        assert_eq!(selected(ElementType::F16, (8, 0), device), mma);
    }
    let wgmma = Some("matmul_wgmma_f16_nn");
    for capability in [(9, 0), (12, 1), (u32::MAX, u32::MAX)] {
        assert_eq!(selected(ElementType::F16, capability, H200), wgmma);
        assert_eq!(selected(ElementType::F16, capability, simulated), wgmma);
        assert_eq!(selected(ElementType::F16, capability, A100), mma);
    }
    // Kernels for 9.0 run on no other device.
    let newer = DeviceFacts {
        compute_capability: Some((10, 0)),
        ..H200
    };
    assert_eq!(selected(ElementType::F16, (9, 0), newer), mma);
    let f64 = selected(ElementType::F64, (8, 9), H200);
    assert_eq!(f64, Some("matmul_coarsened_f64_nn"));
}

/// Tensor maps cannot count that many columns or products.
#[test]
fn what_tensor_maps_cannot_describe_is_multiplied_without() {
    let selected = |element| {
        let problem = row_major(element, (64, 1 << 31, 64));
        name(&problem, H200, Request::Fastest(Arithmetic::Auto, None))
    };
    assert_eq!(selected(ElementType::F16), Some("matmul_mma_small_f16_nn"));
    assert_eq!(selected(ElementType::F64), Some("matmul_coarsened_f64_nn"));
    let many = Problem {
        batch: 1 << 31,
        ..row_major(ElementType::F16, (64, 64, 64))
    };
    let of_many = name(&many, H200, Request::Fastest(Arithmetic::Auto, None)).unwrap();
    assert!(!of_many.starts_with("matmul_wgmma"), "{of_many}");
}

/// The kernel for f64 reads unaligned rows; copies pay only for products that read an operand often.
#[test]
fn unaligned_operands_of_f64_are_copied_where_it_pays() {
    let pays = |shape| aligned_copies_pay(&row_major(ElementType::F64, shape));
    assert!(pays((1001, 1003, 1005)));
    assert!(!pays((1001, 1004, 1006)), "rows of A and B are aligned");
    assert!(!pays((301, 1003, 1005)));
}

#[test]
fn small_halves_have_a_block_for_each_tile() {
    let selected = |shape, batch| {
        let problem = Problem {
            batch,
            ..row_major(ElementType::Bf16, shape)
        };
        name(&problem, H200, Request::Fastest(Arithmetic::Auto, None))
    };
    for (shape, batch) in [
        ((32, 32, 32), 1000),
        ((64, 64, 64), 1000),
        ((64, 64, 4096), 132),
        ((192, 64, 64), 1000),
        ((64, 64, 64), 1),
        ((64, 16, 128), 1),
    ] {
        let single = Some("matmul_wgmma_single_bf16_nn");
        assert_eq!(selected(shape, batch), single, "{batch} of {shape:?}");
    }
    // Unaligned rows.
    assert_eq!(
        selected((31, 31, 31), 1000),
        Some("matmul_mma_small_bf16_nn")
    );
    for (shape, batch) in [
        ((96, 96, 96), 1000),
        ((64, 128, 256), 1000),
        ((128, 128, 128), 1000),
    ] {
        let clusters = Some("matmul_wgmma_small_bf16_nn");
        assert_eq!(selected(shape, batch), clusters, "{batch} of {shape:?}");
    }
    // Few stages are in flight.
    assert_eq!(
        selected((64, 64, 1024), 1),
        Some("matmul_wgmma_deep_bf16_nn")
    );
}

/// Drivers read PTX for 9.0 from CUDA 12.0 on.
#[cfg(feature = "cuda")]
#[test]
fn kernels_that_the_driver_does_not_read_are_not_selected() {
    let new_driver = DeviceFacts {
        driver: Some(CudaVersion {
            major: 12,
            minor: 0,
        }),
        ..H200
    };
    let auto = |element, device| {
        let size = if element == ElementType::F64 {
            2048
        } else {
            4096
        };
        fastest(element, size, device, Arithmetic::Auto)
    };
    for (element, old, new) in [
        (ElementType::F16, "matmul_mma_f16_nn", "matmul_wgmma_f16_nn"),
        (ElementType::F32, "matmul_mma_split_f32", "matmul_split_f32"),
        (
            ElementType::F64,
            "matmul_coarsened_f64_nn",
            "matmul_mma_f64_nn",
        ),
    ] {
        assert_eq!(auto(element, OLD_DRIVER), Some(old));
        assert_eq!(auto(element, new_driver), Some(new));
        assert_eq!(auto(element, H200), Some(new));
    }
    let (vector, tiled) = (
        row_major(ElementType::F16, (4096, 1, 4096)),
        row_major(ElementType::F64, (64, 64, 64)),
    );
    let any = Request::Fastest(Arithmetic::Auto, None);
    assert_eq!(name(&vector, OLD_DRIVER, any), Some("matvec_along_f16"));
    assert_eq!(
        name(&tiled, OLD_DRIVER, Request::Tiled),
        Some("matmul_tiled_f64_nn")
    );
    let float8 = fastest(ElementType::F8E4M3, 4096, OLD_DRIVER, Arithmetic::Auto);
    assert_eq!(float8, None);
    assert_eq!(
        fastest(ElementType::F32, 4096, new_driver, Arithmetic::Split),
        Some("matmul_split_f32")
    );
}
