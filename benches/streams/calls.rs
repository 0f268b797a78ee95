//! Calls in one stream and in two, as a graph, and what they cost the host.

use crate::common::Result;
use crate::common::host_time::{HostTimes, of_submissions};
use crate::rivals::driver::Driver;
use crate::times::{median_of, micros};
use std::sync::Barrier;
use std::time::{Duration, Instant};
use tilewright::{Buffer, Device};

/// The host's time of warm calls, beside the driver's launch alone. The driver's context is current.
pub fn host_times(device: &Device) -> Result {
    println!("\nHost time of calls that submit work:");
    let batches = if device.is_simulator() { 1 } else { 40 };
    let print = |name: &str, times: HostTimes| {
        println!("  {name:<40} {:6.2} us", times.median as f64 * 1e-3);
    };
    let x = device.upload(&[1.0_f32; 1024])?;
    let mut sum = device.zeros::<f32>(1)?;
    let a = device.matrix((64, 64), &[1.0_f32; 64 * 64])?;
    let mut c = device.matrix_zeros::<f32>((64, 64))?;
    device.with_current(|| -> Result {
        if !device.is_simulator() {
            let driver = Driver::open(device)?;
            let times = of_submissions(device, batches, || driver.launch())?;
            print("the driver's launch alone", times);
            let times = of_submissions(device, batches, || driver.launch_overlapping())?;
            print("the same, with a product's attribute", times);
        }
        let times = of_submissions(
            device,
            batches,
            || Ok(device.reduce_sum_into(&x, &mut sum)?),
        )?;
        print("reduce_sum_into of 1024 f32", times);
        let times = of_submissions(device, batches, || Ok(device.matmul_into(&a, &a, &mut c)?))?;
        print("matmul_into of 64x64 f32", times);
        Ok(())
    })?
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

/// The work of two chains of reductions, in one stream and in two. The driver's context is current in each thread.
pub fn two_chains(device: &Device) -> Result {
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
        let median = device.with_current(|| {
            median_of(|| {
                let [one, two] = &mut chains;
                for _ in 0..links {
                    device.reduce_sum_into(&one.x, &mut one.sum)?;
                    second.reduce_sum_into(&two.x, &mut two.sum)?;
                }
                device.synchronize()?;
                Ok(second.synchronize()?)
            })
        })??;
        medians.push((name, median));
    }
    let median = median_of(|| {
        let [one, two] = &mut chains;
        let chain = |stream: &Device, Chain { x, sum }: &mut Chain| -> tilewright::Result<()> {
            stream.with_current(|| {
                for _ in 0..links {
                    stream.reduce_sum_into(&*x, &mut *sum)?;
                }
                stream.synchronize()
            })?
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
        print_chains(name, links, median, first);
    }
    if !device.is_simulator() {
        let alone = launches_alone([device, &other], links)?;
        print_chains("the driver's launches alone", links, alone, first);
    }
    Ok(())
}

fn print_chains(name: &str, links: u32, time: Duration, first: f64) {
    let micros = micros(time);
    let each = micros / f64::from(2 * links);
    println!(
        "  {name:<28} {micros:9.1} us, {each:5.2} us a sum, {:.2} times as fast",
        first / micros
    );
}

/// The time in which two threads launch as many kernels that do nothing: what the driver leaves of two streams.
fn launches_alone(devices: [&Device; 2], links: u32) -> Result<Duration> {
    let start = Barrier::new(2);
    let launches = |device: &Device| -> std::result::Result<Duration, String> {
        let driver = Driver::open(device).map_err(|error| error.to_string());
        let timed = device.with_current(|| {
            start.wait();
            let driver = driver?;
            let begin = Instant::now();
            for _ in 0..links {
                driver.launch().map_err(|error| error.to_string())?;
            }
            device.synchronize().map_err(|error| error.to_string())?;
            Ok(begin.elapsed())
        });
        timed.map_err(|error| error.to_string())?
    };
    let [one, other] = devices;
    std::thread::scope(|scope| {
        let second = scope.spawn(|| launches(other));
        let first = launches(one)?;
        Ok(first.max(second.join().expect("no panic")?))
    })
}

/// Small calls one by one, and as a graph.
pub fn small_calls(device: &Device) -> Result {
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
