//! Facts of the checked-in PTX that the kernels' speed rests on. A change of the device library,
//! the builder or the kernels that loses one of them shows here, without a GPU.

use cuda_std::kernel::Kernel;
use cuda_std::signature;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use tilewright_kernels::{matmul, reduce};

/// How often each instruction, with its modifiers, stands in one kernel of one module.
struct Instructions(BTreeMap<String, usize>);

impl Instructions {
    fn of(arch: &str, kernel: &str) -> Self {
        Self::of_module(&format!("tilewright_kernels.{arch}.ptx"), kernel)
    }

    /// Those of a kernel of the ladders.
    fn of_ladder(arch: &str, kernel: &str) -> Self {
        let module = format!("ladder/tilewright_ladder_kernels.{arch}.ptx");
        Self::of_module(&module, kernel)
    }

    fn of_module(module: &str, kernel: &str) -> Self {
        let text = text_of(module);
        let (_, entry) = text
            .split_once(&format!(".entry {kernel}("))
            .unwrap_or_else(|| panic!("{module} has no kernel {kernel}"));
        let body = entry.split("\n}").next().unwrap_or_default();
        let mut counts = BTreeMap::new();
        for line in body.lines() {
            let instruction = line.split_whitespace().find(|word| !word.starts_with('@'));
            *counts
                .entry(instruction.unwrap_or_default().to_owned())
                .or_default() += 1;
        }
        Self(counts)
    }

    /// How many instructions start with `prefix`.
    fn count(&self, prefix: &str) -> usize {
        self.0
            .iter()
            .filter(|(instruction, _)| instruction.starts_with(prefix))
            .map(|(_, count)| count)
            .sum()
    }
}

