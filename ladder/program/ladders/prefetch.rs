//! The prefetch ladder: speed-up by distance, with and without a barrier in the loop.

use super::case::{Case, Ladder, Rate, Scale, Section, Title, Trial};
use crate::support::Outcome;
use std::cell::OnceCell;
use std::rc::Rc;
use tilewright::{Buffer, Device};
use tilewright_ladder::prefetch::{self, Variant, Workload};

pub const LADDER: Ladder = Ladder {
    name: "prefetch",
    title: "Prefetching in a loop that waits for memory, from L2 to asynchronous copies",
    sections,
};

/// Threads of a block. One block per multiprocessor has two warps for each of the four schedulers:
/// too few to hide the latency of memory.
const BLOCK_THREADS: u32 = 256;

/// The work per element: one exponential function.
const GENERATIONS: u32 = 1;

fn sections(device: &Device) -> Outcome<Vec<Section>> {
    let inputs = Rc::new(Inputs::new(device));
    Ok(vec![
        section("synced", "a barrier in each round", true, &inputs),
        section("free", "no barrier", false, &inputs),
    ])
}

fn section(name: &'static str, title: &str, is_synced: bool, inputs: &Rc<Inputs>) -> Section {
    let cases = Variant::ALL.into_iter().flat_map(|variant| {
        let case = move |distance| case(Rc::clone(inputs), variant, distance, is_synced);
        variant.distances().into_iter().map(case)
    });
    Section {
        name,
        title: Title::new(|scale| {
            let exponent = scale.pick(26, 14);
            format!("An exponential function for each of 2^{exponent} f64, {title}")
        }),
        rate: Rate::ItemsPerSecond,
        parameter: "distance",
        baseline: "",
        cases: cases.collect(),
    }
}

fn case(inputs: Rc<Inputs>, variant: Variant, distance: u32, is_synced: bool) -> Case {
    let info = variant.info();
    let case = Case::new(info.term, info.change, move |device, scale| {
        Prefetch::new(device, variant, distance, inputs.of(scale, is_synced))
    });
    match variant {
        Variant::Baseline => case,
        _ => case.with_parameter(distance),
    }
}

/// The elements of all cases, created once.
struct Inputs {
    multiprocessors: u32,
    timed: OnceCell<Rc<Elements>>,
    counted: OnceCell<Rc<Elements>>,
}

struct Elements {
    values: Vec<f64>,
    /// The elements on the timed device. Nothing writes them.
    uploaded: OnceCell<(Device, Rc<Buffer<f64>>)>,
    /// The expected sums of every variant.
    expected: Vec<f64>,
}

impl Inputs {
    fn new(device: &Device) -> Self {
        Self {
            multiprocessors: device.properties().multiprocessors,
            timed: OnceCell::new(),
            counted: OnceCell::new(),
        }
    }

    fn of(&self, scale: Scale, is_synced: bool) -> (Workload, Rc<Elements>) {
        let workload = Workload {
            generations: GENERATIONS,
            blocks: scale.pick(self.multiprocessors, 2),
            block_threads: BLOCK_THREADS,
            is_synced,
        };
        let make = || Rc::new(Elements::new(workload, scale.pick(1 << 26, 1 << 14)));
        let elements = scale.pick(&self.timed, &self.counted).get_or_init(make);
        (workload, Rc::clone(elements))
    }
}

impl Elements {
    fn new(workload: Workload, count: u32) -> Self {
        // From 0 to 2, unsorted.
        let values: Vec<f64> = (0..count)
            .map(|i| f64::from(i.wrapping_mul(2_654_435_761)) / f64::from(1_u32 << 31))
            .collect();
        Self {
            expected: workload.sums(&values),
            values,
            uploaded: OnceCell::new(),
        }
    }

    /// The elements on `device`, in one buffer for all cases.
    fn on(&self, device: &Device) -> Outcome<Rc<Buffer<f64>>> {
        if let Some((owner, buffer)) = self.uploaded.get()
            && owner.is_same(device)
        {
            return Ok(Rc::clone(buffer));
        }
        let buffer = Rc::new(device.upload(&self.values)?);
        // Keeps the first device, which is the timed one, if any.
        let _ = self.uploaded.set((device.clone(), Rc::clone(&buffer)));
        Ok(buffer)
    }
}

struct Prefetch {
    device: Device,
    variant: Variant,
    distance: u32,
    workload: Workload,
    elements: Rc<Elements>,
    x: Rc<Buffer<f64>>,
    sums: Buffer<f64>,
}

impl Prefetch {
    fn new(
        device: &Device,
        variant: Variant,
        distance: u32,
        (workload, elements): (Workload, Rc<Elements>),
    ) -> Outcome<Self> {
        Ok(Self {
            device: device.clone(),
            variant,
            distance,
            workload,
            x: elements.on(device)?,
            elements,
            sums: device.zeros(workload.threads())?,
        })
    }
}

impl Trial for Prefetch {
    fn launch(&mut self) -> Outcome {
        Ok(prefetch::launch(
            &self.device,
            self.variant,
            self.distance,
            self.workload,
            &self.x,
            &mut self.sums,
        )?)
    }

    fn check(&mut self) -> Outcome {
        if self.sums.to_vec()? == self.elements.expected {
            return Ok(());
        }
        Err("the sums are not those of the plain loop".into())
    }

    fn work(&self) -> f64 {
        self.elements.values.len() as f64
    }
}
