//! How parameters cross from the host to a PTX entry.

use crate::global::{Global, GlobalAtomic, GlobalMatrix, GlobalMatrixMut, GlobalMut};
use crate::global::{View, ViewKind};
use crate::grid_constant::{ByValue, GridConstant};
use crate::texture::{Texture, Texture1d, Texture2d};
use bytemuck::{NoUninit, Pod};
use core::ffi::c_void;
use core::marker::PhantomData;
use core::{ptr, slice};

/// Most PTX parameters of an entry: `#[kernel]` takes 16 parameters, and a matrix is four in PTX.
const MAX_ENTRY_PARAMS: usize = 64;

/// Most bytes of one parameter: those that every GPU has for all of them (PTX ISA 9.0, "Kernel
/// Function Parameters").
const MAX_PARAM_BYTES: usize = 4096;

/// The arguments of one launch in the order in which the PTX entry declares its parameters, as the
/// driver takes them: the address of each.
///
/// A view is two, its address and its length in elements, or four, a matrix's address, rows, columns
/// and leading dimension; all else is one. Each has the size and
/// the bytes that the entry declares, on a little-endian host with 64 bits, as the GPU is. Nothing is
/// copied: the addresses lead into the tuple of parameters, or to what it borrows.
#[derive(Clone, Debug)]
pub struct EntryParams<'a> {
    addresses: [*const c_void; MAX_ENTRY_PARAMS],
    bytes: [usize; MAX_ENTRY_PARAMS],
    len: usize,
    params: PhantomData<&'a ()>,
}

impl<'a> EntryParams<'a> {
    /// The tuple `params` as PTX parameters.
    #[must_use]
    pub fn of<P: KernelParams>(params: &'a P) -> Self {
        let mut entry = Self {
            addresses: [ptr::null(); MAX_ENTRY_PARAMS],
            bytes: [0; MAX_ENTRY_PARAMS],
            len: 0,
            params: PhantomData,
        };
        params.push_to(&mut entry);
        entry
    }

    /// The address of each PTX parameter.
    #[must_use]
    pub fn addresses(&self) -> &[*const c_void] {
        &self.addresses[..self.len]
    }

    /// The bytes of each PTX parameter.
    pub fn bytes(&self) -> impl Iterator<Item = &'a [u8]> {
        let sizes = self.bytes[..self.len].iter();
        self.addresses().iter().zip(sizes).map(|(address, bytes)| {
            // SAFETY: `push` took the address of a value without padding that is borrowed for 'a.
            unsafe { slice::from_raw_parts(address.cast(), *bytes) }
        })
    }

    /// Adds a PTX parameter, without padding: a scalar, an address or a `Pod`.
    fn push<T>(&mut self, value: &'a T) {
        self.addresses[self.len] = ptr::from_ref(value).cast();
        self.bytes[self.len] = size_of::<T>();
        self.len += 1;
    }
}

/// One parameter of a kernel: a value, a view of global memory, a block of bytes, or a texture.
///
/// # Safety
/// 1. `push_to` pushes exactly what `#[kernel]` declares for a parameter of this type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the parameter of a kernel",
    label = "this type does not cross from the host to a kernel",
    note = "parameters are numbers, `bool`, arrays and structs of plain data (`bytemuck::NoUninit`), \
            `Global<T>`, `GlobalMut<T>`, `GlobalAtomic<T>`, `GlobalMatrix<T>`, `GlobalMatrixMut<T>` \
            and `GridConstant<T>` of plain data `T`, `Texture1d` and `Texture2d`"
)]
pub unsafe trait KernelParam: Copy {
    /// Appends the parameter to `entry`.
    fn push_to<'a>(&'a self, entry: &mut EntryParams<'a>);
}

/// A tuple of kernel parameters. This crate alone implements it.
pub trait KernelParams: Copy + sealed::KernelParams {
    /// Appends all parameters, in order, to `entry`.
    fn push_to<'a>(&'a self, entry: &mut EntryParams<'a>);
}

