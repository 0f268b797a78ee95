//! Sections on registers, shared and constant memory.

use super::super::case::{Case, Scale};
use super::work::{CHECKED, Copied, Work, bytes, compare, indices};
use crate::support::Outcome;
use tilewright::{Buffer, Device};
use tilewright_ladder::memory::{
    self, ARRAY_ELEMENTS, Array, BANKS, Constants, DIVERGING_STEP, PART, Shared, TABLE_ELEMENTS,
};

struct Rounds {
    device: Device,
    array: Array,
    rounds: u32,
    x: Buffer<u32>,
    y: Buffer<u32>,
}

pub fn arrays() -> Vec<Case> {
    let cases = Array::ALL.map(|array| {
        let prepare = move |device: &Device, scale: Scale| {
            let (threads, rounds) = scale.pick((1 << 20, 64), (1 << 10, 4));
            let x: Vec<u32> = (0..threads).collect();
            Ok(Work {
                work: f64::from(threads) * f64::from(rounds) * ARRAY_ELEMENTS as f64,
                state: Rounds {
                    device: device.clone(),
                    array,
                    rounds,
                    y: device.zeros(x.len())?,
                    x: device.upload(&x)?,
                },
                launch: |it| {
                    memory::array_rounds(&it.device, it.array, it.rounds, &it.x, &mut it.y)
                },
                check: |it| {
                    let places = (0..it.x.len()).step_by(CHECKED);
                    let rounds = it.rounds;
                    let expected = places.map(|place| (place, sum_of_rounds(place as u32, rounds)));
                    compare(&it.y.to_vec()?, expected)
                },
            })
        };
        Case::new(array.info().term, array.info().change, prepare)
    });
    cases.into()
}

fn sum_of_rounds(x: u32, rounds: u32) -> u32 {
    let mut state: Vec<u32> = (0..ARRAY_ELEMENTS as u32).map(|k| x + k).collect();
    let mut sum = 0_u32;
    for _ in 0..rounds {
        for element in &mut state {
            sum = sum.wrapping_mul(5).wrapping_add(*element);
            *element = sum;
        }
    }
    sum
}

pub fn shared() -> Vec<Case> {
    let cases = Shared::ALL.map(|kind| {
        let prepare = move |device: &Device, scale: Scale| {
            let elements = scale.pick(1 << 26, 1 << 14);
            Ok(Work {
                work: 2.0 * bytes::<f32>(elements),
                state: Copied {
                    device: device.clone(),
                    kind,
                    x: device.upload(&indices(elements))?,
                    y: device.zeros(elements)?,
                },
                launch: |it| memory::reverse_parts(&it.device, it.kind, &it.x, &mut it.y),
                check: |it| {
                    let x = indices(it.x.len());
                    let mirrored = |place| place / PART * PART + PART - 1 - place % PART;
                    let expected = (0..x.len()).map(|place| (place, x[mirrored(place)]));
                    compare(&it.y.to_vec()?, expected)
                },
            })
        };
        Case::new(kind.info().term, kind.info().change, prepare)
    });
    cases.into()
}

struct Loads<K> {
    device: Device,
    kind: K,
    rounds: u32,
    y: Buffer<u32>,
}

impl<K> Loads<K> {
    fn new(device: &Device, scale: Scale, kind: K) -> tilewright::Result<Self> {
        let (threads, rounds) = scale.pick((1 << 18, 512), (256, 32));
        Ok(Self {
            device: device.clone(),
            kind,
            rounds,
            y: device.zeros(threads)?,
        })
    }

    fn work(&self) -> f64 {
        self.y.len() as f64 * f64::from(self.rounds)
    }

    /// Compares the sums with those of `value` over all rounds. Lane `l` begins at `l * step`.
    fn check(&self, step: u32, value: fn(u32) -> u32) -> Outcome {
        let sum_of = |lane: u32| {
            (0..self.rounds).fold(0_u32, |sum, round| {
                sum.wrapping_add(value(lane * step + round))
            })
        };
        let sums: Vec<u32> = (0..32).map(sum_of).collect();
        let expected = (0..self.y.len()).map(|place| (place, sums[place % 32]));
        compare(&self.y.to_vec()?, expected)
    }
}

pub fn banks() -> Vec<Case> {
    let cases = (1..=BANKS).map(|stride| {
        let prepare = move |device: &Device, scale: Scale| {
            let state = Loads::new(device, scale, stride)?;
            Ok(Work {
                work: state.work(),
                state,
                launch: |it| memory::read_banks(&it.device, it.kind, it.rounds, &mut it.y),
                check: |it| it.check(it.kind, |place| 7 * (place % 1024)),
            })
        };
        let change = match stride {
            1 => "lanes read neighbouring words",
            _ => "lanes read words further apart",
        };
        Case::new(format!("stride {stride}"), change, prepare)
    });
    cases.collect()
}

/// The values that the host writes to constant memory.
fn table_value(place: u32) -> u32 {
    (place % TABLE_ELEMENTS as u32).wrapping_mul(2_654_435_761)
}

pub fn constants() -> Vec<Case> {
    let cases = Constants::ALL.map(|kind| {
        let prepare = move |device: &Device, scale: Scale| {
            let table: Vec<u32> = (0..TABLE_ELEMENTS as u32).map(table_value).collect();
            memory::write_table(device, &table)?;
            let state = Loads::new(device, scale, kind)?;
            Ok(Work {
                work: state.work(),
                state,
                launch: |it| memory::read_table(&it.device, it.kind, it.rounds, &mut it.y),
                check: |it| match it.kind {
                    Constants::Uniform => it.check(0, table_value),
                    _ => it.check(DIVERGING_STEP, table_value),
                },
            })
        };
        Case::new(kind.info().term, kind.info().change, prepare)
    });
    cases.into()
}
