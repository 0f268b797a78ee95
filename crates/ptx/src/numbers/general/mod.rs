//! What less usual instructions compute: with `.ftz`, `.sat`, `.relu`, of packed numbers, and approximations.
//!
//! Their functions are put together when a kernel is decoded. A plain instruction has a function pointer, which is
//! faster.

mod approximate;
mod arithmetic;
mod bits;
mod compare;
mod convert;
mod format;
mod video;

pub(crate) use arithmetic::arithmetic;
pub(crate) use bits::{bit_field, dot_product_of_halves};
pub(crate) use compare::{select_by_sign, set, test_number};
pub(crate) use convert::convert;
pub(crate) use video::video;

use std::fmt;
use std::sync::Arc;

/// A function of slots, which returns a slot.
#[derive(Clone)]
pub(crate) struct General(Arc<dyn Fn(&[u64]) -> u64 + Send + Sync>);

impl General {
    pub fn new(function: impl Fn(&[u64]) -> u64 + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    #[inline]
    pub fn call(&self, operands: &[u64]) -> u64 {
        (self.0)(operands)
    }

    /// The same for each of two numbers in a word, of `bits` bits each.
    fn of_pairs(self, bits: u32) -> Self {
        Self::new(move |words| {
            let lane = |shift: u32| {
                let mut operands = [0; 4];
                for (operand, word) in operands.iter_mut().zip(words) {
                    *operand = word >> shift & super::mask(bits);
                }
                self.call(&operands[..words.len()])
            };
            lane(0) | lane(bits) << bits
        })
    }
}

impl fmt::Debug for General {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("General")
    }
}
