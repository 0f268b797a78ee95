//! Launch arguments: host values that become a kernel's parameters.

mod batches;
mod matrices;

pub(crate) use batches::{
    address_of, read_elements, read_words, written_by_product, written_words,
};

use crate::buffer::{ALIGNMENT, Buffer, BufferView, BufferViewMut};
use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::matrix::Matrix;
use crate::tensor_map::{TensorMapView, TensorMapViewMut};
use crate::texture::Texture;
use bytemuck::Pod;
use cuda_std::global::{Global, GlobalAtomic, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use cuda_std::kernel::{KernelParams, ValueParam};
use cuda_std::texture::{Texture1d, Texture2d};
use cuda_std::tma::{TensorMap, TensorMapMut};
use std::ptr;

/// A value that can be the argument for a kernel parameter of type `P`.
///
/// | parameter      | argument                              |
/// |----------------|---------------------------------------|
/// | a number, `bool`, array or struct `T` | `T`            |
/// | `Global<T>`    | `&Buffer<T>`, `BufferView<T>` or `&Matrix<T>` |
/// | `GlobalMut<T>` | `&mut Buffer<T>`, `BufferViewMut<T>` or `&mut Matrix<T>` |
/// | `GlobalAtomic<T>` | `&mut Buffer<T>` or `BufferViewMut<T>` |
/// | `GlobalMatrix<T>` | `&Matrix<T>` or `MatrixView<T>`, row-major |
/// | `GlobalMatrixMut<T>` | `&mut Matrix<T>` or `MatrixViewMut<T>`, row-major |
/// | `GridConstant<T>` | `&T`, whose bytes are copied       |
/// | `GridConstant<TensorMap<..>>` | `&TensorMapView`        |
/// | `GridConstant<TensorMapMut<..>>` | `&TensorMapViewMut`  |
/// | `Texture1d`    | `&Texture<1>`                         |
/// | `Texture2d`    | `&Texture<2>`                         |
///
/// The borrows of one launch cannot overlap, so no launch has two views of memory that it writes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given for a kernel parameter of type `{P}`",
    label = "the kernel declares this parameter as `{P}`",
    note = "a value is of exactly the parameter's type; `Global<T>` takes `&Buffer<T>` or \
            `&Matrix<T>`; `GlobalMut<T>` takes `&mut Buffer<T>` or `&mut Matrix<T>`; \
            `GlobalAtomic<T>` takes `&mut Buffer<T>`; `GlobalMatrix<T>` takes `&Matrix<T>`; \
            `GlobalMatrixMut<T>` takes `&mut Matrix<T>`"
)]
pub trait LaunchArg<P>: sealed::LaunchArg<P> {}

/// A tuple of launch arguments, one for each of a kernel's parameters, in order.
#[diagnostic::on_unimplemented(
    message = "these arguments do not fit the kernel's parameters",
    label = "the kernel's parameters are `{P}`",
    note = "arguments are a tuple with one value for each parameter, in order; a single argument \
            is written `(argument,)`"
)]
pub trait LaunchArgs<P: KernelParams>: sealed::LaunchArgs<P> {}

mod sealed {
    use super::{Device, Outcome};

