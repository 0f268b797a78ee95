//! The histogram ladder, on uniform and on skewed data, and the divergence ladder.

use super::case::{Case, Ladder, Rate, Scale, Section, Title, Trial};
use crate::support::Outcome;
use std::cell::OnceCell;
use std::rc::Rc;
use tilewright::{Buffer, Device};
use tilewright_ladder::divergence;
use tilewright_ladder::histogram::{self, BINS, Step};

pub const LADDER: Ladder = Ladder {
    name: "histogram",
    title: "The histogram of bytes, from global atomics to private counters; a divergent branch",
    sections,
};

const BLOCK_THREADS: [u32; 3] = [256, 512, 1024];

fn sections(_device: &Device) -> Outcome<Vec<Section>> {
    Ok(vec![
        histograms("uniform", "bytes, each value equally often", uniform),
        histograms("skewed", "bytes, 15 of 16 the same", skewed),
        branches(),
    ])
}

fn histograms(name: &'static str, data: &str, element: fn(u32) -> u8) -> Section {
    let input = Rc::new(Input::new(element));
    let cases = Step::ALL.into_iter().flat_map(|step| {
        let info = step.info();
        BLOCK_THREADS.map(|threads| {
            let input = Rc::clone(&input);
            Case::new(info.term, info.change, move |device, scale| {
                Histogram::new(device, step, threads, input.of(scale))
            })
            .with_parameter(threads)
        })
    });
    Section {
        name,
        title: Title::new(|scale| format!("Histogram of 2^{} {data}", scale.pick(28, 18))),
        rate: Rate::ItemsPerSecond,
        parameter: "threads of a block",
        baseline: "",
        cases: cases.collect(),
    }
}

/// A hash of 32 bits (Stafford's variant 13 of MurmurHash3's finaliser, its upper half).
fn hash(index: u32) -> u32 {
    let mut bits = u64::from(index).wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (bits >> 32) as u32
}

fn uniform(index: u32) -> u8 {
    hash(index) as u8
}

fn skewed(index: u32) -> u8 {
    let bits = hash(index);
    if bits >> 8 & 15 == 0 { bits as u8 } else { 0 }
}

/// The bytes of a section's cases, created once.
struct Input {
    element: fn(u32) -> u8,
    timed: OnceCell<Rc<Bytes>>,
    counted: OnceCell<Rc<Bytes>>,
}

struct Bytes {
    data: Vec<u8>,
    /// The number of occurrences of each value, counted sequentially.
    counts: Vec<u32>,
}

impl Input {
    const fn new(element: fn(u32) -> u8) -> Self {
        Self {
            element,
            timed: OnceCell::new(),
            counted: OnceCell::new(),
        }
    }

    fn of(&self, scale: Scale) -> Rc<Bytes> {
        let make = || Rc::new(Bytes::new(self.element, scale.pick(1 << 28, 1 << 18)));
        Rc::clone(scale.pick(&self.timed, &self.counted).get_or_init(make))
    }
}

impl Bytes {
    fn new(element: fn(u32) -> u8, count: u32) -> Self {
        let data: Vec<u8> = (0..count).map(element).collect();
        let mut counts = vec![0; BINS];
        for &value in &data {
            counts[usize::from(value)] += 1;
        }
        Self { data, counts }
    }
}

struct Histogram {
    device: Device,
    step: Step,
    block_threads: u32,
    x: Buffer<u8>,
    bins: Buffer<u32>,
    input: Rc<Bytes>,
}

impl Histogram {
    fn new(device: &Device, step: Step, block_threads: u32, input: Rc<Bytes>) -> Outcome<Self> {
        Ok(Self {
            device: device.clone(),
            step,
            block_threads,
            x: device.upload(&input.data)?,
            bins: device.zeros(BINS)?,
            input,
        })
    }
}

impl Trial for Histogram {
    fn launch(&mut self) -> Outcome {
        let Self { x, bins, .. } = self;
        Ok(histogram::launch(
            &self.device,
            self.step,
            x,
            bins,
            self.block_threads,
        )?)
    }

    fn check(&mut self) -> Outcome {
        if self.bins.to_vec()? == self.input.counts {
            return Ok(());
        }
        Err("the counts are wrong".into())
    }

    fn work(&self) -> f64 {
        self.x.len() as f64
    }
}

fn branches() -> Section {
    let cases = divergence::Step::ALL.into_iter().flat_map(|step| {
        let info = step.info();
        BLOCK_THREADS.map(|threads| {
            Case::new(info.term, info.change, move |device, scale| {
                Branch::new(device, scale, step, threads)
            })
            .with_parameter(threads)
        })
    });
    Section {
        name: "divergence",
        title: Title::new(|scale| {
            let (rounds, exponent) = (divergence::ROUNDS, scale.pick(24, 12));
            format!("{rounds} multiply-adds for each of 2^{exponent} f32, on one of two paths")
        }),
        rate: Rate::FlopsPerSecond,
        parameter: "threads of a block",
        baseline: "",
        cases: cases.collect(),
    }
}

struct Branch {
    device: Device,
    step: divergence::Step,
    block_threads: u32,
    data: Vec<f32>,
    x: Buffer<f32>,
    y: Buffer<f32>,
}

impl Branch {
    fn new(
        device: &Device,
        scale: Scale,
        step: divergence::Step,
        block_threads: u32,
    ) -> Outcome<Self> {
        // From 0 to 1.
        let number = |index| (hash(index) >> 8) as f32 / (1 << 24) as f32;
        let data: Vec<f32> = (0..scale.pick(1 << 24, 1 << 12)).map(number).collect();
        Ok(Self {
            device: device.clone(),
            step,
            block_threads,
            x: device.upload(&data)?,
            y: device.zeros(data.len())?,
            data,
        })
    }

    /// The reference result for an element.
    fn expected(&self, index: usize) -> f32 {
        let width = self.device.properties().warp_threads as usize;
        let mut value = self.data[index];
        for _ in 0..divergence::ROUNDS {
            value = if index % width < width / 2 {
                value.mul_add(1.0 + 1.0 / 1024.0, 1.0 / 1024.0)
            } else {
                value.mul_add(-value, 1.5)
            };
        }
        value
    }
}

impl Trial for Branch {
    fn launch(&mut self) -> Outcome {
        let Self { x, y, .. } = self;
        Ok(divergence::launch(
            &self.device,
            self.step,
            x,
            y,
            self.block_threads,
        )?)
    }

    /// Checks every element of a small array, or every 1021st, a prime, of a large one.
    fn check(&mut self) -> Outcome {
        let found = self.y.to_vec()?;
        let step = if found.len() > 1 << 16 { 1021 } else { 1 };
        for index in (0..found.len()).step_by(step) {
            let expected = self.expected(index);
            if found[index] != expected {
                let found = found[index];
                return Err(format!("element {index} is {found}, not {expected}").into());
            }
        }
        Ok(())
    }

    fn work(&self) -> f64 {
        2.0 * f64::from(divergence::ROUNDS) * self.data.len() as f64
    }
}
