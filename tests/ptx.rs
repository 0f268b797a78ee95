//! Facts of the checked-in PTX that the kernels' speed rests on. A change of the device library,
//! the builder or the kernels that loses one of them shows here, without a GPU.

#[path = "common/mod.rs"]
#[macro_use]
mod common;

use common::ptx::{Instructions, assert_signatures, entries, signature_in, text_of};
use cuda_std::kernel::Kernel;
use std::fs;
use std::path::Path;
use tilewright_kernels::{matmul, reduce};

/// The module of a kernel that devices of an architecture load: one for it, or else the older one of the same code.
fn module(arch: &str, kernel: &str) -> String {
    let file = |arch| format!("ptx/{kernel}.{arch}.ptx");
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    match root.join(file(arch)).exists() {
        true => text_of(&file(arch)),
        false => text_of(&file("sm_75")),
    }
}

fn instructions(arch: &str, kernel: &str) -> Instructions {
    Instructions::of(&module(arch, kernel), kernel)
}

/// The names of the checked-in modules for an architecture.
fn modules(arch: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ptx");
    let files = fs::read_dir(folder).expect("the folder of the modules");
    let names = files.map(|file| file.expect("a file").file_name());
    let names = names.filter_map(|name| name.into_string().ok());
    let suffix = format!(".{arch}.ptx");
    names
        .filter_map(|name| name.strip_suffix(&suffix).map(str::to_owned))
        .collect()
}

#[test]
fn each_kernel_has_a_module_with_its_signature() {
    for arch in ["sm_75", "sm_80"] {
        let modules = modules(arch);
        assert!(modules.len() > 30, "{arch}: {} modules", modules.len());
        for kernel in modules {
            let text = module(arch, &kernel);
            assert_eq!(entries(&text), [kernel.as_str()]);
            assert_signatures(&text, "tilewright_kernels::");
        }
    }
}

#[test]
fn signatures_are_those_that_the_host_compares() {
    fn check<K: Kernel>(_: K) {
        let expected = K::SIGNATURE.expect("`#[kernel]` writes one").to_string();
        for arch in ["sm_75", "sm_80"] {
            let text = module(arch, K::NAME);
            assert_eq!(signature_in(&text, K::NAME), expected);
        }
    }
    check(reduce::reduce_sum_f32);
    check(reduce::reduce_sum_bf16);
    check(matmul::matmul_tiled_f64_nn);
    check(matmul::matmul_coarsened_f32_nn_unaligned);
}

/// The load of a sum in the loop of an epilogue.
const OF_EPILOGUE: usize = 1;

/// Fused multiply-adds of the activations of an epilogue, which stand there once: in f32 and in f64.
const OF_ACTIVATIONS: [usize; 2] = [89, 132];

#[test]
fn fragments_of_the_coarsened_products_are_read_as_vectors() {
    for arch in ["sm_75", "sm_80"] {
        for kernel in [
            "matmul_coarsened_f32_nn",
            "matmul_coarsened_f32_nn_unaligned",
            "matmul_coarsened_f32_tn",
            "matmul_coarsened_f32_nt",
            "matmul_coarsened_f32_tt",
        ] {
            let code = instructions(arch, kernel);
            // 16 k, each with 2 vectors of A and 2 of B.
            assert_eq!(code.count("ld.shared.v4"), 64, "{arch} {kernel}");
            assert_eq!(code.count("ld.shared"), 64 + OF_EPILOGUE, "{arch} {kernel}");
            // 16 k, each with 8 x 8 products: the loop over a tile is unrolled completely.
            let products = code.count("fma.rn.f32");
            assert_eq!(products, 1024 + OF_ACTIVATIONS[0], "{arch} {kernel}");
        }
        let code = instructions(arch, "matmul_coarsened_f64_nn");
        // 8 k, each with 4 vectors of A and 2 of B, and 8 x 4 products.
        assert_eq!(code.count("ld.shared.v2"), 48, "{arch}");
        assert_eq!(code.count("ld.shared"), 48 + OF_EPILOGUE, "{arch}");
        let products = code.count("fma.rn.f64");
        assert_eq!(products, 256 + OF_ACTIVATIONS[1], "{arch}");
    }
}

#[test]
fn copies_are_asynchronous_where_the_gpu_can() {
    for kernel in ["matmul_coarsened_f32_nn", "matmul_coarsened_f64_nn"] {
        let code = instructions("sm_80", kernel);
        assert!(
            code.count("cp.async.cg.shared.global") > 0,
            "{kernel}: 16 bytes of B"
        );
        assert!(
            code.count("cp.async.ca.shared.global") > 0,
            "{kernel}: elements of A"
        );
        // C and the four vectors of an epilogue.
        assert_eq!(code.count("ld.global"), 5, "{kernel}: past the registers");
        let code = instructions("sm_75", kernel);
        assert_eq!(
            code.count("cp.async"),
            0,
            "{kernel}: sm_75 has no such copy"
        );
    }
}

#[test]
fn sums_read_vectors_whose_lines_are_evicted_first() {
    for (kernel, vector) in [
        ("reduce_sum_f32", "ld.global.cs.v4"),
        ("reduce_sum_f64", "ld.global.cs.v2"),
        ("reduce_sum_f16", "ld.global.cs.v4"),
        ("reduce_sum_bf16", "ld.global.cs.v4"),
        ("reduce_sum_i32", "ld.global.cs.v4"),
        ("reduce_sum_u64", "ld.global.cs.v2"),
    ] {
        for arch in ["sm_75", "sm_80"] {
            // The loads in flight of one round.
            assert_eq!(
                instructions(arch, kernel).count(vector),
                4,
                "{arch} {kernel}"
            );
        }
    }
}

#[test]
fn no_floating_point_atomic_touches_a_sum() {
    for kernel in [
        "reduce_sum_f32",
        "reduce_sum_f64",
        "reduce_sum_f16",
        "reduce_sum_bf16",
    ] {
        let code = instructions("sm_80", kernel);
        // The ticket.
        assert_eq!(code.count("atom.global.add.u32"), 1, "{kernel}");
        assert_eq!(code.count("atom") + code.count("red."), 1, "{kernel}");
    }
}

#[test]
fn every_access_names_its_state_space() {
    for arch in ["sm_75", "sm_80"] {
        for kernel in [
            "reduce_sum_f32",
            "matmul_tiled_f32_nn",
            "matmul_coarsened_f32_nn",
        ] {
            let code = instructions(arch, kernel);
            let spaces = ["global", "shared", "param", "relaxed.gpu.global"];
            for access in ["ld", "st"] {
                let named: usize = spaces
                    .iter()
                    .map(|space| code.count(&format!("{access}.{space}")))
                    .sum();
                assert_eq!(
                    code.count(&format!("{access}.")),
                    named,
                    "{arch} {kernel} {access}"
                );
            }
        }
    }
}
