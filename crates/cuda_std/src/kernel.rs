//! What a host program needs to know about a kernel in order to launch it.
//!
//! `#[kernel]` writes the implementations; programs name kernels by the unit struct that it
//! leaves behind on the host, as in `module.launch(kernels::axpy, config, (2.0, &x, &mut y))`.

use crate::global::{Global, GlobalMut};
use crate::signature::Signature;
use crate::texture::{Texture1d, Texture2d};
use bytemuck::Pod;

/// A kernel as the host sees it, written by [`#[kernel]`](macro@crate::kernel): its name in the PTX
/// module, the types of its parameters, and the function that one simulated thread runs.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a kernel",
    label = "this names no kernel",
    note = "a kernel is a function with the attribute `#[kernel]`; hosts name it by the unit struct \
            that the attribute leaves in the function's place"
)]
pub trait Kernel: Copy + Send + Sync + 'static {
    /// The kernel's parameters as a tuple, in order, as the kernel's source declares them. Views
    /// end with the launch.
    type Params<'launch>: KernelParams;

    /// The name of the entry point in the PTX module.
    const NAME: &'static str;

    /// What tells the kernel from others of its name: its crate, its path and its parameters. A
    /// launch on a GPU compares it with the signature beside the entry. `#[kernel]` always writes
    /// one; `None` is for entries that no `#[kernel]` has made, which are taken as they are.
    const SIGNATURE: Option<Signature> = None;

    /// What the kernel's source promised about its launches.
    const BOUNDS: LaunchBounds;

    /// Runs the kernel's body as the simulated thread that is calling.
    ///
    /// # Safety
    /// 1. The launch meets the requirements of the kernel's own documentation: a safe kernel requires
    ///    nothing beyond valid parameters.
    /// 2. Every view in `params` is valid for `'launch`, the whole of the launch, and no other
    ///    launch or host thread writes what it reads, or touches what it writes.
    unsafe fn run<'launch>(params: Self::Params<'launch>);
}

/// A kernel that any launch with valid parameters may run: its source says `fn`, not `unsafe fn`.
///
/// # Safety
/// 1. With views that are valid and exclusive where they are mutable, no grid and no block shape
///    that the bounds allow can cause undefined behaviour.
/// 2. An entry that is called [`Kernel::NAME`] and has [`Kernel::SIGNATURE`] beside it takes
///    [`Kernel::Params`]; without a signature, any entry of that name does.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be launched from safe code",
    label = "this kernel's source says `unsafe fn`",
    note = "an `unsafe fn` asks more of its launches than valid parameters: read its `# Safety` \
            section, and launch it with `launch_unsafe`"
)]
pub unsafe trait SafeKernel: Kernel {}

/// Limits that a kernel puts on its launches; `None` leaves a choice to the compiler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LaunchBounds {
    /// Most threads in a block (`.maxntid`). A launch with more is refused.
    pub max_threads: Option<u32>,
    /// Blocks that shall be resident on one multiprocessor (`.minnctapersm`).
    pub min_blocks: Option<u32>,
    /// Most registers for one thread (`.maxnreg`).
    pub max_registers: Option<u32>,
    /// Whether all blocks of a launch have to be resident at once. A launch that is too large for
    /// that is refused.
    pub cooperative: bool,
}

impl LaunchBounds {
    /// The bounds that `#[kernel(...)]` was given.
    #[must_use]
    pub const fn new(
        max_threads: Option<u32>,
        min_blocks: Option<u32>,
        max_registers: Option<u32>,
    ) -> Self {
        Self {
            max_threads,
            min_blocks,
            max_registers,
            cooperative: false,
        }
    }

    /// The same bounds for launches whose blocks are resident all at once.
    #[must_use]
    pub const fn with_cooperative(mut self, cooperative: bool) -> Self {
        self.cooperative = cooperative;
        self
    }
}

/// The arguments of one launch in the order and size in which the PTX entry declares them.
///
/// A view is two slots, its address and its length in elements; a scalar is one, with its bytes
/// at the slot's start. Each slot is 8 bytes and little-endian, as the GPU is.
#[derive(Clone, Debug, Default)]
pub struct ParamSlots {
    slots: Vec<u64>,
}

impl ParamSlots {
    /// The slots, each holding one PTX parameter at its first byte.
    #[must_use]
    pub fn as_slice(&self) -> &[u64] {
        &self.slots
    }

