//! One device, all devices, and torch with NCCL: `cargo bench --bench groups`.
//!
//! Each contender is warmed up and timed separately, on the host, from the first call until all devices are done. The
//! group's results are compared with one device's, bit for bit.

#[path = "../common/mod.rs"]
mod common;
mod options;
#[path = "../rivals/mod.rs"]
mod rivals;
mod torch;
mod work;

use common::record::Record;
use common::{Result, machine};
use options::{HELP, Options};
use std::collections::BTreeMap;
use std::process::ExitCode;
use tilewright::{Arithmetic, Device, DeviceGroup};
use work::Bench;

fn main() -> ExitCode {
    common::exit(run())
}

fn run() -> Result {
    let Some(options) = Options::from_arguments()? else {
        print!("{HELP}");
        return Ok(());
    };
    let group = group_of(options.ranks)?;
    let device = &group.devices()[0];
    println!("devices: {} x {}", group.ranks(), machine::describe(device));
    let simulated = device.is_simulator();
    if simulated {
        println!("The simulator's times say nothing about a GPU's.");
    }
    let torch = match simulated {
        true => None,
        false => torch::version()
            .inspect(|version| println!("torch {version}"))
            .inspect_err(|error| eprintln!("rival skipped: torch: {error}"))
            .ok(),
    };
    let elements = options.elements.clone().unwrap_or(match simulated {
        true => vec![100_000],
        false => vec![1 << 28, 1 << 30, 1 << 32],
    });
    let sizes = options.sizes.clone().unwrap_or(match simulated {
        true => vec![96],
        false => vec![4096, 8192, 16384, 32768],
    });
    println!(
        "\n{:<40} {:>10} {:>10} {:>7} {:>10} {:>7}",
        "milliseconds", "one", "all", "times", "torch", "times"
    );
    let mut bench = Bench::new(group, options, torch);
    for elements in elements {
        bench.sum(elements)?;
    }
    bench.gather(if simulated { 1000 } else { 1 << 28 })?;
    for &size in &sizes {
        bench.product::<f32>("f32", size, Arithmetic::Auto)?;
        bench.product::<half::bf16>("bf16", size, Arithmetic::Auto)?;
        bench.product::<f32>("f32", size, Arithmetic::Chain)?;
    }
    if bench.rows.is_empty() {
        return Err(format!(
            "--only {}: no work has that in its name",
            bench.options.only
        )
        .into());
    }
    write(&bench)
}

fn group_of(ranks: Option<usize>) -> Result<DeviceGroup> {
    Ok(match ranks {
        None => DeviceGroup::all()?,
        Some(ranks) if Device::from_env()?.is_simulator() => DeviceGroup::simulated(ranks)?,
        Some(ranks) => DeviceGroup::new(0..ranks as u32)?,
    })
}

/// Writes the results to the file in the options, if any.
fn write(bench: &Bench) -> Result {
    let Some(path) = &bench.options.out else {
        return Ok(());
    };
    let device = &bench.group.devices()[0];
    let method = format!(
        "medians of samples of one contender, from the first call until all devices are done, after it ran alone for {:?}",
        bench.options.warm_up
    );
    let torch = bench.torch.clone();
    let rivals: BTreeMap<_, _> = torch
        .map(|version| ("torch".to_owned(), Some(version)))
        .into_iter()
        .collect();
    let record = Record::open(
        path,
        "groups",
        (device, bench.group.ranks()),
        &method,
        rivals,
    )?;
    record.write(&bench.rows)
}
