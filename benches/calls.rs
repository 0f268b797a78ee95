//! The host's cost of calls: `cargo bench --bench calls`.
//!
//! Four tables: the time of a call that submits work, the time until a sum is on the host, reductions of `ndarray`
//! arrays, and the time from a process's start to its first results.

mod arrays;
mod common;
mod first_answer;
mod rivals;

use common::host_time::{self, CountingAllocator, HostTimes, RoundTrip};
use common::record::Record;
use common::samples::{self, Sample as _};
use common::{Result, open_device};
use rivals::Rivals;
use rivals::driver::Driver;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::rc::Rc;
use tilewright::{Device, reduce_sum_height};
use tilewright_output::figures::{Figure, Row, Unit};
use tilewright_test_support::selection::chosen;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const HELP: &str = "\
Measures what calls cost the host, on one device.

Usage: cargo bench --bench calls -- [OPTIONS]

Options:
  --only TEXT    only tables whose name contains TEXT, or one of several texts separated by commas:
                 submissions, round-trips, arrays, first-answer
  --out FILE     also writes the tables as JSON, to a path relative to benches/ under cargo
  -h, --help     this text
";

fn main() -> ExitCode {
    common::exit(run())
}

#[derive(Default)]
struct Options {
    /// Whether each of [`TABLES`] is wanted.
    only: Option<Vec<bool>>,
    out: Option<PathBuf>,
    is_process_of_table: bool,
}

/// The names for `--only`.
const TABLES: [&str; 4] = ["submissions", "round-trips", "arrays", "first-answer"];

impl Options {
    /// `None` for `--help`.
    fn from_arguments() -> Result<Option<Self>> {
        use lexopt::Arg::{Long, Short};
        use lexopt::ValueExt as _;
        let mut options = Self::default();
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                // Cargo passes this to every benchmark.
                Long("bench") => {}
                Long("only") => {
                    options.only = Some(chosen(&TABLES, &arguments.value()?.string()?)?);
                }
                Long("out") => options.out = Some(arguments.value()?.into()),
                Long("answer-and-exit") => options.is_process_of_table = true,
                Short('h') | Long("help") => return Ok(None),
                argument => return Err(argument.unexpected().into()),
            }
        }
        Ok(Some(options))
    }

    fn has(&self, table: &str) -> bool {
        let mut tables = TABLES.iter().zip(self.only.iter().flatten());
        self.only.is_none() || tables.any(|(name, wanted)| *wanted && *name == table)
    }
}

fn run() -> Result {
    let Some(options) = Options::from_arguments()? else {
        print!("{HELP}");
        return Ok(());
    };
    if options.is_process_of_table {
        return first_answer::answer();
    }
    let device = open_device()?;
    let mut rivals = BTreeMap::from([("ndarray".to_owned(), None), ("driver".to_owned(), None)]);
    let mut rows = Vec::new();
    if options.has("submissions") {
        rows.extend(submissions(&device)?);
    }
    if options.has("round-trips") {
        let found = Rivals::of_sums(&device);
        rivals.extend(found.versions());
        rows.extend(round_trips(&device, &found)?);
    }
    if options.has("arrays") {
        rows.extend(arrays(&device)?);
    }
    if options.has("first-answer") {
        rows.extend(first_answer::table()?);
    }
    if let Some(path) = &options.out {
        let method = "medians of calls on the host";
        Record::open(path, "calls", (&device, 1), method, rivals)?.write(&rows)?;
    }
    Ok(())
}

/// The times of calls that submit work without waiting.
fn submissions(device: &Device) -> Result<Vec<Row>> {
    println!("\nCalls that submit work, f32, one after another:");
    print_head();
    let mut rows = Rows::default();
    for elements in [1 << 10, 1 << 16] {
        let (x, _) = samples::elements::<f32>(elements);
        let x = device.upload(&x)?;
        let mut sum = device.zeros::<f32>(1)?;
        let name = format!("reduce_sum_into, 2^{}", elements.ilog2());
        rows.both(device, &name, || Ok(device.reduce_sum_into(&x, &mut sum)?))?;
    }
    let a = device.matrix((64, 64), &[1.0_f32; 64 * 64])?;
    let mut c = device.matrix_zeros::<f32>((64, 64))?;
    rows.both(device, "matmul_coarsened_into, 64", || {
        Ok(device.matmul_coarsened_into(&a, &a, &mut c)?)
    })?;
    rows.both(device, "matmul_tiled_into, 64", || {
        Ok(device.matmul_tiled_into(&a, &a, &mut c)?)
    })?;
    if !device.is_simulator() {
        driver_alone(device, &mut rows)?;
    }
    Ok(rows.records)
}

