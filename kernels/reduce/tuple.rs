//! Several reductions of one read: a tuple of operations is an operation.

use super::operation::Reduction;
use bytemuck::{Pod, Zeroable};
use cuda_std::prelude::*;
use cuda_std::warp::Exchange;

macro_rules! tuples {
    ($($values:ident: $($type:ident $number:tt $left:ident $right:ident),*;)*) => {$(
        /// The accumulators or the results of a tuple of operations: values side by side, without padding.
        ///
        /// [`get`](Self::get) returns them as a tuple.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        #[repr(C, packed)]
        pub struct $values<$($type),*>($($type),*);

        // SAFETY: all zeros are a value of each field.
        unsafe impl<$($type: Zeroable),*> Zeroable for $values<$($type),*> {}

        // SAFETY: every field is plain data, and there is no padding: the struct is packed.
        unsafe impl<$($type: Pod),*> Pod for $values<$($type),*> {}

        impl<$($type: Copy),*> $values<$($type),*> {
            /// The values of a tuple.
            #[inline(always)]
            #[must_use]
            pub const fn new($($left: $type),*) -> Self {
                Self($($left),*)
            }

            /// The values as a tuple.
            #[inline(always)]
            #[must_use]
            pub const fn get(self) -> ($($type,)*) {
                ($(self.$number,)*)
            }
        }

        impl<$($type: Exchange),*> Exchange for $values<$($type),*> {
            #[inline(always)]
            #[track_caller]
            fn exchange_xor(self, mask: LaneMask, lanes: u32) -> Self {
                let ($($left,)*) = self.get();
                Self::new($($left.exchange_xor(mask, lanes)),*)
            }
        }

        /// All operations, of one read of the elements. The results are those of each operation alone, bit for bit.
        impl<Element: Pod, $($type: Reduction<Element>),*> Reduction<Element> for ($($type,)*) {
            type Accumulator = $values<$($type::Accumulator),*>;
            type Output = $values<$($type::Output),*>;
            const IDENTITY: Self::Accumulator = $values::new($($type::IDENTITY),*);
            const NEEDS_AN_ELEMENT: bool = $($type::NEEDS_AN_ELEMENT)||*;
            const IS_TOTAL: bool = $($type::IS_TOTAL)&&*;

            #[inline(always)]
            fn lift(element: Element, index: usize) -> Self::Accumulator {
                $values::new($($type::lift(element, index)),*)
            }

            #[inline(always)]
            fn combine(left: Self::Accumulator, right: Self::Accumulator) -> Self::Accumulator {
                let (($($left,)*), ($($right,)*)) = (left.get(), right.get());
                $values::new($($type::combine($left, $right)),*)
            }

            #[inline(always)]
            fn finish(total: Self::Accumulator, elements: usize) -> Self::Output {
                let ($($left,)*) = total.get();
                $values::new($($type::finish($left, elements)),*)
            }

            fn with_place(
                partial: Self::Accumulator,
                place: impl Fn(usize) -> usize,
            ) -> Self::Accumulator {
                let ($($left,)*) = partial.get();
                $values::new($($type::with_place($left, &place)),*)
            }
        }
    )*};
}
tuples! {
    Values2: A 0 a0 b0, B 1 a1 b1;
    Values3: A 0 a0 b0, B 1 a1 b1, C 2 a2 b2;
    Values4: A 0 a0 b0, B 1 a1 b1, C 2 a2 b2, D 3 a3 b3;
}
