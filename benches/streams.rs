//! Streams and copies: `cargo bench --bench streams`.
//!
//! Five tables: two chains of reductions in one stream and in two, small calls one by one and as a graph, copies of
//! plain and of page-locked host memory, sums of host memory in chunks, and products of host matrices in panels.

mod common;
mod rivals;

use common::{Result, open_device};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tilewright::{Buffer, Device, HostMatrix, HostReducer, ops};

/// Each figure is the median of this many runs, after one that is not counted.
const RUNS: usize = 9;

fn main() -> ExitCode {
    common::exit(run())
}

fn run() -> Result {
    let device = open_device()?;
    println!("{}", device.name());
    two_chains(&device)?;
    small_calls(&device)?;
    copies(&device)?;
    sums_of_host_memory(&device)?;
    products_of_host_matrices(&device)
}

fn median_of(mut work: impl FnMut() -> Result) -> Result<Duration> {
    work()?;
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed());
    }
    times.sort();
    Ok(times[RUNS / 2])
}

/// A chain of reductions: an array and the places of the results.
struct Chain {
    x: Buffer<f32>,
    sum: Buffer<f32>,
}

impl Chain {
    fn new(device: &Device, elements: usize) -> Result<Self> {
        let x = device.upload(&vec![1.0; elements])?;
        let sum = device.zeros(1)?;
        Ok(Self { x, sum })
    }
}

/// The work of two chains of reductions, in one stream and in two.
fn two_chains(device: &Device) -> Result {
    let (elements, links) = match device.is_simulator() {
        true => (1 << 10, 2),
        false => (1 << 20, 400),
    };
    let other = device.new_stream()?;
    println!("\nTwo chains of {links} sums of {elements} f32:");
    let mut chains = [Chain::new(device, elements)?, Chain::new(&other, elements)?];
    let mut medians = Vec::new();
    for (name, second) in [
        ("one stream, one thread", device),
        ("two streams, one thread", &other),
    ] {
        let median = median_of(|| {
            let [one, two] = &mut chains;
            for _ in 0..links {
                device.reduce_sum_into(&one.x, &mut one.sum)?;
                second.reduce_sum_into(&two.x, &mut two.sum)?;
            }
            device.synchronize()?;
            Ok(second.synchronize()?)
        })?;
        medians.push((name, median));
    }
    let median = median_of(|| {
        let [one, two] = &mut chains;
        let chain = |stream: &Device, Chain { x, sum }: &mut Chain| -> tilewright::Result<()> {
            for _ in 0..links {
                stream.reduce_sum_into(&*x, &mut *sum)?;
            }
            stream.synchronize()
        };
        std::thread::scope(|scope| {
            let second = scope.spawn(|| chain(&other, two));
            chain(device, one)?;
            Ok(second.join().expect("no panic")?)
        })
    })?;
    medians.push(("two streams, two threads", median));
    let first = micros(medians[0].1);
    for (name, median) in medians {
        let median = micros(median);
        let each = median / f64::from(2 * links);
        println!(
            "  {name:<26} {median:9.1} us, {each:5.2} us a sum, {:.2} times as fast",
            first / median
        );
    }
    Ok(())
}