/// The driver's part of a submission.
fn driver_alone(device: &Device, rows: &mut Rows) -> Result {
    let driver = Driver::open(device)?;
    device.with_current(|| {
        rows.add(device, "driver: cuLaunchKernel", "current", || {
            driver.launch()
        })?;
        rows.add(device, "driver: cuCtxGetCurrent", "current", || {
            driver.get_current()
        })
    })??;
    rows.add(device, "driver: cuCtxPush, Pop", "other", || {
        driver.push_and_pop()
    })?;
    rows.add(device, "driver: cuCtxSet, Set", "other", || {
        driver.set_and_reset()
    })
}

/// The lines of a table, printed immediately.
#[derive(Default)]
struct Rows {
    records: Vec<Row>,
}

impl Rows {
    /// Times a call in a thread without a current context, and in one with the device's.
    fn both(&mut self, device: &Device, name: &str, mut call: impl FnMut() -> Result) -> Result {
        self.add(device, name, "none", &mut call)?;
        device.with_current(|| self.add(device, name, "current", call))?
    }

    fn add(
        &mut self,
        device: &Device,
        name: &str,
        context: &'static str,
        call: impl FnMut() -> Result,
    ) -> Result {
        let batches = if device.is_simulator() { 1 } else { 40 };
        let times = host_time::of_submissions(device, batches, call)?;
        print_times(name, context, times, None);
        let is_driver = name.starts_with("driver");
        let figure = figure(if is_driver { "driver" } else { "tilewright" }, times);
        let (ours, rivals) = match is_driver {
            true => (Vec::new(), vec![figure]),
            false => (vec![figure], Vec::new()),
        };
        self.records.push(Row {
            detail: format!("context: {context}"),
            ours,
            rivals,
            ..row("submission", name)
        });
        Ok(())
    }

    /// The contenders of one job, ours with the ratio to the fastest rival. The simulator's time says nothing about a
    /// GPU's, so it has no ratio.
    fn contest(
        &mut self,
        device: &Device,
        work: &str,
        contenders: &[RoundTrip],
        times: &[HostTimes],
        is_rival: impl Fn(&RoundTrip) -> bool,
    ) {
        let rivals = contenders.iter().zip(times);
        let rivals = rivals.filter(|(contender, _)| is_rival(contender) && !device.is_simulator());
        let rival = rivals.map(|(_, times)| times.median).min();
        for (contender, times) in contenders.iter().zip(times) {
            let ratio = rival.filter(|_| contender.ours);
            let ratio = ratio.map(|rival| times.median as f64 / rival as f64);
            print_times(work, contender.name, *times, ratio);
        }
        let figures = |ours: bool| {
            let contenders = contenders.iter().zip(times);
            let contenders = contenders.filter(|(contender, _)| contender.ours == ours);
            contenders
                .map(|(contender, times)| figure(contender.name, *times))
                .collect()
        };
        self.records.push(Row {
            ours: figures(true),
            rivals: figures(false),
            ..row("result on the host", work)
        });
    }
}

/// `ratio` is the time relative to a rival's.
fn print_times(name: &str, by: &str, times: HostTimes, ratio: Option<f64>) {
    let ratio_text = ratio.map(|ratio| format!("{ratio:.3}")).unwrap_or_default();
    println!(
        "{name:<25} {by:<22} {:>9} {:>8} {:>6.2} {ratio_text:>5}",
        times.median, times.p90, times.allocations
    );
}

/// The head of a row of host times.
pub fn row(work: &str, shape: &str) -> Row {
    Row {
        work: work.to_owned(),
        element: "f32".to_owned(),
        shape: shape.to_owned(),
        size: None,
        detail: String::new(),
        unit: Unit::Seconds,
        in_l2: None,
        ours: Vec::new(),
        rivals: Vec::new(),
    }
}

