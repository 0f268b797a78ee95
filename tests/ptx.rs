//! Facts of the checked-in PTX that the kernels' speed rests on. A change of the device library,
//! the builder or the kernels that loses one of them shows here, without a GPU.

#[path = "common/mod.rs"]
#[macro_use]
mod common;

use common::ptx::{Instructions, assert_signatures, entries, signature_in};
use cuda_std::kernel::Kernel;
use std::fs;
use std::path::Path;
use tilewright_kernels::{matmul, reduce};
use tilewright_ptxas::{FOLDERS, Module, modules, modules_for};

/// The module of a kernel that devices of an architecture load: one for it, or else the older one of the same code.
fn module(arch: &str, kernel: &str) -> String {
    let modules = modules_for(root(), arch).expect("the checked-in modules");
    let of_kernel = (modules.iter()).find(|it| it.folder == FOLDER && name(it) == kernel);
    let module = of_kernel.unwrap_or_else(|| panic!("{kernel} has no module for {arch}"));
    fs::read_to_string(&module.path).expect("an unpacked module")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of the library's modules.
const FOLDER: &str = FOLDERS[0];

/// The name of a module: that of its kernel.
fn name(module: &Module) -> &str {
    let file = module.path.file_name().and_then(|it| it.to_str());
    let name = file.and_then(|it| it.split_once('.'));
    name.expect("a name and an architecture").0
}

fn instructions(arch: &str, kernel: &str) -> Instructions {
    Instructions::of(&module(arch, kernel), kernel)
}

/// The names of the checked-in modules for an architecture.
fn modules_of(arch: &str) -> Vec<String> {
    let modules = modules(root(), arch).expect("the checked-in modules");
    let of_library = modules.iter().filter(|it| it.folder == FOLDER);
    of_library.map(|it| name(it).to_owned()).collect()
}

#[test]
fn each_kernel_has_a_module_with_its_signature() {
    for arch in ["sm_75", "sm_80"] {
        let modules = modules_of(arch);
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
