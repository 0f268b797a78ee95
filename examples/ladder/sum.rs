//! The ladder of the sum.

use super::case::{Case, Ladder, Rate, Scale, Section, Trial};
use super::support::Outcome;
use tilewright::ladder::sum::{self, Step};
use tilewright::{Buffer, Device};

pub const LADDER: Ladder = Ladder {
    name: "sum",
    title: "The sum of an array, from neighboured pairs to reduce_sum",
    sections,
};

const BLOCK_THREADS: [u32; 5] = [64, 128, 256, 512, 1024];

fn sections(_device: &Device) -> Outcome<Vec<Section>> {
    let cases = Step::ALL.into_iter().flat_map(|step| {
        let info = step.info();
        BLOCK_THREADS.map(|threads| {
            let prepare =
                move |device: &Device, scale: Scale| Sum::new(device, scale, step, threads);
            Case::new(info.term, info.change, prepare).with_parameter(threads)
        })
    });
    Ok(vec![Section {
        name: "steps",
        title: "Sum of 2^28 i32, each from 0 to 255".to_owned(),
        rate: Rate::BytesPerSecond,
        parameter: "threads of a block",
        baseline: "",
        cases: cases.collect(),
    }])
}

struct Sum {
    device: Device,
    step: Step,
    block_threads: u32,
    x: Buffer<i32>,
    partials: Buffer<i32>,
    expected: i64,
}

impl Sum {
    fn new(device: &Device, scale: Scale, step: Step, block_threads: u32) -> Outcome<Self> {
        let elements = scale.pick(1 << 28, 1 << 16);
        let data: Vec<i32> = (0..elements)
            .map(|i: u32| ((i.wrapping_mul(2_654_435_761)) >> 24) as i32)
            .collect();
        Ok(Self {
            device: device.clone(),
            step,
            block_threads,
            expected: data.iter().copied().map(i64::from).sum(),
            partials: device.zeros(step.blocks(data.len(), block_threads) as usize)?,
            x: device.upload(&data)?,
        })
    }
}

impl Trial for Sum {
    fn launch(&mut self) -> Outcome {
        let Self {
            device,
            step,
            x,
            partials,
            block_threads,
            ..
        } = self;
        Ok(sum::launch(device, *step, x, partials, *block_threads)?)
    }

    fn check(&mut self) -> Outcome {
        let partials = self.partials.to_vec()?;
        let sum: i64 = partials.into_iter().map(i64::from).sum();
        if sum == self.expected {
            return Ok(());
        }
        Err(format!("the sum is {sum}, not {}", self.expected).into())
    }

    fn work(&self) -> f64 {
        size_of::<i32>() as f64 * self.x.len() as f64
    }
}