fn figure(name: &str, times: HostTimes) -> Figure {
    let seconds = |nanoseconds: u64| nanoseconds as f64 * 1e-9;
    Figure {
        value: Some(seconds(times.median)),
        seconds_p90: Some(seconds(times.p90)),
        allocations: Some(times.allocations),
        ..Figure::new(name, None)
    }
}

fn print_head() {
    println!(
        "{:<25} {:<22} {:>9} {:>8} {:>6} {:>5}",
        "work", "by; context", "median/ns", "p90/ns", "allocs", "ratio"
    );
}

/// The time until a sum is on the host.
fn round_trips(device: &Device, rivals: &Rivals) -> Result<Vec<Row>> {
    println!("\nSums of f32 whose result is on the host:");
    print_head();
    let mut rows = Rows::default();
    let sizes: &[usize] = match device.is_simulator() {
        true => &[1 << 10],
        false => &[1 << 10, 1 << 16, 1 << 20],
    };
    for &elements in sizes {
        let mut contenders = sum_contenders(device, rivals, elements)?;
        let rounds = if device.is_simulator() { 3 } else { 2000 };
        let times = host_time::of_round_trips(&mut contenders, rounds)?;
        let work = format!("sum of 2^{}", elements.ilog2());
        let is_rival = |it: &RoundTrip| it.name.starts_with("CUB");
        rows.contest(device, &work, &contenders, &times, is_rival);
    }
    if !device.is_simulator() {
        println!("ratio: this time divided by that of CUB's faster way; below 1 is faster.");
    }
    Ok(rows.records)
}

/// Reductions of arrays against `ndarray`.
fn arrays(device: &Device) -> Result<Vec<Row>> {
    println!("\nReductions of f32 arrays whose result is on the host:");
    print_head();
    let mut rows = Rows::default();
    let (side, rounds) = match device.is_simulator() {
        true => (32, 3),
        false => (1000, 500),
    };
    for (name, mut contenders) in arrays::works(device, side)? {
        let times = host_time::of_round_trips(&mut contenders, rounds)?;
        rows.contest(device, &name, &contenders, &times, |it| !it.ours);
    }
    if !device.is_simulator() {
        println!("ratio: this time divided by that of ndarray; below 1 is faster.");
    }
    Ok(rows.records)
}

fn sum_contenders(device: &Device, rivals: &Rivals, elements: usize) -> Result<Vec<RoundTrip>> {
    let (data, numerators) = samples::elements::<f32>(elements);
    let x = Rc::new(device.upload(&data)?);
    let check = move |sum: f32, height| f32::check(sum, numerators, height);
    let mut contenders = Vec::new();
    let (ours, of_device) = (Rc::clone(&x), device.clone());
    contenders.push(RoundTrip {
        name: "reduce_sum",
        ours: true,
        call: Box::new(move || {
            check(
                of_device.reduce_sum(&*ours)?,
                reduce_sum_height::<f32>(elements),
            )
        }),
    });
    if let Some(cub) = &rivals.cub {
        const HEIGHT: u32 = 4096;
        let (mut pageable, mut sum) = ([0.0], cub.sum_to_host::<f32>(Rc::clone(&x))?);
        contenders.push(RoundTrip {
            name: "CUB, copied",
            ours: false,
            call: Box::new(move || sum(&mut pageable).and_then(|()| check(pageable[0], HEIGHT))),
        });
        let (mut pinned, mut sum) = (device.pinned::<f32>(1)?, cub.sum_to_host::<f32>(x)?);
        contenders.push(RoundTrip {
            name: "CUB, copied to pinned",
            ours: false,
            call: Box::new(move || {
                let host = pinned.first_chunk_mut().ok_or("there is one element")?;
                sum(host)?;
                check(host[0], HEIGHT)
            }),
        });
    }
    if !device.is_simulator() {
        let driver = Driver::open(device)?;
        let (other, of_device, of_other) = (driver.clone(), device.clone(), device.clone());
        contenders.push(RoundTrip {
            name: "empty, synchronize",
            ours: false,
            call: Box::new(move || of_device.with_current(|| driver.launch_and_synchronize())?),
        });
        contenders.push(RoundTrip {
            name: "empty, query",
            ours: false,
            call: Box::new(move || of_other.with_current(|| other.launch_and_query())?),
        });
    }
    Ok(contenders)
}
