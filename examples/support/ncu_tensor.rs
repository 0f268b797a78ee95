//! The counters of tensor cores, bulk copies and matrices in shared memory beside those of Nsight Compute,
//! for the steps of the ladder of tensor cores.

#![allow(dead_code, reason = "each program uses a part of it")]

use crate::ncu::{ACHIEVED, Counter, REGISTERS, counter};
use crate::support::Outcome;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use tilewright::half::bf16;
use tilewright::{Device, KernelReport, Operation, Order, Tally};
use tilewright_ladder::tensor::{self, Step};

/// The counters to compare. The products are of bf16, with accumulators in f32.
pub const COUNTERS: [Counter; 10] = [
    // Those of `wgmma` are of both kinds.
    counter(
        "tensor instructions",
        &["sm__inst_executed_pipe_tensor_op_hmma.sum"],
        products,
    ),
    counter(
        "`wgmma` among them",
        &["sm__inst_executed_pipe_tensor_op_gmma.sum"],
        |report| match report.kernel.starts_with("tensor_warps_") {
            true => 0.0,
            false => products(report),
        },
    ),
    counter(
        "tensor operations",
        &[
            "sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32_sparsity_off.sum",
            "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32_sparsity_off.sum",
        ],
        |report| report.counts.total().tensor_operations as f64,
    ),
    counter(
        "bulk loads",
        &["smsp__sass_inst_executed_op_tma_ld.sum"],
        |report| report.counts.of(Operation::BulkLoad).requests as f64,
    ),
    counter(
        "bulk stores",
        &["smsp__sass_inst_executed_op_tma_st.sum"],
        |report| report.counts.of(Operation::BulkStore).requests as f64,
    ),
    // Each block of a multicast gets its bytes over the crossbar.
    counter(
        "bulk bytes loaded",
        &["l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"],
        |report| report.counts.total().asynchronous.bulk_bytes_loaded as f64,
    ),
    counter(
        "bulk bytes stored",
        &["l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum"],
        |report| report.counts.total().asynchronous.bulk_bytes_stored as f64,
    ),
    counter(
        "shared load passes",
        &[
            "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
            "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum",
        ],
        |report| report.counts.of(Operation::SharedLoad).shared.wavefronts as f64,
    ),
    counter(
        "shared store passes",
        &[
            "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
            "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_stsm.sum",
        ],
        |report| report.counts.of(Operation::SharedStore).shared.wavefronts as f64,
    ),
    counter(
        "bank conflicts of matrices",
        &[
            "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldsm.sum",
            "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_stsm.sum",
        ],
        |report| {
            of_kinds(report, &[Operation::SharedLoad, Operation::SharedStore])
                .shared
                .conflicts() as f64
        },
    ),
];

/// Warp-level products: a `wgmma` counts as one for each of its four warps.
fn products(report: &KernelReport) -> f64 {
    let is_product = |operation| matches!(operation, Operation::TensorProduct { .. });
    report.counts.total_of(is_product).requests as f64
}

fn of_kinds(report: &KernelReport, kinds: &[Operation]) -> Tally {
    report
        .counts
        .total_of(|operation| kinds.contains(&operation))
}

/// Rows of A, columns of B, columns of A: whole tiles, because boxes at the edges are counted whole.
const SHAPE: (usize, usize, usize) = (512, 512, 512);

/// Launches each step once.
pub fn launch(device: &Device) -> Outcome {
    let (m, n, k) = SHAPE;
    let a = device.matrix_zeros::<bf16>((m, k))?;
    let mut c = device.matrix_zeros::<bf16>((m, n))?;
    for step in Step::ALL {
        let b = match step.order_of_b() {
            Order::RowMajor => device.matrix_zeros::<bf16>((k, n))?,
            Order::ColumnMajor => device.matrix_zeros::<bf16>((n, k))?.into_transposed(),
        };
        tensor::launch(device, step, &a, &b, &mut c)?;
    }
    Ok(device.synchronize()?)
}

/// All metrics that are compared or shown.
pub fn metrics() -> BTreeSet<&'static str> {
    let compared = COUNTERS.iter().flat_map(|counter| counter.metrics).copied();
    compared.chain([REGISTERS, ACHIEVED]).collect()
}

/// The table that [`parse`](crate::ncu::parse) reads, made of what `ncu --csv --page raw` prints.
pub fn convert(raw: &str) -> Outcome<String> {
    let mut lines = raw.lines().filter(|line| line.starts_with('"')).map(cells);
    let head = lines.next().ok_or("there is no line of names")?;
    let name = head
        .iter()
        .position(|name| *name == "Kernel Name")
        .ok_or("there is no column of kernels")?;
    let known = metrics();
    let columns: Vec<usize> = (0..head.len())
        .filter(|column| known.contains(head[*column]))
        .collect();
    let mut table = "Kernel Name".to_owned();
    for column in &columns {
        write!(table, ";{}", head[*column])?;
    }
    table.push('\n');
    // The first line below the names has units.
    for line in lines.skip(1) {
        let cell = |column: usize| line.get(column).copied().ok_or("a line is too short");
        table += cell(name)?;
        for column in &columns {
            write!(table, ";{}", cell(*column)?.replace(',', ""))?;
        }
        table.push('\n');
    }
    Ok(table)
}

/// The cells of a line, each in quotes.
fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('"').split("\",\"").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ncu_prints_is_converted() {
        let raw = "==PROF== Connected\n\
                   \"ID\",\"Kernel Name\",\"other\",\"launch__registers_per_thread\"\n\
                   \"\",\"\",\"%\",\"register/thread\"\n\
                   \"0\",\"tensor_warps_nt\",\"7\",\"1,238\"\n";
        let expected = "Kernel Name;launch__registers_per_thread\ntensor_warps_nt;1238\n";
        assert_eq!(convert(raw).unwrap(), expected);
        assert!(convert("nothing").is_err());
    }
}