    /// The tuple `params` as PTX parameters.
    #[must_use]
    pub fn of<P: KernelParams>(params: P) -> Self {
        let mut slots = Self::default();
        params.push_to(&mut slots);
        slots
    }
}

/// One parameter of a kernel: a scalar, a view of global memory, or a texture.
///
/// # Safety
/// 1. `push_to` pushes exactly the slots that `#[kernel]` declares for a parameter of this type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the parameter of a kernel",
    label = "this type does not cross from the host to a kernel",
    note = "parameters are scalars (integers of at most 64 bits, f32, f64, f16, bf16), `Global<T>` \
            and `GlobalMut<T>` of plain data `T`, `Texture1d` and `Texture2d`"
)]
pub unsafe trait KernelParam: Copy {
    /// Appends the parameter to `slots`.
    fn push_to(self, slots: &mut ParamSlots);
}

/// A tuple of kernel parameters.
pub trait KernelParams: Copy {
    /// Appends all parameters, in order, to `slots`.
    fn push_to(self, slots: &mut ParamSlots);
}

/// A scalar that can be a kernel parameter: plain data of at most 8 bytes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the parameter of a kernel",
    label = "this type does not cross from the host to a kernel",
    note = "parameters are scalars (integers of at most 64 bits, f32, f64, f16, bf16), `Global<T>` \
            and `GlobalMut<T>` of plain data `T`",
    note = "a view is written as `Global<..>` or `GlobalMut<..>`, not by another name"
)]
pub trait ScalarParam: Pod + Send + Sync {}

macro_rules! scalar_params {
    ($($scalar:ty),*) => {$(
        impl ScalarParam for $scalar {}

        // SAFETY: (1) a scalar is one PTX parameter of its own size, so one slot of at most 8 bytes.
        unsafe impl KernelParam for $scalar {
            fn push_to(self, slots: &mut ParamSlots) {
                let mut slot = [0_u8; 8];
                slot[..size_of::<Self>()].copy_from_slice(bytemuck::bytes_of(&self));
                slots.slots.push(u64::from_le_bytes(slot));
            }
        }
    )*};
}
scalar_params!(
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

// SAFETY: (1) a view is declared as a pointer and a length of 64 bits.
unsafe impl<T: Pod + Send + Sync> KernelParam for Global<'_, T> {
    fn push_to(self, slots: &mut ParamSlots) {
        slots.slots.push(self.as_ptr() as u64);
        slots.slots.push(self.len() as u64);
    }
}

// SAFETY: (1) a view is declared as a pointer and a length of 64 bits.
unsafe impl<T: Pod + Send + Sync> KernelParam for GlobalMut<'_, T> {
    fn push_to(self, slots: &mut ParamSlots) {
        slots.slots.push(self.as_mut_ptr() as u64);
        slots.slots.push(self.len() as u64);
    }
}

macro_rules! texture_params {
    ($($texture:ident)*) => {$(
        // SAFETY: (1) a texture is declared as its handle, a number of 64 bits.
        unsafe impl KernelParam for $texture<'_> {
            fn push_to(self, slots: &mut ParamSlots) {
                slots.slots.push(self.handle());
            }
        }
    )*};
}
texture_params!(Texture1d Texture2d);

/// Compiles only for the parameters that `#[kernel]` passes by value: a view under another name
/// would be one of them, and arrive as garbage.
#[doc(hidden)]
pub const fn assert_scalar<T: ScalarParam>() {}

/// Compiles only for the parameters that `#[kernel]` passes as a pointer and a length: a view that
/// may be written where the name says so, and only there.
#[doc(hidden)]
pub const fn assert_view<T: crate::global::View>(is_mutable: bool) {
    assert!(
        T::IS_MUTABLE == is_mutable,
        "`#[kernel]` knows views by their names, and this name stands for the other view"
    );
}

/// Compiles only for the parameters that `#[kernel]` passes as a texture's handle: a texture of as
/// many dimensions as its name says.
#[doc(hidden)]
pub const fn assert_texture<T: crate::texture::Texture>(dimensions: usize) {
    assert!(
        T::DIMENSIONS == dimensions,
        "`#[kernel]` knows textures by their names, and this name stands for the other texture"
    );
}

macro_rules! tuple_params {
    ($($name:ident),*) => {
        impl<$($name: KernelParam),*> KernelParams for ($($name,)*) {
            #[allow(non_snake_case, unused_variables)]
            fn push_to(self, slots: &mut ParamSlots) {
                let ($($name,)*) = self;
                $($name.push_to(slots);)*
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