    /// The launch and the argument's place in it, for errors.
    #[derive(Clone, Copy)]
    pub struct Position<'a> {
        pub device: &'a Device,
        pub kernel: &'static str,
        /// Counted from 1.
        pub number: usize,
    }

    impl Position<'_> {
        pub fn what(self) -> String {
            format!("argument {} of `{}`", self.number, self.kernel)
        }
    }

    pub trait LaunchArg<P> {
        /// The kernel's parameter. A view lives no longer than the argument's borrow. On a GPU, the launch uses the
        /// memory until the device reaches work that is submitted later.
        fn into_param(self, position: Position<'_>) -> Outcome<P>;
    }

    pub trait LaunchArgs<P> {
        /// The parameters of `kernel`; an error if an argument is on another device.
        fn into_params(self, device: &Device, kernel: &'static str) -> Outcome<P>;
    }
}

use sealed::Position;

impl<T: ValueParam> LaunchArg<T> for T {}

impl<T: ValueParam> sealed::LaunchArg<T> for T {
    fn into_param(self, _position: Position<'_>) -> Outcome<T> {
        Ok(self)
    }
}

impl<'launch, 'a: 'launch, T: Pod> LaunchArg<GridConstant<'launch, T>> for &'a T {}

impl<'launch, 'a: 'launch, T: Pod> sealed::LaunchArg<GridConstant<'launch, T>> for &'a T {
    fn into_param(self, _position: Position<'_>) -> Outcome<GridConstant<'launch, T>> {
        Ok(GridConstant::new(self))
    }
}

impl<'launch, 'a: 'launch, T: Element> LaunchArg<Global<'launch, T>> for BufferView<'a, T> {}
impl<'launch, 'a: 'launch, T: Element> LaunchArg<Global<'launch, T>> for &'a Buffer<T> {}
impl<'launch, 'a: 'launch, T: Element> LaunchArg<Global<'launch, T>> for &'a Matrix<T> {}

impl<'launch, 'a: 'launch, T: Element> LaunchArg<GlobalMut<'launch, T>> for BufferViewMut<'a, T> {}
impl<'launch, 'a: 'launch, T: Element> LaunchArg<GlobalMut<'launch, T>> for &'a mut Buffer<T> {}
impl<'launch, 'a: 'launch, T: Element> LaunchArg<GlobalMut<'launch, T>> for &'a mut Matrix<T> {}

impl<'launch, 'a: 'launch, T: Element> LaunchArg<GlobalAtomic<'launch, T>>
    for BufferViewMut<'a, T>
{
}
impl<'launch, 'a: 'launch, T: Element> LaunchArg<GlobalAtomic<'launch, T>> for &'a mut Buffer<T> {}

impl<'launch, 'a: 'launch> LaunchArg<Texture1d<'launch>> for &'a Texture<1> {}
impl<'launch, 'a: 'launch> LaunchArg<Texture2d<'launch>> for &'a Texture<2> {}

/// Kernel parameters from arguments on the launch's device: the argument as a view, which the kernel reads or writes,
/// and the parameter of the view.
macro_rules! params {
    ($([$($generics:tt)*] $argument:ty => $param:ty: |$it:ident| $view:expr, $access:ident $of_view:expr;)*) => {$(
        impl<'launch, 'a: 'launch, $($generics)*> sealed::LaunchArg<$param> for $argument {
            fn into_param(self, position: Position<'_>) -> Outcome<$param> {
                let $it = self;
                let view = $view;
                params!(@$access position, view);
                Ok($of_view(view))
            }
        }
    )*};
    (@reads $position:ident, $view:ident) => {
        $position.device.check_reads(|| $position.what(), $view.holder())?;
    };
    (@writes $position:ident, $view:ident) => {
        $position.device.check_writes(|| $position.what(), $view.written())?;
    };
}
params! {
    [T: Element] BufferView<'a, T> => Global<'launch, T>: |it| it, reads global;
    [T: Element] &'a Buffer<T> => Global<'launch, T>: |it| it.view(), reads global;
    [T: Element] &'a Matrix<T> => Global<'launch, T>: |it| it.as_buffer().view(), reads global;
    [T: Element] BufferViewMut<'a, T> => GlobalMut<'launch, T>: |it| it, writes global_mut;
    [T: Element] &'a mut Buffer<T> => GlobalMut<'launch, T>: |it| it.view_mut(), writes global_mut;
    [T: Element] &'a mut Matrix<T> => GlobalMut<'launch, T>:
        |it| it.buffer_mut().view_mut(), writes global_mut;
    [T: Element] BufferViewMut<'a, T> => GlobalAtomic<'launch, T>: |it| it, writes global_atomic;
    [T: Element] &'a mut Buffer<T> => GlobalAtomic<'launch, T>:
        |it| it.view_mut(), writes global_atomic;
    [] &'a Texture<1> => Texture1d<'launch>: |it| it, reads Texture::<1>::param;
    [] &'a Texture<2> => Texture2d<'launch>: |it| it, reads Texture::<2>::param;
}

macro_rules! tensor_map_args {
    ($($view:ident => $map:ident, $access:ident;)*) => {$(
        impl<'launch, 'a: 'launch, T: Element, const ROWS: usize, const COLUMNS: usize>
            LaunchArg<GridConstant<'launch, $map<T, ROWS, COLUMNS>>>
            for &'a $view<'_, T, ROWS, COLUMNS>
        {
        }

        params! {
            [T: Element, const ROWS: usize, const COLUMNS: usize] &'a $view<'_, T, ROWS, COLUMNS>
                => GridConstant<'launch, $map<T, ROWS, COLUMNS>>:
                |it| it, $access |view: &'a $view<'_, T, ROWS, COLUMNS>| GridConstant::new(view.map());
        }
    )*};
}
tensor_map_args! {
    TensorMapView => TensorMap, reads;
    TensorMapViewMut => TensorMapMut, writes;
}

