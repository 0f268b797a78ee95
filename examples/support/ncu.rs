//! The simulator's counters beside those of Nsight Compute.

#![allow(dead_code, reason = "each program uses a part of it")]

use crate::support::Outcome;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use tilewright::{KernelReport, LaunchReport, Operation};

/// What `ncu` finds that is no counter: registers of a thread, and the occupancy that was achieved.
pub const REGISTERS: &str = "launch__registers_per_thread";
pub const ACHIEVED: &str = "sm__warps_active.avg.pct_of_peak_sustained_active";

/// The measurements of one kernel by `ncu`, by metric.
type Metrics = BTreeMap<String, f64>;

/// One counter and the metrics that correspond to it.
pub struct Counter {
    /// Its name, in a few words.
    pub title: &'static str,
    /// The metrics of Nsight Compute; their sum corresponds to the counter.
    pub metrics: &'static [&'static str],
    /// The simulator's count.
    pub count: fn(&KernelReport) -> f64,
    /// The allowed difference of the two, relative to `scale`; 0 where both are exact.
    pub tolerance: f64,
    /// The metric to which the tolerance is relative, if it is not the counter itself.
    pub scale: Option<&'static str>,
}

/// A counter that agrees exactly.
pub const fn counter(
    title: &'static str,
    metrics: &'static [&'static str],
    count: fn(&KernelReport) -> f64,
) -> Counter {
    Counter {
        title,
        metrics,
        count,
        tolerance: 0.0,
        scale: None,
    }
}

const SHARED_LOAD_PASSES: &str = "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum";

