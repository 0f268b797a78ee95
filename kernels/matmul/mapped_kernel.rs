//! What the host knows of the kernels of mapped products.

use super::descriptor::BlockTile;
use super::mapped::{MOST_OTHERS, MappedShape, ProductMap};
use crate::tensor::{ClusterTile, TensorShape};
use bytemuck::{Pod, Zeroable};
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use cuda_std::kernel::Kernel;

/// What the host needs to launch the kernel of a mapped product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedDescriptor {
    /// The part of C that a block computes.
    pub tile: BlockTile,
    /// Dynamic shared memory of a block, in bytes.
    pub dynamic_shared_bytes: usize,
    /// Rows (columns, if column-major) of A and B start at multiples of this number of bytes.
    pub row_bytes: usize,
    /// The tile of clusters, whose operands are maps of a row-major A and a column-major B.
    pub cluster: Option<ClusterTile>,
}

/// In place of the map of an operand that the kernel reads by its elements: as large as one.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(transparent)]
pub struct NoMap([u64; 16]);

// What a kernel's operation reads and writes.
type OtherOf<K, const OTHERS: usize> = <K as ProductMapKernel<OTHERS>>::Other;
type MapOf<K, const OTHERS: usize> = <K as ProductMapKernel<OTHERS>>::Operation;
type OutputOf<K, const OTHERS: usize> =
    <MapOf<K, OTHERS> as ProductMap<OtherOf<K, OTHERS>, OTHERS>>::Output;
type ParametersOf<K, const OTHERS: usize> =
    <MapOf<K, OTHERS> as ProductMap<OtherOf<K, OTHERS>, OTHERS>>::Parameters;
type MapsOf<K, const OTHERS: usize> = <K as ProductMapKernel<OTHERS>>::Maps;
type MapOfA<'launch, K, const OTHERS: usize> =
    GridConstant<'launch, <MapsOf<K, OTHERS> as Maps>::A>;
type MapOfB<'launch, K, const OTHERS: usize> =
    GridConstant<'launch, <MapsOf<K, OTHERS> as Maps>::B>;

/// All that kernels of mapped products take; some take the operands' elements, others their maps.
#[doc(hidden)]
pub struct MappedArguments<'launch, K: ProductMapKernel<OTHERS>, const OTHERS: usize> {
    pub lines: [Global<'launch, K::Element>; 2],
    pub maps: (MapOfA<'launch, K, OTHERS>, MapOfB<'launch, K, OTHERS>),
    pub tensor: GridConstant<'launch, TensorShape>,
    pub c: GlobalMut<'launch, OutputOf<K, OTHERS>>,
    pub others: [Global<'launch, OtherOf<K, OTHERS>>; MOST_OTHERS],
    pub shape: GridConstant<'launch, MappedShape>,
    pub parameters: GridConstant<'launch, ParametersOf<K, OTHERS>>,
}

/// The types of the maps of A and B, each of 128 bytes.
#[doc(hidden)]
pub trait Maps {
    /// The type of A's map.
    type A: Pod;
    /// The type of B's map.
    type B: Pod;
}

impl<A: Pod, B: Pod> Maps for (A, B) {
    type A = A;
    type B = B;
}

/// A kernel that maps a product, with `OTHERS` other matrices, defined by [`maps!`](crate::maps).
///
/// # Safety
/// 1. The kernel has exactly the requirements that it documents, with the descriptor and these parameters.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a map of products with {OTHERS} other matrices",
    note = "`tilewright_kernels::maps!` makes such a kernel of an operation: `kernel: Operation of products of f32 \
            with [f32; {OTHERS}] in Large;`"
)]
pub unsafe trait ProductMapKernel<const OTHERS: usize>: Kernel + Sized {
    /// The element type of A and B.
    type Element: Pod;

    /// The element type of the other matrices.
    type Other: Pod;

    /// The operation.
    type Operation: ProductMap<Self::Other, OTHERS>;

    /// The maps of A and B.
    #[doc(hidden)]
    type Maps: Maps;

    /// The launch.
    const DESCRIPTOR: MappedDescriptor;

    /// The kernel's parameters.
    #[doc(hidden)]
    fn params(arguments: MappedArguments<'_, Self, OTHERS>) -> Self::Params<'_>;
}

// SAFETY: the function names a kernel that meets the requirement.
#[diagnostic::do_not_recommend]
unsafe impl<F, K, const OTHERS: usize> ProductMapKernel<OTHERS> for F
where
    F: Fn() -> K + Copy + Send + Sync + 'static,
    K: ProductMapKernel<OTHERS>,
{
    type Element = K::Element;
    type Other = K::Other;
    type Operation = K::Operation;
    type Maps = K::Maps;
    const DESCRIPTOR: MappedDescriptor = K::DESCRIPTOR;

    fn params(arguments: MappedArguments<'_, Self, OTHERS>) -> Self::Params<'_> {
        let MappedArguments {
            lines,
            maps,
            tensor,
            c,
            others,
            shape,
            parameters,
        } = arguments;
        K::params(MappedArguments {
            lines,
            maps,
            tensor,
            c,
            others,
            shape,
            parameters,
        })
    }
}
