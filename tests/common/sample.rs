//! Data of reductions, in all element types.

use half::{bf16, f16};
use std::fmt::Debug;
use tilewright::Element;
use tilewright_test_support::random::Random;

/// Elements of a tile of a reduction.
pub const fn tile<T>() -> usize {
    16 * 1024 / size_of::<T>()
}

/// An element type with numbers of many magnitudes.
pub trait Sample: Element + Debug {
    fn of(value: f64) -> Self;
}

macro_rules! samples {
    ($($element:ident: $of:expr;)*) => {$(
        impl Sample for $element {
            fn of(value: f64) -> Self {
                $of(value)
            }
        }
    )*};
}
samples! {
    f32: |value| value as f32;
    f64: |value| value;
    f16: f16::from_f64;
    bf16: bf16::from_f64;
    i32: |value| value as i32;
    u32: |value: f64| value.abs() as u32;
    i64: |value| value as i64;
    u64: |value: f64| value.abs() as u64;
    u8: |value: f64| u8::from(value > 0.0);
}

pub fn data<T: Sample>(len: usize) -> Vec<T> {
    let mut random = Random::new(len as u64);
    (0..len).map(|_| T::of(1000.0 * random.wide())).collect()
}