/// A checked-in module, by its path below `ptx/`.
fn text_of(module: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("ptx")
        .join(module);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The signature that a module has beside the entry `kernel`.
fn signature_in(module: &str, kernel: &str) -> String {
    let (_, declaration) = module
        .split_once(&format!(" {}[", signature::symbol(kernel)))
        .unwrap_or_else(|| panic!("{kernel} has no signature"));
    let (_, bytes) = declaration.split_once('{').expect("the array has values");
    let (bytes, _) = bytes.split_once('}').expect("the values end");
    let bytes = bytes.split(", ").map(|byte| byte.parse().expect("a byte"));
    String::from_utf8(bytes.collect()).expect("a signature is text")
}

#[test]
fn every_entry_has_its_signature() {
    for arch in ["sm_75", "sm_80"] {
        for (module, path) in [
            (
                format!("tilewright_kernels.{arch}.ptx"),
                "tilewright_kernels::",
            ),
            (
                format!("ladder/tilewright_ladder_kernels.{arch}.ptx"),
                "tilewright_ladder_kernels::",
            ),
        ] {
            let text = text_of(&module);
            let entries = text.split(".entry ").skip(1);
            let names: Vec<_> = entries
                .filter_map(|entry| entry.split('(').next())
                .collect();
            assert!(names.len() > 30, "{module}: {} entries", names.len());
            for name in names {
                let found = signature_in(&text, name);
                assert!(found.starts_with(path), "{found}");
                assert!(found.contains(&format!("::{name}(")), "{found}");
            }
        }
    }
}

#[test]
fn signatures_are_those_that_the_host_compares() {
    fn check<K: Kernel>(_: K) {
        let expected = K::SIGNATURE.expect("`#[kernel]` writes one").to_string();
        for arch in ["sm_75", "sm_80"] {
            let text = text_of(&format!("tilewright_kernels.{arch}.ptx"));
            assert_eq!(signature_in(&text, K::NAME), expected);
        }
    }
    check(reduce::reduce_sum_f32);
    check(reduce::reduce_sum_bf16);
    check(matmul::matmul_tiled_f64);
    check(matmul::matmul_coarsened_f32_unaligned);
}

#[test]
fn fragments_of_the_coarsened_products_are_read_as_vectors() {
    for arch in ["sm_75", "sm_80"] {
        for kernel in [
            "matmul_coarsened_f32",
            "matmul_coarsened_f32_unaligned",
            "matmul_coarsened_f32_a_t",
            "matmul_coarsened_f32_b_t",
            "matmul_coarsened_f32_a_t_b_t",
        ] {
            let code = Instructions::of(arch, kernel);
            // 16 k, each with 2 vectors of A and 2 of B.
            assert_eq!(code.count("ld.shared.v4"), 64, "{arch} {kernel}");
            assert_eq!(code.count("ld.shared"), 64, "{arch} {kernel}");
            // 16 k, each with 8 x 8 products: the loop over a tile is unrolled completely.
            assert_eq!(code.count("fma.rn.f32"), 1024, "{arch} {kernel}");
        }
        let code = Instructions::of(arch, "matmul_coarsened_f64");
        // 8 k, each with 4 vectors of A and 2 of B, and 8 x 4 products.
        assert_eq!(code.count("ld.shared.v2"), 48, "{arch}");
        assert_eq!(code.count("ld.shared"), 48, "{arch}");
        assert_eq!(code.count("fma.rn.f64"), 256, "{arch}");
    }
}

#[test]
fn copies_are_asynchronous_where_the_gpu_can() {
    for kernel in ["matmul_coarsened_f32", "matmul_coarsened_f64"] {
        let code = Instructions::of("sm_80", kernel);
        assert!(
            code.count("cp.async.cg.shared.global") > 0,
            "{kernel}: 16 bytes of B"
        );
        assert!(
            code.count("cp.async.ca.shared.global") > 0,
            "{kernel}: elements of A"
        );
        assert_eq!(code.count("ld.global"), 0, "{kernel}: past the registers");
        let code = Instructions::of("sm_75", kernel);
        assert_eq!(
            code.count("cp.async"),
            0,
            "{kernel}: sm_75 has no such copy"
        );
    }
}

#[test]
fn sums_read_vectors_through_the_read_only_cache() {
    for (kernel, vector) in [
        ("reduce_sum_f32", "ld.global.nc.v4"),
        ("reduce_sum_f64", "ld.global.nc.v2"),
        ("reduce_sum_f16", "ld.global.nc.v4"),
        ("reduce_sum_bf16", "ld.global.nc.v4"),
        ("reduce_sum_i32", "ld.global.nc.v4"),
        ("reduce_sum_u64", "ld.global.nc.v2"),
    ] {
        for arch in ["sm_75", "sm_80"] {
            // The loads in flight of one round.
            assert_eq!(
                Instructions::of(arch, kernel).count(vector),
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
        let code = Instructions::of("sm_80", kernel);
        // The ticket.
        assert_eq!(code.count("atom.global.add.u32"), 1, "{kernel}");
        assert_eq!(code.count("atom") + code.count("red."), 1, "{kernel}");
    }
}

#[test]
fn every_access_names_its_state_space() {
    for arch in ["sm_75", "sm_80"] {
        for kernel in ["reduce_sum_f32", "matmul_tiled_f32", "matmul_coarsened_f32"] {
            let code = Instructions::of(arch, kernel);
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

#[test]
fn completely_unrolled_sums_have_each_round_written_out() {
    for arch in ["sm_75", "sm_80"] {
        for (threads, rounds) in [(64, 0), (128, 1), (256, 2), (512, 3), (1024, 4)] {
            let kernel = format!("sum_completely_unrolled_{threads}");
            let code = Instructions::of_ladder(arch, &kernel);
            // One before the rounds; the last warp's six rounds have its own.
            assert_eq!(code.count("bar.sync"), 1 + rounds, "{arch} {kernel}");
            assert_eq!(code.count("bar.warp.sync"), 6, "{arch} {kernel}");
        }
    }
}

#[test]
fn private_histograms_are_updated_in_shared_memory() {
    for arch in ["sm_75", "sm_80"] {
        for kernel in [
            "histogram_privatised",
            "histogram_contiguous",
            "histogram_interleaved",
            "histogram_vectors",
            "histogram_aggregated",
        ] {
            let code = Instructions::of_ladder(arch, kernel);
            assert!(code.count("atom.shared.add.u32") > 0, "{arch} {kernel}");
            // The commit.
            assert_eq!(code.count("atom.global.add.u32"), 1, "{arch} {kernel}");
            assert_eq!(code.count("st.global"), 0, "{arch} {kernel}");
        }
        let code = Instructions::of_ladder(arch, "histogram_vectors");
        // Four loads of 16 bytes, an update for each byte, and one for the bytes of a part that is
        // not whole.
        assert_eq!(code.count("ld.global.nc.v4"), 4, "{arch}");
        assert_eq!(code.count("atom.shared.add.u32"), 4 * 16 + 1, "{arch}");
    }
}

#[test]
fn the_cooperative_sum_reads_vectors_and_adds_once_for_each_block() {
    for arch in ["sm_75", "sm_80"] {
        let code = Instructions::of_ladder(arch, "sum_cooperative");
        assert!(code.count("ld.global.nc.v4") > 0, "{arch}");
        assert_eq!(code.count("atom.global.add.u64"), 1, "{arch}");
    }
}
