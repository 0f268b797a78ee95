//! How product kernels are launched: their arguments, by the kind of kernel and the types.

use crate::error::Outcome;
use crate::launch::LaunchConfig;
use crate::module::ModuleRef;
use bytemuck::{Pod, Zeroable};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use half::f16;
use tilewright_kernels::epilogue::EpilogueNumbers;
use tilewright_kernels::exact::{DotsShape, Line};
use tilewright_kernels::matmul::{ProductGroup, ProductShape};
use tilewright_kernels::matvec::VectorShape;
use tilewright_kernels::parts::PartsShape;
use tilewright_kernels::tensor::{ScaleShape, TensorShape};

/// The arguments of a kernel with elements `T`, outputs `O` and sums `S`.
pub struct ProductArguments<'a, T, O, S> {
    pub a: Global<'a, T>,
    pub b: Global<'a, T>,
    pub c: GlobalMut<'a, O>,
    pub shape: ProductShape,
    pub epilogue: EpilogueArguments<'a, S>,
}

/// The arguments of a chain.
pub type ChainArguments<'a, T> = ProductArguments<'a, T, T, T>;

/// A kernel's arguments for its epilogue, in numbers of type `S`.
#[derive(Clone, Copy)]
pub struct EpilogueArguments<'a, S> {
    pub numbers: EpilogueNumbers<S>,
    pub row_scale: Global<'a, S>,
    pub column_scale: Global<'a, S>,
    pub row_bias: Global<'a, S>,
    pub column_bias: Global<'a, S>,
}

/// Launches a kernel with a block for each part of C. The tiled kernels write the sums unchanged, for one product.
///
/// # Safety
/// 1. The launch meets the requirements in the kernel's documentation.
/// 2. The views are of live memory of the module's device, and until the call returns no other thread submits work
///    that writes what the kernel reads or accesses what it writes.
pub type ProductLaunch<T, O, S> =
    unsafe fn(ModuleRef<'_>, LaunchConfig, ProductArguments<'_, T, O, S>) -> Outcome<()>;

/// The arguments of a tensor-core kernel with outputs `O` and sums `S`.
pub struct TensorArguments<'a, O, S> {
    pub a: MapWords,
    pub b: MapWords,
    /// A map of C, for kernels that write f16 or bf16; others do not read it.
    pub c_map: MapWords,
    pub c: GlobalMut<'a, O>,
    pub shape: TensorShape,
    pub epilogue: EpilogueArguments<'a, S>,
}

/// Launches a kernel on tensor cores.
///
/// # Safety
/// As for [`ProductLaunch`]: the maps count as views.
pub type TensorLaunch<O, S> =
    unsafe fn(ModuleRef<'_>, LaunchConfig, TensorArguments<'_, O, S>) -> Outcome<()>;

/// The arguments of a kernel for operands with block scales, or for groups of rows that are counted on the device.
pub struct ScaledArguments<'a, O, S> {
    pub tensor: TensorArguments<'a, O, S>,
    /// The rows of each group; empty if each matrix is a group.
    pub counts: Global<'a, u32>,
    pub scales: ScaleArguments<'a>,
}

/// The scales of A's blocks and of B's; empty if there are none.
pub struct ScaleArguments<'a> {
    pub elements: [Global<'a, f32>; 2],
    pub shape: ScaleShape,
}

/// Launches a kernel for block scales or counted rows.
///
/// # Safety
/// As for [`ProductLaunch`]: the maps count as views.
pub type ScaledLaunch<O, S> =
    unsafe fn(ModuleRef<'_>, LaunchConfig, ScaledArguments<'_, O, S>) -> Outcome<()>;

/// The arguments of a kernel for split operands.
pub struct SplitArguments<'a> {
    pub a: MapWords,
    pub b: MapWords,
    /// The words of A's rows and of B's columns.
    pub words: [Global<'a, u32>; 2],
    pub c: GlobalMut<'a, f32>,
    pub shape: TensorShape,
    /// Whether C stands for the transpose of a result.
    pub is_transposed: bool,
    pub epilogue: EpilogueArguments<'a, f32>,
}

/// Launches a kernel for split operands.
///
/// # Safety
/// As for [`ProductLaunch`]: the maps count as views.
pub type SplitLaunch = unsafe fn(ModuleRef<'_>, LaunchConfig, SplitArguments<'_>) -> Outcome<()>;

