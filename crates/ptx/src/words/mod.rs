//! The modifiers of instructions, as types.
//!
//! A modifier is the text between two dots. Each set of alternatives is an enum; an instruction has one of them at a
//! place, or an `Option` of it.

mod arithmetic;
mod copies;
mod memory;
mod shape;
mod synchronisation;
mod types;

pub use arithmetic::{
    Absolute, Accumulate, Accuracy, Carry, CombinePredicate, Comparison, FlushSubnormal,
    FunnelShift, Half, NotANumber, PermuteMode, Rectify, Rounding, Saturate, SaturateFinite,
    ShiftAmount, ShiftRange, SignXor, TestProperty,
};
pub use copies::{
    BulkCompletion, BulkGroup, CacheHint, CopyCache, Dimensions, GlobalTarget, LoadMode, Multicast,
    NoIncrement, PolicyPriority, ReadOnlyWait, TensorMapPrefetch, ToShared,
};
pub use memory::{
    AtomicOperation, Cache, FirstLevel, Memory, NoFlush, NonCoherent, Order, Prefetch,
    PrefetchLevel, Scope, SecondLevel, To, Vector,
};
pub use shape::{MatrixShape, WarpgroupShape};
pub use synchronisation::{
    Aligned, BarrierScope, BarrierStep, ClusterStep, DependentStep, Expect, FenceLevel, FenceOrder,
    MatchMode, MatrixCount, MatrixLayout, MatrixTarget, NoComplete, Parity, ProxyKind, Reduce,
    RegisterStep, ShuffleMode, Sync, Transposed, Uniform, VoteMode,
};
pub use types::Type;

use std::fmt;

/// The dotted words of an instruction that are left to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a, 'b>(pub &'b [&'a str]);

impl<'a> Words<'a, '_> {
    /// Takes the next word if `read` accepts it.
    pub fn take<T>(&mut self, read: impl FnOnce(&'a str) -> Option<T>) -> Option<T> {
        let (first, rest) = self.0.split_first()?;
        let value = read(first)?;
        self.0 = rest;
        Some(value)
    }
}

/// The value of one place among an instruction's modifiers.
pub(crate) trait Field: Sized {
    /// Takes it from the words; none if it is missing and required.
    fn take(words: &mut Words<'_, '_>) -> Option<Self>;

    /// Writes it, with its dot.
    fn put(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result;

    #[cfg(test)]
    fn any() -> proptest::strategy::BoxedStrategy<Self>;
}

impl<T: Field + fmt::Debug + Clone + 'static> Field for Option<T> {
    fn take(words: &mut Words<'_, '_>) -> Option<Self> {
        Some(T::take(words))
    }

    fn put(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().map_or(Ok(()), |it| it.put(formatter))
    }

    #[cfg(test)]
    fn any() -> proptest::strategy::BoxedStrategy<Self> {
        use proptest::strategy::Strategy;
        proptest::option::of(T::any()).boxed()
    }
}

/// Defines alternatives, each with its text in PTX, behind `$dot`.
macro_rules! texts {
    ($dot:literal, $(#[$about:meta])* $name:ident { $($variant:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum $name {
            $(#[doc = concat!("`", $dot, $text, "`")] $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The text, without a dot.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }
        }
    };
}
pub(crate) use texts;

/// Defines sets of alternative modifiers, each with its text.
macro_rules! words {
    ($($(#[$about:meta])* $name:ident { $($variant:ident = $text:literal,)* })*) => {$(
        $crate::words::texts! { ".", $(#[$about])* $name { $($variant = $text,)* } }

        impl $name {
            /// The one with this text, which has no dot.
            #[must_use]
            pub fn of_text(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl $crate::words::Field for $name {
            fn take(words: &mut $crate::words::Words<'_, '_>) -> Option<Self> {
                words.take(Self::of_text)
            }

            fn put(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(formatter, ".{}", self.text())
            }

            #[cfg(test)]
            fn any() -> proptest::strategy::BoxedStrategy<Self> {
                use proptest::strategy::Strategy;
                proptest::sample::select(Self::ALL).boxed()
            }
        }
    )*};
}
pub(crate) use words;
