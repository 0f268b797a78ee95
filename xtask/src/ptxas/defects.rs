//! Defects of a kernel's machine code.

use crate::workspace::Result;
use std::fs;
use std::path::Path;
use tilewright_ptxas::Cost;

/// The assembler's warnings that warpgroup products are serialised, or that `setmaxnreg` has no
/// effect.
const SERIALISED: [&str; 11] = [
    "C7508", "C7510", "C7511", "C7512", "C7513", "C7514", "C7515", "C7516", "C7517", "C7518",
    "C7519",
];

/// Kernels that demonstrate the cost of a stack frame. They must have one.
const STACK_FRAMES: [&str; 1] = ["memory_local_array"];

/// Kernels that spill a few values, by the start of their names. Those of 16-bit types, and of vectors, spill outside
/// their loops. The others of f64 read one value (in small tiles on CUDA cores, three) per stage.
const SPILLING: [&str; 10] = [
    "matvec_across_",
    "reduce_sum_reproducible_f16",
    "reduce_min_max_i16",
    "reduce_norm_2_bf16",
    "reduce_sum_of_squares_bf16",
    "scan_exclusive_f32",
    "matmul_coarsened_small_f64_",
    "matmul_mma_f64_",
    "matmul_wgmma_medium_bf16_",
    "matmul_wgmma_medium_f16_",
];

/// Maximum bytes that they may spill.
const FEW_BYTES: u32 = 40;

/// Kernels whose blocks and registers are not tuned, by the start of their names, and the bytes that they may spill. The
/// last one does on 7.5 alone, which converts bf16 without instructions for it.
const UNTUNED_KERNELS: [(&str, u32); 3] = [
    ("exact_combine_f64", 64),
    ("top_k_", 160),
    ("norm_block_bf16", 284),
];

/// The defect in a kernel's cost on `target`, if any.
pub fn of_cost(cost: &Cost, target: &str) -> Option<String> {
    let is_shown = STACK_FRAMES.contains(&cost.name.as_str());
    let may_spill = SPILLING.iter().any(|start| cost.name.starts_with(start));
    let is_untuned = (UNTUNED_KERNELS.iter())
        .any(|(start, most)| cost.name.starts_with(start) && cost.spill_bytes <= *most);
    if is_untuned || may_spill && cost.spill_bytes <= FEW_BYTES {
        return None;
    }
    if cost.spill_bytes == 0 && (cost.stack_bytes != 0) == is_shown {
        return None;
    }
    Some(format!(
        "{} uses {} bytes of stack{} and spills {} bytes on {target}",
        cost.name,
        cost.stack_bytes,
        if is_shown {
            ", which it is there to show,"
        } else {
            ""
        },
        cost.spill_bytes
    ))
}

/// The warnings about serialised products.
pub fn serialised(log: &str) -> impl Iterator<Item = &str> {
    let is_remark = |line: &&str| SERIALISED.iter().any(|remark| line.contains(remark));
    log.lines().filter(is_remark)
}

/// Loads and stores without a state space. Each costs a check in hardware, and shows that a pointer
/// lost its address space.
pub fn generic_accesses(module: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(module)?;
    let generic = text
        .lines()
        .enumerate()
        .filter(|(_, line)| is_generic_access(line));
    let describe = |(number, line): (usize, &str)| {
        let (module, number) = (module.display(), number + 1);
        format!("{module}:{number}: generic access: {}", line.trim())
    };
    Ok(generic.map(describe).collect())
}

fn is_generic_access(line: &str) -> bool {
    let instruction = line
        .split_whitespace()
        .find(|word| !word.starts_with('@'))
        .unwrap_or("");
    let mut parts = instruction.split('.');
    let is_access = matches!(parts.next(), Some("ld" | "st" | "atom" | "red"));
    const SPACES: [&str; 5] = ["global", "shared", "param", "const", "local"];
    is_access && !parts.any(|part| SPACES.contains(&part.split("::").next().unwrap_or("")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_on_products_are_found() {
        let log = "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are \
                   serialized due to insufficient register resources\n\
                   ptxas info    : Used 128 registers, used 1 barriers\n";
        assert_eq!(serialised(log).count(), 1);
        assert!(serialised(log).all(|line| line.contains("C7510")));
    }

    #[test]
    fn stack_frames_are_defects_unless_they_are_shown() {
        let defect = |kernel: &str, stack_bytes, spill_bytes| {
            let cost = Cost {
                name: kernel.to_owned(),
                registers: Some(32),
                stack_bytes,
                spill_bytes,
            };
            of_cost(&cost, "sm_90").is_some()
        };
        assert!(!defect("k", 0, 0) && defect("k", 8, 0) && defect("k", 0, 8));
        let few = "matmul_mma_f64_nn";
        assert!(!defect(few, 8, 20) && defect(few, 32, 72) && defect("matmul_mma_f16_nn", 8, 20));
        let shown = STACK_FRAMES[0];
        assert!(!defect(shown, 64, 0) && defect(shown, 0, 0) && defect(shown, 64, 8));
    }

    #[test]
    fn accesses_without_a_state_space_are_found() {
        assert!(is_generic_access("\tld.b32 \t%r1, [%rd1];"));
        assert!(is_generic_access(
            "\t@%p1 st.v4.b32 \t[%rd1], {%r1, %r2, %r3, %r4};"
        ));
        assert!(!is_generic_access(
            "\tld.global.nc.v4.b32 \t{%r1, %r2, %r3, %r4}, [%rd1];"
        ));
        assert!(!is_generic_access("\tst.shared::cta.b32 \t[%r1], %r2;"));
        assert!(!is_generic_access("\tadd.s32 \t%r1, %r2, %r3;"));
    }
}
