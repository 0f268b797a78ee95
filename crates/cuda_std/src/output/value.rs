//! Values of a printed line.

use half::{bf16, f16};

/// A value's type, by which the host formats its bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(super) enum Kind {
    /// 0 means no value.
    Bool = 1,
    Char,
    U8,
    U16,
    U32,
    U64,
    I8,
    I16,
    I32,
    I64,
    F32,
    F64,
}

#[cfg(not(target_arch = "nvptx64"))]
impl Kind {
    const ALL: [Self; 12] = [
        Self::Bool,
        Self::Char,
        Self::U8,
        Self::U16,
        Self::U32,
        Self::U64,
        Self::I8,
        Self::I16,
        Self::I32,
        Self::I64,
        Self::F32,
        Self::F64,
    ];

    /// The kind with this number, if there is one.
    pub(super) fn of_number(number: u8) -> Option<Self> {
        let place = usize::from(number).checked_sub(1)?;
        Self::ALL.get(place).copied()
    }
}

/// A number, a `bool` or a `char` to print.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    pub(super) kind: Kind,
    /// The bits. Signed integers are sign-extended.
    pub(super) bits: u64,
}

impl Value {
    /// The value to print.
    #[inline(always)]
    #[must_use]
    pub fn of<T: Printable>(value: &T) -> Self {
        value.value()
    }
}

/// Types that [`gpu_println!`](crate::gpu_println) prints: numbers, `bool` and `char`, and references to them. f16 and
/// bf16 are printed as the f32 of the same value.
pub trait Printable: sealed::Printable {
    #[doc(hidden)]
    fn value(&self) -> Value;
}

mod sealed {
    pub trait Printable {}
}

/// As `{self}` in a method is.
impl<T: Printable> Printable for &T {
    #[inline(always)]
    fn value(&self) -> Value {
        (*self).value()
    }
}

impl<T: Printable> sealed::Printable for &T {}

macro_rules! printable {
    ($($ty:ty = $kind:ident, $value:ident => $bits:expr;)*) => {$(
        impl sealed::Printable for $ty {}

        impl Printable for $ty {
            #[inline(always)]
            fn value(&self) -> Value {
                let $value = *self;
                Value { kind: Kind::$kind, bits: $bits }
            }
        }
    )*};
}
printable! {
    bool = Bool, value => u64::from(value);
    char = Char, value => u64::from(u32::from(value));
    u8 = U8, value => u64::from(value);
    u16 = U16, value => u64::from(value);
    u32 = U32, value => u64::from(value);
    u64 = U64, value => value;
    usize = U64, value => value as u64;
    i8 = I8, value => i64::from(value) as u64;
    i16 = I16, value => i64::from(value) as u64;
    i32 = I32, value => i64::from(value) as u64;
    i64 = I64, value => value as u64;
    isize = I64, value => value as u64;
    f32 = F32, value => u64::from(value.to_bits());
    f64 = F64, value => value.to_bits();
    f16 = F32, value => u64::from(f32::from(value).to_bits());
    bf16 = F32, value => u64::from(f32::from(value).to_bits());
}
