//! Reductions of whole buffers, scans of buffers, runs of keys and largest elements.

use crate::cases::{Case, Cases, bytes};
use crate::numbers::{Number, numbers};
use half::{bf16, f16};
use tilewright::{Device, ReduceElement, Result, ops};
use tilewright_kernels::{
    for_each_pair_reduction, for_each_reduction, for_each_reproducible_sum, for_each_row_scan,
    for_each_scan, for_each_sum, for_each_top_k,
};

/// Elements of a buffer: more than a block of some kernels takes at a time, and no multiple of a vector.
const ELEMENTS: usize = 3001;

pub fn cases() -> Vec<Case> {
    let mut cases = Cases::new();
    sums(&mut cases);
    whole(&mut cases);
    pairs(&mut cases);
    reproducible(&mut cases);
    scans(&mut cases);
    scans_by(&mut cases);
    top_k(&mut cases);
    keys::<u8>(&mut cases);
    keys::<u16>(&mut cases);
    keys::<u32>(&mut cases);
    keys::<u64>(&mut cases);
    cases.finish()
}

/// The sum of a buffer from an element on: unaligned ones have a kernel of their own.
fn sum_from<T: ReduceElement + Number>(device: &Device, first: usize) -> Result<Vec<u8>> {
    let x = device.upload(&numbers::<T>(ELEMENTS))?;
    Ok(bytes(&[device.reduce_sum(x.slice(first..)?)?]))
}

macro_rules! sums {
    ($($kernel:ident, $unaligned:ident: sum of $element:ident in $sum:ident;)*) => {
        fn sums(cases: &mut Cases) {$(
            cases.add(stringify!($kernel), |device| sum_from::<$element>(device, 0));
            cases.add(stringify!($unaligned), |device| sum_from::<$element>(device, 1));
        )*}
    };
}
for_each_sum!(sums);

macro_rules! whole {
    ($($kernel:ident: $operation:ident of $element:ident;)*) => {
        fn whole(cases: &mut Cases) {$(
            cases.add(stringify!($kernel), |device| {
                let x = device.upload(&numbers::<$element>(ELEMENTS))?;
                Ok(bytes(&[device.reduce(&x, ops::$operation)?]))
            });
        )*}
    };
}
for_each_reduction!(whole);

macro_rules! pairs {
    ($($kernel:ident: $operation:ident of $element:ident;)*) => {
        fn pairs(cases: &mut Cases) {$(
            cases.add(stringify!($kernel), |device| {
                let x = device.upload(&numbers::<$element>(ELEMENTS))?;
                Ok(bytes(&[device.reduce_dot(&x, &x)?]))
            });
        )*}
    };
}
for_each_pair_reduction!(pairs);

macro_rules! reproducible {
    ($($kernel:ident: sum of $element:ident in $sum:ident, $bins:literal bins, $blocks:literal blocks;)*) => {
        fn reproducible(cases: &mut Cases) {$(
            cases.add(stringify!($kernel), |device| {
                let x = device.upload(&numbers::<$element>(ELEMENTS))?;
                Ok(bytes(&[device.reduce_sum_reproducible(&x)?]))
            });
        )*}
    };
}
for_each_reproducible_sum!(reproducible);

macro_rules! scans {
    ($($element:ident: $inclusive:ident, $exclusive:ident;)*) => {
        fn scans(cases: &mut Cases) {$(
            cases.add(stringify!($inclusive), |device| {
                let x = device.upload(&numbers::<$element>(ELEMENTS))?;
                let both = [device.scan_inclusive(&x)?, device.scan_exclusive(&x)?];
                Ok([bytes(&both[0].to_vec()?), bytes(&both[1].to_vec()?)].concat())
            });
        )*}
    };
}
for_each_scan!(scans);

macro_rules! scans_by {
    ($($operation:ident, $name:ident of $element:ident: $kernel:ident at $blocks:literal blocks;)*) => {
        fn scans_by(cases: &mut Cases) {$(
            cases.add(stringify!($kernel), |device| {
                let x = device.matrix((3, ELEMENTS / 3), &numbers::<$element>(ELEMENTS / 3 * 3))?;
                Ok(bytes(&device.scan_rows_inclusive(&x, ops::$name)?.to_vec()?))
            });
        )*}
    };
}
for_each_row_scan!(scans_by);

macro_rules! top_k {
    ($($element:ident: $kernel:ident;)*) => {
        fn top_k(cases: &mut Cases) {$(
            cases.add(stringify!($kernel), |device| {
                let (values, places) = device.top_k(&device.upload(&numbers::<$element>(ELEMENTS))?, 9)?;
                Ok([bytes(&values.to_vec()?), bytes(&places.to_vec()?)].concat())
            });
        )*}
    };
}
for_each_top_k!(top_k);

/// Sums of the runs of equal keys.
fn keys<K: Number>(cases: &mut Cases) {
    cases.add("runs of keys", |device| {
        let of_runs: Vec<K> = (0..600).map(|it| K::of((it / 7 % 5) as f32)).collect();
        let x = device.upload(&numbers::<f32>(600))?;
        let (keys, sums) = device.reduce_by_key(&device.upload(&of_runs)?, &x, ops::Sum)?;
        Ok([bytes(&keys.to_vec()?), bytes(&sums.to_vec()?)].concat())
    });
}
