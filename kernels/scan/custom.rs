//! Custom scans: kernels for operations that other crates define.

#[cfg(not(target_arch = "nvptx64"))]
use super::plan::ScanShape;
#[cfg(not(target_arch = "nvptx64"))]
use super::value::ScanValue;
#[cfg(not(target_arch = "nvptx64"))]
use crate::reduce::Reduction;
#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::global::{Global, GlobalMut};
#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::grid_constant::GridConstant;
#[cfg(not(target_arch = "nvptx64"))]
use cuda_std::kernel::Kernel;

/// A kernel that scans, defined by [`reductions!`](crate::reductions).
///
/// # Safety
/// 1. The kernel has exactly the requirements that it documents.
#[cfg(not(target_arch = "nvptx64"))]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scan",
    note = "`tilewright_kernels::reductions!` makes such a kernel of an operation: `kernel: Operation of scans of \
            f32;`"
)]
pub unsafe trait ScanKernel:
    for<'launch> Kernel<
    Params<'launch> = (
        Global<'launch, Self::Element>,
        GlobalMut<'launch, <Self::Operation as Reduction<Self::Element>>::Output>,
        GlobalMut<'launch, u64>,
        [Self::Element; 1],
        GridConstant<'launch, ScanShape>,
        Global<'launch, u64>,
        Global<'launch, [u64; 3]>,
    ),
>
{
    /// The element type.
    type Element: cuda_std::Pod;

    /// The operation.
    type Operation: Reduction<Self::Element, Accumulator: ScanValue>;
}

// SAFETY: the function names a kernel that meets the requirement.
#[cfg(not(target_arch = "nvptx64"))]
#[diagnostic::do_not_recommend]
unsafe impl<F, K> ScanKernel for F
where
    F: Fn() -> K + Copy + Send + Sync + 'static,
    K: ScanKernel,
{
    type Element = K::Element;
    type Operation = K::Operation;
}
