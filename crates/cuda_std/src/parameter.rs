//! The types of kernel parameters. `#[kernel]` checks them both in the GPU's entry and in the host's descriptor,
//! because a name may stand for different types there.

use crate::global::{
    Global, GlobalAtomic, GlobalMatrix, GlobalMatrixMut, GlobalMut, View, ViewKind,
};
use crate::grid_constant::{ByValue, GridConstant};
use crate::texture::{Texture, Texture1d, Texture2d};
use bytemuck::{AnyBitPattern, NoUninit};

/// Maximum bytes of one parameter, which is every GPU's minimum for all parameters (PTX ISA 9.0,
/// "Kernel Function Parameters").
const MAX_PARAM_BYTES: usize = 4096;

/// A parameter passed by value: a number, a `bool`, or plain data of at most 4096 bytes.
///
/// Plain data is an array of numbers, or a struct of them that is [`bytemuck::Pod`](crate::bytemuck::Pod):
/// `#[repr(C)]`, without padding, and valid for any bytes. The value is the same for the whole grid.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// A line, and whether the values are clamped.
/// #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
/// #[repr(C)]
/// pub struct Line {
///     slope: f32,
///     offset: f32,
/// }
///
/// /// `y[i] = slope * i + offset`, between the limits if they hold.
/// #[kernel]
/// pub fn draw(line: Line, limits: [f32; 2], clamped: bool, y: GlobalMut<f32>) {
///     let i = thread::unique_index();
///     let value = line.slope.mul_add(i.get() as f32, line.offset);
///     let value = if clamped { value.max(limits[0]).min(limits[1]) } else { value };
///     if let Some(y) = y.own(i) {
///         y.set(value);
///     }
/// }
/// ```
///
/// In PTX a number is a parameter of its type. Everything else is an aligned block of bytes in parameter memory, from
/// which the kernel reads what it uses.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel parameter",
    label = "the host cannot pass this type to a kernel",
    note = "values are numbers, `bool`, and arrays and structs of plain data: \
            `#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)] #[repr(C)]`, without padding",
    note = "a view is written as `Global<..>` or `GlobalMut<..>`, not by another name"
)]
pub trait ValueParam: NoUninit + Send + Sync {}
#[diagnostic::do_not_recommend]
impl<T: NoUninit + Send + Sync> ValueParam for T {}

/// A value passed as one PTX parameter of its type: a number of at most 64 bits, or a `bool`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scalar",
    label = "`#[kernel]` recognises scalars by this name"
)]
pub trait ScalarParam: ValueParam + sealed::Scalar {
    /// A letter for the type of its bits: `b` for `bool`, `u` and `i` for integers, `f` for IEEE 754 numbers, `g` for
    /// [`bf16`](half::bf16).
    #[doc(hidden)]
    const KIND: u8;
}

macro_rules! scalar_params {
    ($($kind:literal: $($scalar:ty),*;)*) => {$($(
        impl sealed::Scalar for $scalar {}
        impl ScalarParam for $scalar {
            const KIND: u8 = $kind;
        }
    )*)*};
}
scalar_params!(
    b'b': bool;
    b'u': u8, u16, u32, u64, usize;
    b'i': i8, i16, i32, i64, isize;
    b'f': f32, f64, half::f16;
    b'g': half::bf16;
);

/// A value passed as a block of bytes in parameter memory. Any bytes are valid, because the type may differ between
/// host and GPU, through an alias or a field under a `cfg`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel parameter: not all bytes are valid values of it",
    label = "not plain data (`bytemuck::Pod`)",
    note = "arrays and structs of numbers are plain data, with `#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)] \
            #[repr(C)]`; a flag in them is a number, and a `bool` a parameter of its own"
)]
#[doc(hidden)]
pub trait BlockParam: ValueParam + AnyBitPattern {}
#[diagnostic::do_not_recommend]
impl<T: ValueParam + AnyBitPattern> BlockParam for T {}

mod sealed {
    pub trait Scalar {}
}

/// Compiles only for types that `#[kernel]` passes as scalars. Another type with a scalar's name
/// would arrive as garbage.
pub const fn assert_scalar<T: ScalarParam>() {}

/// Compiles only for the view that the parameter's name states, passed as a pointer and lengths.
pub const fn assert_view<T: View>(kind: ViewKind) {
    assert!(
        T::KIND as u8 == kind as u8,
        "`#[kernel]` recognises views by name, and this name stands for another view"
    );
}

/// Compiles only for types that `#[kernel]` passes as a block of bytes by reference.
pub const fn assert_grid_constant<T: ByValue>() {
    assert_size(size_of::<T::Value>());
}

/// Compiles only for types that `#[kernel]` passes as a block of bytes by value.
pub const fn assert_block<T: BlockParam>() {
    assert_size(size_of::<T>());
}

const fn assert_size(bytes: usize) {
    assert!(bytes > 0, "a parameter has at least one byte");
    assert!(
        bytes <= MAX_PARAM_BYTES,
        "a kernel's parameters have at most 4096 bytes"
    );
}

/// Compiles only for a texture with the dimensions that the parameter's name states, passed as its
/// handle.
pub const fn assert_texture<T: Texture>(dimensions: usize) {
    assert!(
        T::DIMENSIONS == dimensions,
        "`#[kernel]` recognises textures by name, and this name stands for the other texture"
    );
}

/// A parameter that ends with its launch: its own lifetime is `'launch`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not end with its launch",
    label = "this name stands for a type with another lifetime"
)]
pub trait InLaunch<'launch> {}

macro_rules! in_launch {
    ($($view:ident)*) => {$(
        impl<'launch, T> InLaunch<'launch> for $view<'launch, T> {}
    )*};
}
in_launch!(Global GlobalMut GlobalAtomic GlobalMatrix GlobalMatrixMut GridConstant);
impl<'launch> InLaunch<'launch> for Texture1d<'launch> {}
impl<'launch> InLaunch<'launch> for Texture2d<'launch> {}

/// Compiles only for parameters that end with the launch `'launch`.
pub const fn assert_in_launch<'launch, T: InLaunch<'launch>>() {}
