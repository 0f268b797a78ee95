//! Passing parameters from the host to a PTX entry.

use crate::global::{Global, GlobalAtomic, GlobalMatrix, GlobalMatrixMut, GlobalMut};
use crate::grid_constant::GridConstant;
use crate::parameter::ValueParam;
use crate::texture::{Texture1d, Texture2d};
use bytemuck::Pod;
use core::ffi::c_void;
use core::marker::PhantomData;
use core::{fmt, ptr, slice};

/// Maximum PTX parameters of an entry: `#[kernel]` takes 16 parameters, and a matrix is four in
/// PTX.
const MAX_ENTRY_PARAMS: usize = 64;

/// Addresses of a launch's arguments, in the order of the PTX entry's parameters, as the driver takes them.
///
/// A view is two parameters, its address and its length in elements; a matrix is four, its address, rows, columns and
/// leading dimension; everything else is one. The host must be little-endian with 64 bits, like the GPU. Nothing is
/// copied: the addresses point into the tuple of parameters, or to what it borrows.
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

/// A kernel parameter: a value, a view of global memory, a block of bytes, or a texture.
///
/// # Safety
/// 1. `push_to` pushes exactly what `#[kernel]` declares for a parameter of this type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a kernel parameter",
    label = "the host cannot pass this type to a kernel",
    note = "parameters are numbers, `bool`, arrays and structs of plain data (`bytemuck::NoUninit`), \
            `Global<T>`, `GlobalMut<T>`, `GlobalAtomic<T>`, `GlobalMatrix<T>`, `GlobalMatrixMut<T>` \
            and `GridConstant<T>` of plain data `T`, `Texture1d` and `Texture2d`"
)]
pub unsafe trait KernelParam: Copy {
    /// Appends the parameter to `entry`.
    fn push_to<'a>(&'a self, entry: &mut EntryParams<'a>);

    /// A copy of the parameter that borrows only from `copies`.
    ///
    /// # Safety
    /// 1. The result is not used after `copies` is dropped.
    #[must_use]
    unsafe fn copied_to(self, _copies: &mut ParamCopies) -> Self {
        self
    }
}

/// A tuple of kernel parameters. This crate alone implements it.
pub trait KernelParams: Copy + sealed::KernelParams {
    /// Appends all parameters, in order, to `entry`.
    fn push_to<'a>(&'a self, entry: &mut EntryParams<'a>);

    /// A copy of the parameters that borrows only from `copies`.
    ///
    /// # Safety
    /// 1. The result is not used after `copies` is dropped.
    #[must_use]
    unsafe fn copied_to(self, copies: &mut ParamCopies) -> Self;
}

/// Copies of borrowed parameters, for a simulated launch. On a GPU the driver has copied them when the launch call
/// returns.
#[derive(Default)]
pub struct ParamCopies(Vec<Box<dyn Send + Sync>>);

impl fmt::Debug for ParamCopies {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("ParamCopies")
            .field(&self.0.len())
            .finish()
    }
}

// SAFETY: a value is declared as one PTX parameter of its size and alignment.
#[diagnostic::do_not_recommend]
unsafe impl<T: ValueParam> KernelParam for T {
    fn push_to<'a>(&'a self, entry: &mut EntryParams<'a>) {
        entry.push(self);
    }
}

mod sealed {
    pub trait KernelParams {}
}

macro_rules! view_params {
    ($($view:ident)*) => {$(
        // SAFETY: a view is declared as a pointer and a 64-bit length.
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
        // SAFETY: a matrix is declared as a pointer and three 64-bit numbers.
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

// SAFETY: it is declared as one parameter with the size and alignment of `T`.
unsafe impl<T: Pod + Send + Sync> KernelParam for GridConstant<'_, T> {
    fn push_to<'a>(&'a self, entry: &mut EntryParams<'a>) {
        entry.push(&**self);
    }

    unsafe fn copied_to(self, copies: &mut ParamCopies) -> Self {
        let copy = Box::new(*self);
        let value = ptr::from_ref(&*copy);
        copies.0.push(copy);
        // SAFETY: the copy lives as long as `copies`, which the caller keeps for the launch, and nothing writes it.
        unsafe { Self::from_raw(value) }
    }
}

macro_rules! texture_params {
    ($($texture:ident)*) => {$(
        // SAFETY: a texture is declared as a 64-bit number, its handle, and has no other field.
        unsafe impl KernelParam for $texture<'_> {
            fn push_to<'a>(&'a self, entry: &mut EntryParams<'a>) {
                entry.push(self);
            }
        }
    )*};
}
texture_params!(Texture1d Texture2d);

macro_rules! tuple_params {
    ($($name:ident),*) => {
        impl<$($name: KernelParam),*> sealed::KernelParams for ($($name,)*) {}

        impl<$($name: KernelParam),*> KernelParams for ($($name,)*) {
            #[allow(non_snake_case, unused_variables)]
            fn push_to<'a>(&'a self, entry: &mut EntryParams<'a>) {
                let ($($name,)*) = self;
                $($name.push_to(entry);)*
            }

            #[allow(non_snake_case, unused_variables, unused_unsafe, clippy::unused_unit)]
            unsafe fn copied_to(self, copies: &mut ParamCopies) -> Self {
                let ($($name,)*) = self;
                // SAFETY: the caller drops `copies` after the last use.
                unsafe { ($($name.copied_to(copies),)*) }
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