/// A value that the host gives to a kernel, the same for the whole grid: a number, a `bool`, an
/// array of numbers, or a struct of them whose bytes are all initialised
/// ([`bytemuck::NoUninit`](crate::bytemuck::NoUninit): `#[repr(C)]`, without padding), of at most
/// 4096 bytes.
///
/// ```
/// use cuda_std::prelude::*;
///
/// /// A line, and whether the values are clamped.
/// #[derive(Clone, Copy, bytemuck::NoUninit)]
/// #[repr(C)]
/// pub struct Line {
///     slope: f32,
///     offset: f32,
/// }
///
/// /// `y[i] = slope * i + offset`, between the limits if they hold.
/// #[kernel]
/// pub fn draw(line: Line, limits: [f32; 2], clamped: bool, y: GlobalMut<f32>) {
///     let i = thread::own_index();
///     let value = line.slope.mul_add(i.get() as f32, line.offset);
///     let value = if clamped { value.max(limits[0]).min(limits[1]) } else { value };
///     if let Some(y) = y.own(i) {
///         y.set(value);
///     }
/// }
/// ```
///
/// In PTX a number is a parameter of its type, and everything else an aligned block of bytes in
/// parameter memory, from which the kernel reads what it uses.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the parameter of a kernel",
    label = "this type does not cross from the host to a kernel",
    note = "values are numbers, `bool`, and arrays and structs of plain data: \
            `#[derive(Clone, Copy, bytemuck::NoUninit)] #[repr(C)]`, without padding",
    note = "a view is written as `Global<..>` or `GlobalMut<..>`, not by another name"
)]
pub trait ValueParam: NoUninit + Send + Sync {}
#[diagnostic::do_not_recommend]
impl<T: NoUninit + Send + Sync> ValueParam for T {}

// SAFETY: (1) a value is one PTX parameter of its own size and alignment.
#[diagnostic::do_not_recommend]
unsafe impl<T: ValueParam> KernelParam for T {
    fn push_to<'a>(&'a self, entry: &mut EntryParams<'a>) {
        entry.push(self);
    }
}

/// A value that is one PTX parameter of its own type: a number of at most 64 bits, or a `bool`. This crate alone
/// implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scalar",
    label = "`#[kernel]` takes this for a scalar by its name"
)]
pub trait ScalarParam: ValueParam + sealed::ScalarParam {}

mod sealed {
    pub trait KernelParams {}
    pub trait ScalarParam {}
}

macro_rules! scalar_params {
    ($($scalar:ty),*) => {$(
        impl sealed::ScalarParam for $scalar {}
        impl ScalarParam for $scalar {}
    )*};
}
scalar_params!(
    bool,
    u8,
    i8,
    u16,
    i16,
    u32,
    i32,
    u64,
    i64,
    usize,
    isize,
    f32,
    f64,
    half::f16,
    half::bf16
);

macro_rules! view_params {
    ($($view:ident)*) => {$(
        // SAFETY: (1) a view is declared as a pointer and a length of 64 bits.
        unsafe impl<T: Pod + Send + Sync> KernelParam for $view<'_, T> {
            fn push_to<'a>(&'a self, entry: &mut EntryParams<'a>) {
                let (base, len) = self.parts();
                entry.push(base);
                entry.push(len);
            }
        }
    )*};
}
view_params!(Global GlobalMut GlobalAtomic);

macro_rules! matrix_params {
    ($($view:ident)*) => {$(
        // SAFETY: (1) a matrix is declared as a pointer and three numbers of 64 bits.
        unsafe impl<T: Pod + Send + Sync> KernelParam for $view<'_, T> {
            fn push_to<'a>(&'a self, entry: &mut EntryParams<'a>) {
                let (base, lengths) = self.parts();
                entry.push(base);
                for length in lengths {
                    entry.push(length);
                }
            }
        }
    )*};
}
matrix_params!(GlobalMatrix GlobalMatrixMut);

