//! Numbers in slots.

use std::fmt;
use std::sync::Arc;

/// The most operands of a [`General`].
pub(crate) const MOST_OPERANDS: usize = 4;

/// A function of slots, which returns a slot.
#[derive(Clone, Debug)]
pub(crate) enum Function {
    Unary(fn(u64) -> u64),
    Binary(fn(u64, u64) -> u64),
    Ternary(fn(u64, u64, u64) -> u64),
    Quaternary(fn([u64; 4]) -> u64),
    General(General),
}

/// A function that was put together for an instruction.
#[derive(Clone)]
pub(crate) struct General {
    function: Arc<Closure>,
    least: usize,
    most: usize,
}

type Closure = dyn Fn(&[u64]) -> u64 + Send + Sync;

impl General {
    /// A function of `count` operands.
    pub fn new(count: usize, function: impl Fn(&[u64]) -> u64 + Send + Sync + 'static) -> Self {
        Self::of_some((count, count), function)
    }

    /// A function of a number of operands in this range, whose end is at most [`MOST_OPERANDS`].
    pub fn of_some(
        (least, most): (usize, usize),
        function: impl Fn(&[u64]) -> u64 + Send + Sync + 'static,
    ) -> Self {
        Self {
            function: Arc::new(function),
            least,
            most: most.min(MOST_OPERANDS),
        }
    }

    /// This function, changed by `change`, with the same number of operands.
    pub fn changed<F: Fn(&[u64]) -> u64 + Send + Sync + 'static>(
        self,
        change: impl FnOnce(Self) -> F,
    ) -> Self {
        let counts = (self.least, self.most);
        Self::of_some(counts, change(self))
    }

    /// Whether it accepts this number of operands.
    pub fn takes(&self, count: usize) -> bool {
        (self.least..=self.most).contains(&count)
    }

    #[inline]
    pub fn call(&self, operands: &[u64]) -> u64 {
        (self.function)(operands)
    }

    /// The same for each of two numbers in a word, of `bits` bits each.
    pub fn of_pairs(self, bits: u32) -> Self {
        self.changed(|one| {
            move |words: &[u64]| {
                let lane = |shift: u32| {
                    let mut operands = [0; MOST_OPERANDS];
                    for (operand, word) in operands.iter_mut().zip(words) {
                        *operand = word >> shift & mask(bits);
                    }
                    one.call(&operands[..words.len()])
                };
                lane(0) | lane(bits) << bits
            }
        })
    }
}

impl fmt::Debug for General {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("General")
    }
}

/// A number in a slot.
pub(crate) trait Number: Copy {
    fn of(slot: u64) -> Self;
    fn slot(self) -> u64;
}

macro_rules! numbers {
    ($($number:ty as $unsigned:ty;)*) => {$(
        impl Number for $number {
            #[inline(always)]
            fn of(slot: u64) -> Self {
                slot as Self
            }

            #[inline(always)]
            fn slot(self) -> u64 {
                self as $unsigned as u64
            }
        }
    )*};
}

numbers! {
    u8 as u8;
    u16 as u16;
    u32 as u32;
    u64 as u64;
    i8 as u8;
    i16 as u16;
    i32 as u32;
    i64 as u64;
}

impl Number for f32 {
    #[inline(always)]
    fn of(slot: u64) -> Self {
        Self::from_bits(slot as u32)
    }

    /// A NaN is the canonical one (PTX ISA, "Floating-Point Instructions").
    #[inline(always)]
    fn slot(self) -> u64 {
        match self.is_nan() {
            true => 0x7fff_ffff,
            false => u64::from(self.to_bits()),
        }
    }
}

/// An f32 whose subnormal values are zeros of their sign.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Flushed(pub f32);

impl Number for Flushed {
    fn of(slot: u64) -> Self {
        let value = f32::of(slot);
        match value.is_subnormal() {
            true => Self(0.0_f32.copysign(value)),
            false => Self(value),
        }
    }

    fn slot(self) -> u64 {
        match self.0.is_subnormal() {
            true => 0.0_f32.copysign(self.0).slot(),
            false => self.0.slot(),
        }
    }
}

impl Number for f64 {
    #[inline(always)]
    fn of(slot: u64) -> Self {
        Self::from_bits(slot)
    }

    #[inline(always)]
    fn slot(self) -> u64 {
        self.to_bits()
    }
}

macro_rules! halves {
    ($($half:ident)*) => {$(
        impl Number for half::$half {
            #[inline(always)]
            fn of(slot: u64) -> Self {
                Self::from_bits(slot as u16)
            }

            #[inline(always)]
            fn slot(self) -> u64 {
                match self.is_nan() {
                    true => 0x7fff,
                    false => u64::from(self.to_bits()),
                }
            }
        }
    )*};
}
halves!(f16 bf16);

/// `value` as an f32 from which f16 and bf16 are rounded as from `value`: towards zero, with an odd last bit unless it is
/// exact. `half` drops bits of an f64.
pub(crate) fn odd(value: f64) -> f32 {
    let near = value as f32;
    let exact = f64::from(near);
    if exact == value || value.is_nan() {
        return near;
    }
    let bits = near.to_bits();
    let toward_zero = match exact.abs() > value.abs() {
        true => bits - 1,
        false => bits,
    };
    f32::from_bits(toward_zero | 1)
}

/// The bits of a type's width.
pub(crate) fn mask(bits: u32) -> u64 {
    match bits {
        64.. => u64::MAX,
        bits => (1 << bits) - 1,
    }
}