/// The counters of the library's kernels on the CUDA cores.
pub const COUNTERS: [Counter; 12] = [
    counter(
        "load requests",
        &["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
        |report| loads(report, |tally| tally.global.requests),
    ),
    counter(
        "load sectors",
        &["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
        |report| loads(report, |tally| tally.global.sectors),
    ),
    counter(
        "store requests",
        &["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"],
        |report| report.counts.of(Operation::GlobalStore).global.requests as f64,
    ),
    Counter {
        tolerance: 0.01,
        ..counter(
            "store sectors",
            &["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
            |report| report.counts.of(Operation::GlobalStore).global.sectors as f64,
        )
    },
    counter(
        "atomic requests",
        &["l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"],
        |report| report.counts.of(Operation::GlobalAtomic).global.requests as f64,
    ),
    Counter {
        tolerance: 0.01,
        ..counter("lines", &["memory_l1_tag_requests_global"], |report| {
            report.counts.total().global.lines as f64
        })
    },
    counter("shared load passes", &[SHARED_LOAD_PASSES], |report| {
        report.counts.of(Operation::SharedLoad).shared.wavefronts as f64
    }),
    counter(
        "shared store passes",
        &["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"],
        |report| report.counts.of(Operation::SharedStore).shared.wavefronts as f64,
    ),
    // The hardware's counter includes a few loads that waited for other reasons.
    Counter {
        tolerance: 0.01,
        scale: Some(SHARED_LOAD_PASSES),
        ..counter(
            "bank conflicts",
            &[
                "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
                "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
                "smsp__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared_op_ldgsts.sum",
            ],
            |report| report.counts.total().shared.conflicts() as f64,
        )
    },
    counter(
        "multiply-adds",
        &[
            "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
            "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
        ],
        |report| {
            let total = report.counts.total();
            (total.flops_f32 + total.flops_f64) as f64 / 2.0
        },
    ),
    // The hardware also reads instructions, parameters and its own tables.
    Counter {
        tolerance: 0.1,
        ..counter("DRAM sectors read", &["dram__sectors_read.sum"], |report| {
            report.counts.sectors_read as f64
        })
    },
    counter(
        "occupancy in %",
        &["sm__maximum_warps_per_active_cycle_pct"],
        |report| {
            report
                .occupancy()
                .map_or(f64::NAN, |it| 100.0 * it.fraction())
        },
    ),
];

fn loads(report: &KernelReport, of: fn(&tilewright::Tally) -> u64) -> f64 {
    let both = [Operation::GlobalLoad, Operation::AsyncCopyRead];
    let counts = both.map(|operation| of(&report.counts.of(operation)));
    counts.iter().sum::<u64>() as f64
}

/// Whether the two differ for a known cause (docs/counters.md): ptxas joins accesses of
/// neighbouring elements.
///
/// - The tiled product reads A's tile one element after the other; ptxas joins four f32, or two f64,
///   of a row to one load. That changes the passes for f32 by a quarter, and for f64 not at all.
/// - The aligned coarsened products store the zeros outside an operand one element after the other;
///   ptxas joins those of 16 bytes to one store, without bank conflicts.
/// - At the edges lanes of the small f32 product leave out some of the copies of a row of them, and the simulator puts
///   their later ones together with neighbours' of another row.
fn is_explained(kernel: &str, counter: &Counter) -> bool {
    let joined: &[&str] = match kernel {
        "matmul_tiled_f32_nn" => &["shared load passes"],
        "matmul_coarsened_small_f32_nn" => {
            &["load sectors", "shared store passes", "bank conflicts"]
        }
        "matmul_coarsened_small_f32_nn_unaligned" => &["load sectors", "lines"],
        "matmul_coarsened_small_f64_nn" => &["shared store passes", "bank conflicts"],
        _ => &[],
    };
    joined.contains(&counter.title)
}

/// Reads the measurements by kernel from a table with `;` between its columns, the first of which is
/// the kernel's name.
pub fn parse(table: &str) -> Outcome<BTreeMap<String, Metrics>> {
    let mut lines = table.lines();
    let head: Vec<&str> = lines
        .next()
        .ok_or("the table is empty")?
        .split(';')
        .collect();
    lines
        .map(|line| {
            let (kernel, values) = line.split_once(';').ok_or("a line without `;`")?;
            let numbers = values.split(';').map(str::parse::<f64>);
            let numbers: Vec<f64> = numbers.collect::<Result<_, _>>()?;
            let names = head[1..].iter().map(|name| (*name).to_owned());
            Ok((kernel.to_owned(), names.zip(numbers).collect()))
        })
        .collect()
}

/// The measured kernels' reports, with the registers that `ncu` found.
fn reports(
    report: &LaunchReport,
    measured: &BTreeMap<String, Metrics>,
) -> Outcome<Vec<KernelReport>> {
    let mut report = report.clone();
    report.set_registers(|kernel| Some(measured.get(kernel)?[REGISTERS] as u32));
    let reports = report.by_kernel();
    let missing = |kernel: &&String| !reports.iter().any(|report| report.kernel == **kernel);
    match measured.keys().find(missing) {
        Some(kernel) => Err(format!("`{kernel}` was measured, but not simulated").into()),
        None => Ok(reports),
    }
}

/// The unexplained differences between the simulator and `ncu`, one line each. A counter of which a metric
/// is [unknown] has none.
pub fn disagreements(
    counters: &[Counter],
    report: &LaunchReport,
    measured: &BTreeMap<String, Metrics>,
) -> Outcome<Vec<String>> {
    let mut lines = Vec::new();
    for report in reports(report, measured)? {
        let Some(metrics) = measured.get(&report.kernel) else {
            continue;
        };
        for counter in counters {
            let (counted, found) = ((counter.count)(&report), counter.measured(metrics));
            let Some(found) = found else { continue };
            let scale = counter.scale.map_or(found, |metric| metrics[metric]);
            let agrees = (counted - found).abs() <= counter.tolerance * scale;
            if agrees == is_explained(&report.kernel, counter) {
                let (kernel, title) = (&report.kernel, counter.title);
                lines.push(format!(
                    "{kernel}: {title}: {counted} counted, {found} measured"
                ));
            }
        }
    }
    Ok(lines)
}

/// The comparison as a table in Markdown: one number where the two agree, otherwise the simulator's
/// and the measured one.
pub fn table(
    counters: &[Counter],
    report: &LaunchReport,
    measured: &BTreeMap<String, Metrics>,
) -> Outcome<String> {
    let titles: Vec<_> = counters.iter().map(|counter| counter.title).collect();
    let mut table = format!(
        "| kernel | {} | achieved |\n|---|{}\n",
        titles.join(" | "),
        "---:|".repeat(titles.len() + 1)
    );
    for report in reports(report, measured)? {
        let Some(metrics) = measured.get(&report.kernel) else {
            continue;
        };
        write!(table, "| `{}` |", report.kernel)?;
        for counter in counters {
            let (counted, found) = ((counter.count)(&report), counter.measured(metrics));
            match found {
                None => write!(table, " {counted} / unknown |")?,
                Some(found) if found == counted => write!(table, " {counted} |")?,
                Some(found) => write!(table, " {counted} / {found} |")?,
            }
        }
        let achieved = metrics[ACHIEVED];
        writeln!(table, " {achieved} |")?;
    }
    Ok(table)
}

/// The metrics of the counters that were not measured: those that `ncu` does not know.
pub fn unknown(
    counters: &[Counter],
    measured: &BTreeMap<String, Metrics>,
) -> BTreeSet<&'static str> {
    let metrics = counters.iter().flat_map(|counter| counter.metrics);
    let is_known = |metric: &str| measured.values().all(|all| all.contains_key(metric));
    metrics
        .copied()
        .filter(|metric| !is_known(metric))
        .collect()
}

impl Counter {
    /// The sum of its metrics; none where one is unknown.
    fn measured(&self, metrics: &Metrics) -> Option<f64> {
        let values = self.metrics.iter().map(|metric| metrics.get(*metric));
        values.sum()
    }
}
