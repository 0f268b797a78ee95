//! The sum ladder, and CUB.

use super::case::{Case, Ladder, Rate, Scale, Section, Title, Trial};
use crate::rivals::Rivals;
use crate::rivals::cub::Cub;
use crate::support::Outcome;
use std::rc::Rc;
use std::sync::OnceLock;
use tilewright::{Buffer, Device};
use tilewright_ladder::sum::{self, BLOCK_THREADS, Step, Sums};

pub const LADDER: Ladder = Ladder {
    name: "sum",
    title: "The sum of an array, from neighboured pairs to reduce_sum",
    sections,
};

fn sections(device: &Device) -> Outcome<Vec<Section>> {
    let mut cases: Vec<Case> = Step::ALL.into_iter().flat_map(cases_of).collect();
    let cub = Rivals::of_sums(device).cub;
    cases.extend(cub.map(case_of_cub));
    Ok(vec![Section {
        name: "steps",
        title: Title::new(|scale| {
            format!("Sum of 2^{} i32, each from 0 to 255", scale.pick(28, 16))
        }),
        rate: Rate::BytesPerSecond,
        parameter: "threads of a block",
        baseline: "",
        cases,
    }])
}

/// A case for each block size, or a single one for the step that chooses its own.
fn cases_of(step: Step) -> Vec<Case> {
    let info = step.info();
    let case = |block_threads| {
        Case::new(info.term, info.change, move |device, scale| {
            Ours::new(device, scale, step, block_threads)
        })
    };
    if step == Step::ReduceSum {
        return vec![case(BLOCK_THREADS[0])];
    }
    let with_parameter = |threads| case(threads).with_parameter(threads);
    BLOCK_THREADS.into_iter().map(with_parameter).collect()
}

fn case_of_cub(cub: Rc<Cub>) -> Case {
    let step = format!("CUB {}", cub.version());
    Case::new(step, "DeviceReduce::Sum", move |device, scale| {
        trial_of_cub(device, scale, &cub)
    })
    .uncounted()
}

struct Elements {
    data: Vec<i32>,
    sum: i64,
}

impl Elements {
    /// Values from 0 to 255, as in Professional CUDA C Programming.
    fn new(count: u32) -> Self {
        // Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4) of the indices.
        let element = |index: u32| (index.wrapping_mul(2_654_435_769) >> 24) as i32;
        let data: Vec<i32> = (0..count).map(element).collect();
        let sum = data.iter().copied().map(i64::from).sum();
        Self { data, sum }
    }

    /// The elements of all cases, created once.
    fn of(scale: Scale) -> &'static Self {
        static TIMED: OnceLock<Elements> = OnceLock::new();
        static COUNTED: OnceLock<Elements> = OnceLock::new();
        scale
            .pick(&TIMED, &COUNTED)
            .get_or_init(|| Self::new(scale.pick(1 << 28, 1 << 16)))
    }
}

fn check(found: i64, expected: i64) -> Outcome {
    if found == expected {
        return Ok(());
    }
    Err(format!("the sum is {found}, not {expected}").into())
}

/// A step of the ladder. Steps before the shuffles overwrite the array, so later launches add other
/// numbers, in the same time.
struct Ours {
    device: Device,
    step: Step,
    block_threads: u32,
    x: Buffer<i32>,
    sums: Sums,
    expected: i64,
}

impl Ours {
    fn new(device: &Device, scale: Scale, step: Step, block_threads: u32) -> Outcome<Self> {
        let Elements { data, sum } = Elements::of(scale);
        Ok(Self {
            device: device.clone(),
            step,
            block_threads,
            x: device.upload(data)?,
            sums: Sums::new(device, step, data.len(), block_threads)?,
            expected: *sum,
        })
    }
}

impl Trial for Ours {
    fn launch(&mut self) -> Outcome {
        let Self { x, sums, .. } = self;
        Ok(sum::launch(
            &self.device,
            self.step,
            x,
            sums,
            self.block_threads,
        )?)
    }

    fn check(&mut self) -> Outcome {
        check(self.sums.total()?, self.expected)
    }

    fn work(&self) -> f64 {
        size_of::<i32>() as f64 * self.x.len() as f64
    }
}

/// CUB's sum, in 64 bits like ours.
struct OfCub<F> {
    enqueue: F,
    result: Buffer<i64>,
    elements: usize,
    expected: i64,
}

fn trial_of_cub(device: &Device, scale: Scale, cub: &Cub) -> Outcome<impl Trial + use<>> {
    let Elements { data, sum } = Elements::of(scale);
    Ok(OfCub {
        enqueue: cub.sum(Rc::new(device.upload(data)?))?,
        result: device.zeros(1)?,
        elements: data.len(),
        expected: *sum,
    })
}

impl<F: FnMut(u64, &mut Buffer<i64>) -> Outcome> Trial for OfCub<F> {
    fn launch(&mut self) -> Outcome {
        (self.enqueue)(1, &mut self.result)
    }

    fn check(&mut self) -> Outcome {
        let found = self.result.to_vec()?;
        check(found[0], self.expected)
    }

    fn work(&self) -> f64 {
        size_of::<i32>() as f64 * self.elements as f64
    }
}