/// The arguments of a warp-level kernel for split operands.
pub struct SplitMmaArguments<'a> {
    /// The upper and the lower halves of A's rows, and of B's columns.
    pub halves: [[Global<'a, f16>; 2]; 2],
    /// The words of A's rows and of B's columns.
    pub words: [Global<'a, u32>; 2],
    pub c: GlobalMut<'a, f32>,
    pub shape: ProductShape,
    /// Whether C stands for the transpose of a result.
    pub is_transposed: bool,
    pub epilogue: EpilogueArguments<'a, f32>,
}

/// Launches a warp-level kernel for split operands.
///
/// # Safety
/// As for [`ProductLaunch`].
pub type SplitMmaLaunch =
    unsafe fn(ModuleRef<'_>, LaunchConfig, SplitMmaArguments<'_>) -> Outcome<()>;

/// An encoded tensor map, aligned as kernels declare it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct MapWords(pub [u64; 16]);

impl MapWords {
    /// The map as a kernel's parameter, in the kernel's type.
    pub fn param<M: Pod>(&self) -> GridConstant<'_, M> {
        GridConstant::new(bytemuck::cast_ref(self))
    }
}

/// Launches a kernel for outputs that others leave out. It has the arguments of a product, and elements `W` that mark
/// the rows of A and the columns of B that are left.
///
/// # Safety
/// As for [`ProductLaunch`].
pub type RemainderLaunch<T, O, S, W> = unsafe fn(
    ModuleRef<'_>,
    LaunchConfig,
    ProductArguments<'_, T, O, S>,
    [Global<'_, W>; 2],
) -> Outcome<()>;

/// The arguments of a kernel that multiplies rows or columns by a vector, with sums of type `P` before the
/// epilogue.
pub struct VectorArguments<'a, T, O, S, P> {
    pub x: Global<'a, T>,
    pub v: Global<'a, T>,
    pub y: GlobalMut<'a, O>,
    pub shape: VectorShape,
    pub epilogue: EpilogueArguments<'a, S>,
    pub partials: GlobalMut<'a, P>,
    pub tickets: GlobalMut<'a, u32>,
}

/// Launches a kernel that multiplies rows or columns by a vector.
///
/// # Safety
/// As for [`ProductLaunch`].
pub type VectorLaunch<T, O, S, P = S> =
    unsafe fn(ModuleRef<'_>, LaunchConfig, VectorArguments<'_, T, O, S, P>) -> Outcome<()>;

/// The arguments of a kernel that adds sums of type `P`.
pub struct AddArguments<'a, O, S, P> {
    pub sums: Global<'a, P>,
    pub c: GlobalMut<'a, O>,
    pub shape: PartsShape,
    pub epilogue: EpilogueArguments<'a, S>,
}

/// Launches a kernel that adds sums.
///
/// # Safety
/// As for [`ProductLaunch`].
pub type AddLaunch<O, S, P> =
    unsafe fn(ModuleRef<'_>, LaunchConfig, AddArguments<'_, O, S, P>) -> Outcome<()>;

/// The arguments of a kernel for exact dot products.
pub struct ExactArguments<'a, T, O, S> {
    /// The rows of A, and the columns of B, each contiguous.
    pub operands: [Global<'a, T>; 2],
    pub lines: [Global<'a, Line>; 2],
    pub c: GlobalMut<'a, O>,
    pub left: Global<'a, u8>,
    pub shape: DotsShape,
    pub epilogue: EpilogueArguments<'a, S>,
}

/// Launches a kernel for exact dot products.
///
/// # Safety
/// As for [`ProductLaunch`].
pub type ExactLaunch<T, O, S> =
    unsafe fn(ModuleRef<'_>, LaunchConfig, ExactArguments<'_, T, O, S>) -> Outcome<()>;

/// Launches a kernel for products of unequal shapes, with an epilogue in type `S`.
///
/// # Safety
/// As for [`ProductLaunch`]: the addresses in the table count as views.
pub type GroupLaunch<S> =
    unsafe fn(ModuleRef<'_>, LaunchConfig, &ProductGroup, &EpilogueNumbers<S>) -> Outcome<()>;

/// Launches a kernel with parameters, those of the epilogue, and further parameters. It is unsafe as
/// [`ModuleRef::launch_params`] is.
macro_rules! launch_with_epilogue {
    ($module:expr, $kernel:ty, $config:expr; $($before:expr),*; $epilogue:expr $(; $($after:expr),*)?) => {{
        let epilogue: $crate::matmul::entry::EpilogueArguments<'_, _> = $epilogue;
        let params = (
            $($before,)*
            cuda_std::grid_constant::GridConstant::new(&epilogue.numbers),
            epilogue.row_scale,
            epilogue.column_scale,
            epilogue.row_bias,
            epilogue.column_bias,
            $($($after,)*)?
        );
        $module.launch_params::<$kernel>($config, params)
    }};
}
pub(super) use launch_with_epilogue;