/// Small calls one by one, and as a graph.
fn small_calls(device: &Device) -> Result {
    const CALLS: usize = 20;
    let rounds = if device.is_simulator() { 1 } else { 50 };
    println!("\n{CALLS} sums of 1024 f32, {rounds} times:");
    let mut operands = (
        device.upload(&[1.0_f32; 1024])?,
        device.zeros::<f32>(CALLS)?,
    );
    let one_by_one = median_of(|| {
        let (x, sums) = &mut operands;
        for call in 0..rounds * CALLS {
            let place = call % CALLS;
            device.reduce_sum_into(&*x, sums.slice_mut(place..=place)?)?;
        }
        Ok(device.synchronize()?)
    })?;
    let mut graph = device.capture(operands, |stream, (x, mut sums)| {
        (0..CALLS)
            .try_for_each(|place| stream.reduce_sum_into(x.view(), sums.slice_mut(place..=place)?))
    })?;
    let mut host = Duration::ZERO;
    let as_graph = median_of(|| {
        let start = Instant::now();
        for _ in 0..rounds {
            graph.launch()?;
        }
        host = start.elapsed();
        graph.operands().1.to_vec()?;
        Ok(())
    })?;
    let each = |time| micros(time) / (rounds * CALLS) as f64;
    println!("  one by one  {:5.2} us a sum", each(one_by_one));
    println!(
        "  as a graph  {:5.2} us a sum; host time {:5.2} us",
        each(as_graph),
        each(host)
    );
    Ok(())
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn print_speed(name: &str, bytes: usize, time: Duration) {
    println!(
        "  {name:<40} {:6.1} GB/s",
        bytes as f64 / time.as_secs_f64() * 1e-9
    );
}

/// Copies of host memory to the device and back.
fn copies(device: &Device) -> Result {
    let bytes: usize = if device.is_simulator() {
        1 << 20
    } else {
        1 << 30
    };
    println!("\nCopies of {} MiB:", bytes >> 20);
    let mut plain = vec![1_u8; bytes];
    let mut pinned = device.pinned::<u8>(bytes)?;
    pinned.fill(2);
    let mut x = device.zeros::<u8>(bytes)?;
    let print = |name: &str, time: Duration| print_speed(name, bytes, time);
    // Copies of fewer bytes than this library divides among threads.
    let part = 15 << 20;
    print(
        "page-locked memory to the device",
        median_of(|| Ok(x.copy_from_slice(&pinned)?))?,
    );
    print(
        "a plain slice to the device",
        median_of(|| Ok(x.copy_from_slice(&plain)?))?,
    );
    print(
        "the same, by the driver alone",
        median_of(|| {
            for start in (0..bytes).step_by(part) {
                let range = start..bytes.min(start + part);
                x.slice_mut(range.clone())?.copy_from_slice(&plain[range])?;
            }
            Ok(())
        })?,
    );
    print(
        "the device to page-locked memory",
        median_of(|| Ok(x.copy_to_slice(&mut pinned)?))?,
    );
    print(
        "the device to a plain slice",
        median_of(|| Ok(x.copy_to_slice(&mut plain)?))?,
    );
    print(
        "the same, by the driver alone",
        median_of(|| {
            for start in (0..bytes).step_by(part) {
                let range = start..bytes.min(start + part);
                x.slice(range.clone())?.copy_to_slice(&mut plain[range])?;
            }
            Ok(())
        })?,
    );
    print(
        "the device to a new vector",
        median_of(|| {
            std::hint::black_box(x.to_vec()?);
            Ok(())
        })?,
    );
    Ok(())
}

/// Sums of host memory in chunks, beside a copy of the same memory to the device.
fn sums_of_host_memory(device: &Device) -> Result {
    let (elements, chunk): (usize, usize) = match device.is_simulator() {
        true => (1 << 16, 1 << 14),
        false => (1 << 30, 16 << 20),
    };
    let bytes = elements * size_of::<f32>();
    println!(
        "\nSums of {} KiB of f32 in host memory, in chunks of {} KiB:",
        bytes >> 10,
        (chunk * size_of::<f32>()) >> 10
    );
    let mut reducer = device.host_reducer(chunk)?;
    let mut x = device.uninit(elements)?;
    let mut pinned = device.pinned::<f32>(elements)?;
    pinned.fill(0.5);
    sum_beside_copy("page-locked memory", &pinned, &mut x, &mut reducer)?;
    drop(pinned);
    sum_beside_copy("a plain slice", &vec![0.5; elements], &mut x, &mut reducer)
}

fn sum_beside_copy(
    name: &str,
    host: &[f32],
    x: &mut Buffer<f32>,
    reducer: &mut HostReducer<f32>,
) -> Result {
    let bytes = size_of_val(host);
    let expected = host.len() as f32 * 0.5;
    let copied = median_of(|| Ok(x.copy_from_slice(host)?))?;
    print_speed(&format!("{name} to the device"), bytes, copied);
    let added = median_of(|| {
        assert_eq!(reducer.reduce(host, ops::Sum)?, expected);
        Ok(())
    })?;
    print_speed(&format!("the sum of {name}"), bytes, added);
    println!(
        "  {:<40} {:6.2}",
        "time of the copy / time of the sum",
        copied.div_duration_f64(added)
    );
    Ok(())
}

/// Products of host matrices in panels, beside the product of the same matrices on the device.
fn products_of_host_matrices(device: &Device) -> Result {
    let (side, memory): (usize, u64) = match device.is_simulator() {
        true => (160, 160 << 10),
        false => (24_576, 3 << 30),
    };
    println!(
        "\nProduct of {side}x{side} f32 in host memory, in panels of {} MiB in total:",
        memory >> 20
    );
    let elements = side * side;
    let value = |index: usize| (index % 31) as f32 - 15.0;
    let mut pinned = device.pinned::<f32>(elements)?;
    pinned
        .iter_mut()
        .zip(0..)
        .for_each(|(it, index)| *it = value(index));
    let plain = pinned.to_vec();
    let mut c = vec![0.0; elements];
    let expected = {
        let x = device.matrix((side, side), &pinned)?;
        let mut y = device.matrix_uninit((side, side))?;
        let time = median_of(|| {
            device.matmul_into(&x, &x, &mut y)?;
            Ok(device.synchronize()?)
        })?;
        print_product("the product on the device", side, time);
        y.to_vec()?
    };
    device.trim_memory(0)?;
    let mut multiplier = device.host_multiplier::<f32, f32>(memory)?;
    for (name, x) in [
        ("page-locked operands", &pinned[..]),
        ("plain slices", &plain),
    ] {
        let x = HostMatrix::new((side, side), x)?;
        let time = median_of(|| Ok(multiplier.multiply(x, x, &mut c)?))?;
        assert!(c == expected, "the bits of the product on the device");
        print_product(name, side, time);
    }
    Ok(())
}

fn print_product(name: &str, side: usize, time: Duration) {
    println!(
        "  {name:<40} {:8.1} ms {:6.1} TFLOP/s",
        time.as_secs_f64() * 1e3,
        2.0 * (side as f64).powi(3) / time.as_secs_f64() * 1e-12
    );
}
