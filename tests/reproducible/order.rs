//! The same bits for every order and every division.

use crate::common::random::Random;
use crate::common::{devices, machines};
use crate::sample::{Exact, KINDS, Kind, assert_same, expected, shuffle, state_on, sum_on};
use crate::samples::tile;
use half::{bf16, f16};
use tilewright::{Device, ReproducibleSum};

for_each_type! {
    [f32 f64 f16 bf16]
    a_thousand_permutations_give_the_same_bits
    a_thousand_divisions_give_the_same_bits
    every_machine_gives_the_same_words
    orders_of_several_blocks_give_the_same_bits
}

const TRIALS: usize = 1000;

/// Whether `device` takes part in a trial: the simulator, which is slow, in some.
fn takes_part(device: &Device, trial: usize) -> bool {
    !device.is_simulator() || trial.is_multiple_of(50)
}

fn a_thousand_permutations_give_the_same_bits<T: Exact>() {
    let devices = devices();
    for (number, kind) in KINDS.into_iter().enumerate() {
        let mut random = Random::new(20 + number as u64);
        let mut data = kind.samples::<T>(200 + number, number as u64);
        let state = data.iter().copied().collect::<ReproducibleSum<T>>();
        assert_same(state.value(), expected(&data));
        for trial in 0..TRIALS {
            shuffle(&mut data, &mut random);
            assert_eq!(data.iter().copied().collect::<ReproducibleSum<T>>(), state);
            for device in devices.iter().filter(|device| takes_part(device, trial)) {
                assert_eq!(state_on(device, &data), state, "{kind:?}, {device:?}");
            }
        }
    }
}

fn a_thousand_divisions_give_the_same_bits<T: Exact>() {
    let devices = devices();
    for (number, kind) in KINDS.into_iter().enumerate() {
        let mut random = Random::new(30 + number as u64);
        let data = kind.samples::<T>(300 + number, number as u64);
        let whole = data.iter().copied().collect::<ReproducibleSum<T>>();
        for trial in 0..TRIALS {
            let mut parts: Vec<&[T]> = divided(&data, &mut random);
            shuffle(&mut parts, &mut random);
            let mut sum = ReproducibleSum::new();
            for (part, elements) in parts.into_iter().enumerate() {
                let device = &devices[part % devices.len()];
                if part % 2 == 0 && takes_part(device, trial) {
                    sum.merge(&state_on(device, elements));
                } else {
                    sum.extend(elements.iter().copied());
                }
            }
            assert_eq!(sum, whole, "{kind:?}");
        }
    }
}

/// `data` cut at up to nine places, some of them the same.
fn divided<'a, T>(data: &'a [T], random: &mut Random) -> Vec<&'a [T]> {
    let cuts = random.integer(0..=9);
    let mut places: Vec<usize> = (0..cuts)
        .map(|_| random.integer(0..=data.len() as i64) as usize)
        .collect();
    places.push(data.len());
    places.sort_unstable();
    let starts = [0].into_iter().chain(places.iter().copied());
    starts
        .zip(&places)
        .map(|(start, &end)| &data[start..end])
        .collect()
}

fn every_machine_gives_the_same_words<T: Exact>() {
    for kind in KINDS {
        let data = kind.samples::<T>(5 * tile::<T>() + 11, 4);
        let state = data.iter().copied().collect::<ReproducibleSum<T>>();
        for machine in machines() {
            assert_eq!(state_on(&machine, &data), state, "{kind:?}, {machine:?}");
        }
    }
}

fn orders_of_several_blocks_give_the_same_bits<T: Exact>() {
    let mut random = Random::new(5);
    for kind in [Kind::Ordinary, Kind::Outliers, Kind::Cancelling] {
        let mut data = kind.samples::<T>(3 * tile::<T>() + 5, 6);
        let sum = expected(&data);
        for device in devices() {
            for _ in 0..3 {
                shuffle(&mut data, &mut random);
                assert_same(sum_on(&device, &data), sum);
            }
            data.reverse();
            assert_same(sum_on(&device, &data), sum);
        }
    }
}
