//! A sum and a product over several devices, with the bits of one device, and their times.
//!
//! ```text
//! cargo run --release --example several_devices -- [--ranks N] [--elements N] [--rows N]
//! ```

mod support;

use lexopt::prelude::{Long, ValueExt as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use support::Outcome;
use support::output::print_line;
use tilewright::{Device, DeviceGroup, Sharding};

const USAGE: &str = "usage: several_devices [--ranks N] [--elements N] [--rows N]

Adds the elements of a buffer and multiplies two square matrices, of f32, on the devices of a group and on the first
of them alone.

  --ranks N     the first N devices; without it, all that TILEWRIGHT_DEVICE allows. Where it is sim, or there is no
                GPU, they are simulated
  --elements N  elements of the buffer, 100000 if not given
  --rows N      rows of the matrices, 64 if not given
  --help        prints this";

fn main() -> ExitCode {
    support::run(several_devices)
}

fn several_devices(mut parser: lexopt::Parser) -> Outcome {
    let (mut ranks, mut elements, mut rows) = (None, 100_000, 64_usize);
    while let Some(argument) = parser.next()? {
        match argument {
            Long("ranks") => ranks = Some(parser.value()?.parse()?),
            Long("elements") => elements = parser.value()?.parse()?,
            Long("rows") => rows = parser.value()?.parse()?,
            Long("help") => return support::help(USAGE),
            other => return Err(other.unexpected().into()),
        }
    }
    let addends = support::numbers(Some(elements), |i| 1.0 / (i % 1000 + 1) as f32)?;
    let factors = support::numbers(rows.checked_mul(rows), |i| (i % 7) as f32 * 0.1)?;
    let group =
        group_of(ranks).map_err(|error| support::for_users(&error, "TILEWRIGHT_DEVICE=sim"))?;
    let device = &group.devices()[0];
    print_line(format_args!("{} x {}", group.ranks(), device.name()))?;
    sum(&group, device, &addends)?;
    product(&group, device, (rows, &factors))
}

fn group_of(ranks: Option<usize>) -> tilewright::Result<DeviceGroup> {
    match ranks {
        None => DeviceGroup::all(),
        Some(ranks) if Device::from_env()?.is_simulator() => DeviceGroup::simulated(ranks),
        Some(ranks) => DeviceGroup::new(0..ranks as u32),
    }
}

fn sum(group: &DeviceGroup, device: &Device, data: &[f32]) -> Outcome {
    let (on_one, x) = (device.upload(data)?, group.upload(data)?);
    let (expected, alone) = fastest(group, || device.reduce_sum(&on_one))?;
    let (sum, together) = fastest(group, || group.reduce_sum(&x))?;
    assert_eq!(sum.to_bits(), expected.to_bits());
    report(&format!("sum of {}: {sum}", data.len()), alone, together)
}

fn product(group: &DeviceGroup, device: &Device, (rows, data): (usize, &[f32])) -> Outcome {
    let shape = (rows, rows);
    let on_one = device.matrix(shape, data)?;
    let a = group.matrix(shape, data, Sharding::Rows)?;
    let b = group.matrix(shape, data, Sharding::Columns)?;
    let (expected, alone) = fastest(group, || device.matmul(&on_one, &on_one))?;
    let (c, together) = fastest(group, || group.matmul(&a, &b))?;
    assert!(c.to_vec()? == expected.to_vec()?);
    report(&format!("product of {rows} x {rows}"), alone, together)
}

/// The result of `work`, and its shortest time in five runs after one warm-up, until all devices are done.
fn fastest<R>(
    group: &DeviceGroup,
    work: impl Fn() -> tilewright::Result<R>,
) -> tilewright::Result<(R, Duration)> {
    let (mut result, mut time) = (work()?, Duration::MAX);
    for _ in 0..5 {
        group.synchronize()?;
        let start = Instant::now();
        result = work()?;
        group.synchronize()?;
        time = time.min(start.elapsed());
    }
    Ok((result, time))
}

fn report(work: &str, alone: Duration, together: Duration) -> Outcome {
    let ratio = alone.as_secs_f64() / together.as_secs_f64();
    Ok(print_line(format_args!(
        "{work}; one device {alone:.1?}, all {together:.1?}, {ratio:.2} times as fast"
    ))?)
}
