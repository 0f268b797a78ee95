//! Masks: bytes of which 0 is false and all else is true.

use crate::reduce::operation::Reduction;

/// How many bytes of a mask are true.
#[derive(Clone, Copy, Debug)]
pub struct Count;

/// 1 if a byte of a mask is true, 0 if none is.
#[derive(Clone, Copy, Debug)]
pub struct Any;

/// 1 if every byte of a mask is true, 0 if one is not.
#[derive(Clone, Copy, Debug)]
pub struct All;

macro_rules! masks {
    ($($operation:ident: $accumulator:ty => $output:ty, $identity:literal, $combine:expr;)*) => {$(
        impl Reduction<u8> for $operation {
            type Accumulator = $accumulator;
            type Output = $output;
            const IDENTITY: $accumulator = $identity;

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
