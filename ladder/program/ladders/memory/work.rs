//! A launch to measure, with its check.

use super::super::case::Trial;
use crate::support::Outcome;
use tilewright::{Buffer, Device};

/// A launch that can be repeated, with its check.
pub struct Work<S> {
    pub state: S,
    pub work: f64,
    pub launch: fn(&mut S) -> tilewright::Result<()>,
    pub check: fn(&mut S) -> Outcome,
}

impl<S> Trial for Work<S> {
    fn launch(&mut self) -> Outcome {
        Ok((self.launch)(&mut self.state)?)
    }

    fn check(&mut self) -> Outcome {
        (self.check)(&mut self.state)
    }

    fn work(&self) -> f64 {
        self.work
    }
}

/// Fails at the first unexpected result.
pub fn compare<T: PartialEq + std::fmt::Debug>(
    results: &[T],
    expected: impl IntoIterator<Item = (usize, T)>,
) -> Outcome {
    for (place, expected) in expected {
        if results[place] != expected {
            let found = &results[place];
            return Err(format!("element {place} is {found:?}, not {expected:?}").into());
        }
    }
    Ok(())
}

/// The interval of compared results, if the expected ones are slow to compute.
pub const CHECKED: usize = 97;

/// Elements with their index as value, small enough to be exact.
pub fn indices(len: usize) -> Vec<f32> {
    (0..len).map(|i| (i % (1 << 20)) as f32).collect()
}

pub struct Copied<K> {
    pub device: Device,
    pub kind: K,
    pub x: Buffer<f32>,
    pub y: Buffer<f32>,
}

pub fn bytes<T>(elements: usize) -> f64 {
    (elements * size_of::<T>()) as f64
}