// SAFETY: (1) it is declared as one parameter with the size and the alignment of `T`.
unsafe impl<T: Pod + Send + Sync> KernelParam for GridConstant<'_, T> {
    fn push_to<'a>(&'a self, entry: &mut EntryParams<'a>) {
        entry.push(&**self);
    }
}

macro_rules! texture_params {
    ($($texture:ident)*) => {$(
        // SAFETY: (1) a texture is declared as its handle, a number of 64 bits: all that it is.
        unsafe impl KernelParam for $texture<'_> {
            fn push_to<'a>(&'a self, entry: &mut EntryParams<'a>) {
                entry.push(self);
            }
        }
    )*};
}
texture_params!(Texture1d Texture2d);

/// Compiles only for the parameters that `#[kernel]` passes as scalars: another type of a scalar's
/// name would be one of them, and arrive as garbage.
#[doc(hidden)]
pub const fn assert_scalar<T: ScalarParam>() {}

/// Compiles only for the parameters that `#[kernel]` passes as a pointer and lengths: the view that
/// the name says.
#[doc(hidden)]
pub const fn assert_view<T: View>(kind: ViewKind) {
    assert!(
        T::KIND as u8 == kind as u8,
        "`#[kernel]` knows views by their names, and this name stands for another view"
    );
}

/// Compiles only for the parameters that `#[kernel]` passes as a block of bytes, by a reference.
#[doc(hidden)]
pub const fn assert_grid_constant<T: ByValue>() {
    assert_size(size_of::<T::Value>());
}

/// Compiles only for the parameters that `#[kernel]` passes as a block of bytes, by value.
#[doc(hidden)]
pub const fn assert_block<T: ValueParam>() {
    assert_size(size_of::<T>());
}

const fn assert_size(bytes: usize) {
    assert!(bytes > 0, "a parameter has at least one byte");
    assert!(
        bytes <= MAX_PARAM_BYTES,
        "a kernel's parameters have at most 4096 bytes"
    );
}

/// Compiles only for the parameters that `#[kernel]` passes as a texture's handle: a texture of as
/// many dimensions as its name says.
#[doc(hidden)]
pub const fn assert_texture<T: Texture>(dimensions: usize) {
    assert!(
        T::DIMENSIONS == dimensions,
        "`#[kernel]` knows textures by their names, and this name stands for the other texture"
    );
}

macro_rules! tuple_params {
    ($($name:ident),*) => {
        impl<$($name: KernelParam),*> sealed::KernelParams for ($($name,)*) {}

        impl<$($name: KernelParam),*> KernelParams for ($($name,)*) {
            #[allow(non_snake_case, unused_variables)]
            fn push_to<'a>(&'a self, entry: &mut EntryParams<'a>) {
                let ($($name,)*) = self;
                $($name.push_to(entry);)*
            }
        }
    };
}
tuple_params!();
tuple_params!(A);
tuple_params!(A, B);
tuple_params!(A, B, C);
tuple_params!(A, B, C, D);
tuple_params!(A, B, C, D, E);
tuple_params!(A, B, C, D, E, F);
tuple_params!(A, B, C, D, E, F, G);
tuple_params!(A, B, C, D, E, F, G, H);
tuple_params!(A, B, C, D, E, F, G, H, I);
tuple_params!(A, B, C, D, E, F, G, H, I, J);
tuple_params!(A, B, C, D, E, F, G, H, I, J, K);
tuple_params!(A, B, C, D, E, F, G, H, I, J, K, L);
tuple_params!(A, B, C, D, E, F, G, H, I, J, K, L, M);
tuple_params!(A, B, C, D, E, F, G, H, I, J, K, L, M, N);
tuple_params!(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O);
tuple_params!(A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P);
