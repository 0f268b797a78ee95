//! Masks: 0 is false, any other byte is true.

use crate::reduce::operation::Reduction;

/// The number of true bytes in a mask.
#[derive(Clone, Copy, Debug)]
pub struct Count;

/// 1 if any byte of a mask is true, otherwise 0.
#[derive(Clone, Copy, Debug)]
pub struct Any;

/// 1 if every byte of a mask is true, otherwise 0.
#[derive(Clone, Copy, Debug)]
pub struct All;

macro_rules! masks {
    ($($operation:ident: $accumulator:ty => $output:ty, $identity:literal, $combine:expr;)*) => {$(
        impl Reduction<u8> for $operation {
            type Accumulator = $accumulator;
            type Output = $output;
            const IDENTITY: $accumulator = $identity;
            const IS_TOTAL: bool = true;

            #[inline(always)]
            fn lift(element: u8, _index: usize) -> $accumulator {
                <$accumulator>::from(element != 0)
            }

            #[inline(always)]
            fn combine(left: $accumulator, right: $accumulator) -> $accumulator {
                $combine(left, right)
            }

            #[inline(always)]
            fn finish(total: $accumulator, _elements: usize) -> $output {
                total as $output
            }
        }
    )*};
}
masks! {
    Count: u64 => u64, 0, core::ops::Add::add;
    Any: u32 => u8, 0, core::ops::BitOr::bitor;
    All: u32 => u8, 1, core::ops::BitAnd::bitand;
}
