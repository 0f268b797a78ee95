//! Contests under criterion, timed by the device's events.

use super::cases::Case;
use super::contest::{Contest, Work};
use super::{Result, open_device};
use crate::rivals::Rivals;
use criterion::{Bencher, BenchmarkId, Criterion, Throughput};
use std::process::ExitCode;
use std::time::Duration;
use tilewright::Device;

/// Runs all `cases` with the rivals that `rivals` finds.
pub fn main(cases: fn(&Device) -> Vec<Case>, rivals: fn(&Device) -> Rivals) -> ExitCode {
    super::exit(run(cases, rivals))
}

fn run(cases: fn(&Device) -> Vec<Case>, rivals: fn(&Device) -> Rivals) -> Result {
    let mut criterion = configuration().configure_from_args();
    let device = open_device()?;
    let rivals = rivals(&device);
    for case in cases(&device) {
        if let Some(contest) = case.build(&device, &rivals)? {
            measure(&mut criterion, contest);
        }
    }
    criterion.final_summary();
    Ok(())
}

/// Short runs: a device's times vary little, and there are many contests.
fn configuration() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .without_plots()
}

fn measure(criterion: &mut Criterion, contest: Contest) {
    let cached = if contest.fits_cache() {
        " (in the L2 cache)"
    } else {
        ""
    };
    let mut group = criterion.benchmark_group(contest.name() + cached);
    // The simulator's time says nothing about a GPU's, so it has no throughput.
    if !contest.device.is_simulator() {
        group.throughput(match contest.work {
            Work::Bytes(bytes) => Throughput::BytesDecimal(bytes),
            // Criterion prints them as elements: one element is one floating-point operation.
            Work::Operations(operations) => Throughput::Elements(operations),
        });
    }
    for mut contender in contest.contenders {
        let id = BenchmarkId::from_parameter(contender.name);
        group.bench_function(id, |bencher: &mut Bencher<'_>| {
            bencher.iter_custom(|calls| {
                let time = contender.time(&contest.device, calls);
                time.unwrap_or_else(|error| panic!("{} failed: {error}", contender.name))
            });
        });
    }
    group.finish();
}
