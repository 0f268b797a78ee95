//! The counts in reports of launches on the simulator.

use tilewright::{
    Advice, Bottleneck, Device, Error, ErrorKind, KernelReport, Operation, Profile, Result,
    SimulatorError, SimulatorOptions,
};
use tilewright_test_support::assert_kind;

fn device(profile: Profile) -> Device {
    Device::simulator_with(SimulatorOptions::default().with_profile(profile))
}

/// The one launch of a tiled product of `rows` x `rows` matrices.
fn tiled_product(profile: Profile, rows: usize) -> Result<KernelReport> {
    let device = device(profile);
    let (a, b) = (
        device.matrix_zeros::<f32>((rows, rows))?,
        device.matrix_zeros((rows, rows))?,
    );
    let (_, mut report) = device.with_report(|| device.matmul_tiled(&a, &b))?;
    assert_eq!(report.launches.len(), 1);
    Ok(report.launches.remove(0))
}

#[test]
fn a_tiled_product_costs_what_its_loops_say() -> Result<()> {
    let report = tiled_product(Profile::H200, 64)?;
    assert_eq!(report.kernel, "matmul_tiled_f32_nn");
    // 4 blocks of 32 warps; 2 tiles of K, 32 steps each.
    let (warps, tiles, steps) = (4 * 32, 2, 32);
    let loads = report.counts.of(Operation::GlobalLoad);
    assert_eq!(loads.requests, warps * tiles * 2);
    assert_eq!(loads.global.sectors, 4 * loads.requests);
    assert_eq!(loads.global.line_efficiency(), Some(1.0));
    let shared = report.counts.of(Operation::SharedLoad);
    assert_eq!(shared.requests, warps * tiles * steps * 2);
    assert_eq!(shared.shared.wavefronts, shared.requests);
    assert_eq!(
        report.counts.of(Operation::BlockBarrier).requests,
        warps * tiles * 2
    );
    assert_eq!(report.counts.total().flops_f32, 2 * 64 * 64 * 64);
    // Both operands and the result, 16 KiB each.
    assert_eq!(report.counts.sectors_read, 2 * 512);
    assert_eq!(report.counts.sectors_written, 512);
    assert_eq!(report.shared_bytes(), 2 * 4096);
    Ok(())
}

#[test]
fn warps_of_64_make_half_as_many_requests() -> Result<()> {
    let narrow = tiled_product(Profile::H200, 64)?.counts;
    let wide = tiled_product(Profile::Wave64, 64)?.counts;
    let loads = |counts: &tilewright::Counts| counts.of(Operation::GlobalLoad);
    assert_eq!(loads(&narrow).requests, 2 * loads(&wide).requests);
    assert_eq!(loads(&narrow).global.sectors, loads(&wide).global.sectors);
    assert_eq!(narrow.total().flops_f32, wide.total().flops_f32);
    Ok(())
}

#[test]
fn occupancy_and_bottleneck_follow_the_profile() -> Result<()> {
    let report = tiled_product(Profile::H200, 64)?;
    assert!(report.occupancy().is_none(), "nothing says the registers");
    assert_eq!(report.roofline().bottleneck, Bottleneck::Latency);
    let (blocks, multiprocessors) = (4, 132);
    assert_eq!(
        report.advice(),
        Advice::FillDevice {
            blocks,
            multiprocessors
        }
    );
    let device = device(Profile::T4);
    assert_eq!(device.name(), "simulator (T4)");
    assert_eq!(device.properties().compute_capability, Some((7, 5)));
    assert_eq!(device.properties().max_shared_bytes_per_block, 64 << 10);
    Ok(())
}

#[test]
fn registers_from_ptxas_decide_the_occupancy() -> Result<()> {
    let device = device(Profile::H200);
    let x = device.zeros::<f32>(100_000)?;
    let (_, mut report) = device.with_report(|| device.reduce_sum(&x))?;
    report.set_registers(|kernel| (kernel == "reduce_sum_f32").then_some(128));
    assert_eq!(report.launches[0].occupancy().unwrap().blocks, 2);
    report.set_registers(|_| Some(32));
    assert_eq!(report.launches[0].occupancy().unwrap().blocks, 8);
    Ok(())
}

#[test]
fn only_launches_within_are_reported() -> Result<()> {
    let device = Device::simulator();
    let x = device.upload(&[1_i32; 1000])?;
    device.reduce_sum(&x)?;
    let (inner, report) = device.with_report(|| {
        device.reduce_sum(&x)?;
        device.with_report(|| device.reduce_sum(&x))
    })?;
    device.reduce_sum(&x)?;
    assert_eq!(inner.1.launches.len(), 1);
    assert_eq!(report.launches.len(), 2);
    assert_eq!(report.by_kernel().len(), 1);
    assert_eq!(report.by_kernel()[0].launches, 2);
    Ok(())
}

#[test]
fn a_device_that_counts_reports_each_launch_once() -> Result<()> {
    let device = Device::simulator_with(SimulatorOptions::default().with_counters(true));
    let x = device.upload(&[1_i32; 1000])?;
    device.reduce_sum(&x)?;
    let (_, within) = device.with_report(|| device.reduce_sum(&x))?;
    let both = device.launch_report()?;
    assert_eq!((within.launches.len(), both.launches.len()), (1, 2));
    assert_eq!(both.launches[1].counts, within.launches[0].counts);
    assert!(device.launch_report()?.launches.is_empty());
    Ok(())
}

#[test]
fn a_device_that_does_not_count_says_how_to() {
    let error = Device::simulator().launch_report().expect_err("no counts");
    assert_kind!(error is ErrorKind::Simulator(SimulatorError::CountersOff));
    assert!(error.to_string().contains("with_counters(true)"), "{error}");
}

#[test]
fn a_failure_within_closes_the_report() -> Result<()> {
    let device = Device::simulator();
    let failed = device.with_report(|| {
        let a = device.matrix_zeros::<f32>((2, 3))?;
        device.matmul_tiled(&a, &a)
    });
    assert!(matches!(
        failed.as_ref().map_err(Error::kind),
        Err(ErrorKind::ShapeMismatch { .. })
    ));
    let (_, report) = device.with_report(|| Ok(()))?;
    assert!(report.launches.is_empty());
    Ok(())
}