/// The elements of `view` as a parameter that a kernel reads. Its launch must be submitted while the borrow lasts.
pub(crate) fn global<T: Element>(view: BufferView<'_, T>) -> Global<'_, T> {
    let address = view_address::<T>(view.device_address());
    // SAFETY: the elements are live and initialised: the address is that of `len` elements of a live buffer. They are
    // aligned: they start a whole number of elements after a multiple of `ALIGNMENT`, which `Buffer` compares with
    // the type's alignment. Every bit pattern is valid. They stay allocated while the borrow lasts, the launch is
    // submitted within it, and work that frees them is ordered after it. Nothing writes them meanwhile: such work is
    // also ordered after it.
    unsafe { Global::from_raw_parts(address, view.len()) }
}

/// The elements of `view` as a parameter that a kernel writes. Its launch must be submitted while the borrow lasts.
pub(crate) fn global_mut<T: Element>(view: BufferViewMut<'_, T>) -> GlobalMut<'_, T> {
    let (address, len) = (view.view().device_address(), view.len());
    // SAFETY: the elements are live, initialised and aligned, as for `global`. Nothing else accesses them: the borrow
    // is mutable, so no other argument of this launch and no work that is submitted meanwhile does.
    unsafe { GlobalMut::from_raw_parts(view_address::<T>(address), len) }
}

/// The elements of `view` as a parameter that a kernel accesses by atomic operations. Its launch must be submitted
/// while the borrow lasts.
fn global_atomic<T: Element>(view: BufferViewMut<'_, T>) -> GlobalAtomic<'_, T> {
    let address = view_address::<T>(view.view().device_address());
    // SAFETY: the elements are live, initialised and aligned, as for `global`. Nothing else accesses them: the borrow
    // is mutable, as for `global_mut`.
    unsafe { GlobalAtomic::from_raw_parts(address, view.len()) }
}

/// A parameter without elements, for a kernel that learns this from another parameter.
pub(crate) fn no_elements<T: Element>() -> GlobalMut<'static, T> {
    // SAFETY: there are no elements to be live, and none is accessed.
    unsafe { GlobalMut::from_raw_parts(view_address::<T>(0), 0) }
}

/// A parameter that a kernel does not read.
pub(crate) fn no_operand<'a, T: Element>() -> Global<'a, T> {
    // SAFETY: there are no elements to be live, and none is accessed.
    unsafe { Global::from_raw_parts(view_address::<T>(0), 0) }
}

/// The pointer of a view. An empty view's pointer is aligned like that of every buffer, so that a kernel may compute
/// with it in the same way.
pub(crate) fn view_address<T>(address: u64) -> *mut T {
    match address {
        0 => ptr::without_provenance_mut(ALIGNMENT),
        address => ptr::with_exposed_provenance_mut(address as usize),
    }
}

/// Implements the traits for the tuple of all arguments so far, then for longer ones.
macro_rules! launch_args {
    (($($argument:ident: $param:ident,)*)) => {
        impl<$($argument, $param),*> LaunchArgs<($($param,)*)> for ($($argument,)*)
        where
            $($argument: LaunchArg<$param>,)*
            ($($param,)*): KernelParams,
        {
        }

        impl<$($argument, $param),*> sealed::LaunchArgs<($($param,)*)> for ($($argument,)*)
        where
            $($argument: LaunchArg<$param>,)*
        {
            #[allow(non_snake_case, unused_variables, unused_mut, unused_assignments)]
            fn into_params(self, device: &Device, kernel: &'static str) -> Outcome<($($param,)*)> {
                let ($($argument,)*) = self;
                let mut number = 0;
                Ok(($({
                    number += 1;
                    $argument.into_param(Position { device, kernel, number })?
                },)*))
            }
        }
    };
    (($($argument:ident: $param:ident,)*) $next:ident: $of_next:ident, $($rest:tt)*) => {
        launch_args!(($($argument: $param,)*));
        launch_args!(($($argument: $param,)* $next: $of_next,) $($rest)*);
    };
}
launch_args! {
    () A: AA, B: BB, C: CC, D: DD, E: EE, F: FF, G: GG, H: HH, I: II, J: JJ, K: KK, L: LL, M: MM, N: NN, O: OO, P: PP,
}
