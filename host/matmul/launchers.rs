//! How the kernels of the table are launched.
//!
//! Kernels that are launched with the same arguments stand in one list, a constant for each pair of types. So a
//! program compiles the kernels in the lists that it uses, and contains their PTX alone.

pub mod kinds;
mod params;
mod remainders;
mod scaled;

use super::entry::{
    ExactLaunch, GroupLaunch, ProductLaunch, RemainderLaunch, ScaledLaunch, SplitLaunch,
    SplitMmaLaunch, TensorLaunch, VectorLaunch,
};
use super::kernel::GemmKernel;
use super::types::Operand;
use crate::module_source::ModuleSource;
use tilewright_kernels::exact::Line;

/// A kernel's PTX and the function that launches it.
#[derive(Clone, Copy)]
pub struct Launcher<F> {
    /// The PTX of its entry.
    pub module: &'static ModuleSource,
    pub launch: F,
}

/// The launchers of the kernels with the same types that are launched by an `F`.
///
/// Each stands at the place of its kernel among all with these types.
#[derive(Clone, Copy)]
pub struct Launchers<F: 'static>(pub &'static [Option<Launcher<F>>]);

impl<F: Copy> Launchers<F> {
    /// 1 if the kernel at `place` is in the list, otherwise 0.
    const fn has(self, place: usize) -> u8 {
        self.0[place].is_some() as u8
    }

    /// The launcher of a kernel that was selected for the types and the arguments of this list.
    ///
    /// # Panics
    /// If the kernel is not in the list.
    pub fn of(self, kernel: &GemmKernel) -> Launcher<F> {
        let launcher = self.0.get(usize::from(kernel.place)).copied().flatten();
        launcher
            .filter(|it| it.module.name() == kernel.name)
            .expect("the kernel was selected for these types and arguments")
    }
}

/// The kernels with elements `Self`, outputs `O` and an epilogue in type `S`.
pub trait Kernels<O: 'static, S: 'static>: Operand {
    /// Kernels with a block for each part of C.
    const PRODUCTS: Launchers<ProductLaunch<Self, O, S>>;
    /// The same, for operands in words of four elements.
    const PRODUCTS_OF_WORDS: Launchers<ProductLaunch<i32, O, S>>;
    /// Kernels of warpgroups.
    const CLUSTERS: Launchers<TensorLaunch<O, S>>;
    /// Kernels of warpgroups for operands with block scales, or for groups of rows that are counted on the device.
    const SCALED: Launchers<ScaledLaunch<O, S>>;
    /// Kernels for products of unequal shapes.
    const GROUPS: Launchers<GroupLaunch<S>>;
    /// Kernels of warpgroups for split operands.
    const SPLITS: Launchers<SplitLaunch>;
    /// Kernels of warps for split operands.
    const SPLITS_BY_WARPS: Launchers<SplitMmaLaunch>;
    /// Kernels for the outputs that those for split operands leave out.
    const OUT_OF_RANGE: Launchers<RemainderLaunch<f32, f32, f32, u32>>;
    /// Kernels that multiply rows or columns by a vector.
    const VECTORS: Launchers<VectorLaunch<Self, O, S, Self::Sum>>;
    /// The same, for operands in words of four elements.
    const VECTORS_OF_WORDS: Launchers<VectorLaunch<i32, O, S, Self::Sum>>;
    /// Kernels for exact dot products.
    const EXACT: Launchers<ExactLaunch<Self, O, S>>;
    /// Kernels for the outputs that products of residues leave out.
    const LEFT: Launchers<RemainderLaunch<Self, O, S, Line>>;

    /// Whether each kernel is in one of the lists.
    const ARE_ALL_LAUNCHED: bool = {
        let (mut place, mut are_all) = (0, true);
        while place < Self::PRODUCTS.0.len() {
            let lists = Self::PRODUCTS.has(place)
                + Self::PRODUCTS_OF_WORDS.has(place)
                + Self::CLUSTERS.has(place)
                + Self::SCALED.has(place)
                + Self::GROUPS.has(place)
                + Self::SPLITS.has(place)
                + Self::SPLITS_BY_WARPS.has(place)
                + Self::OUT_OF_RANGE.has(place)
                + Self::VECTORS.has(place)
                + Self::VECTORS_OF_WORDS.has(place)
                + Self::EXACT.has(place)
                + Self::LEFT.has(place);
            are_all &= lists == 1;
            place += 1;
        }
        are_all
    };
}

/// The launcher of a kernel in a list; `None` in the lists that its family is not in.
macro_rules! launcher {
    (PRODUCTS tiled $written:ident $kernel:ident) => { launcher!($kernel by tiled(_)) };
    (PRODUCTS coarsened $written:ident $kernel:ident) => { launcher!($kernel by product(_, _, _)) };
    (PRODUCTS mma $written:ident $kernel:ident) => { launcher!($kernel by product(_, _, _)) };
    (PRODUCTS mma_f64 $written:ident $kernel:ident) => { launcher!($kernel by product(_, _, _)) };
    (PRODUCTS mma_f64_after $written:ident $kernel:ident) => { launcher!($kernel by product(_, _, _)) };
    (PRODUCTS_OF_WORDS coarsened_words $written:ident $kernel:ident) => { launcher!($kernel by product(_, _, _)) };
    (CLUSTERS wgmma bulk $kernel:ident) => { launcher!($kernel by bulk(_, _, _, _, _)) };
    (CLUSTERS wgmma direct $kernel:ident) => { launcher!($kernel by direct(_, _, _, _)) };
    (CLUSTERS wgmma_bytes bulk $kernel:ident) => { launcher!($kernel by bulk(_, _, _, _, _)) };
    (CLUSTERS wgmma_bytes direct $kernel:ident) => { launcher!($kernel by direct(_, _, _, _)) };
    (CLUSTERS turned bulk $kernel:ident) => { launcher!($kernel by bulk(_, _, _, _, _)) };
    (CLUSTERS turned direct $kernel:ident) => { launcher!($kernel by direct(_, _, _, _)) };
    (CLUSTERS single bulk $kernel:ident) => { launcher!($kernel by bulk(_, _, _, _, _)) };
    (CLUSTERS single direct $kernel:ident) => { launcher!($kernel by direct(_, _, _, _)) };
    (CLUSTERS skinny $written:ident $kernel:ident) => { launcher!($kernel by direct(_, _, _, _)) };
    (SCALED scaled bulk $kernel:ident) => { launcher!($kernel by scaled_bulk(_, _, _, _, _)) };
    (SCALED scaled direct $kernel:ident) => { launcher!($kernel by scaled_direct(_, _, _, _)) };
    (SCALED scaled_skinny bulk $kernel:ident) => { launcher!($kernel by scaled_skinny_bulk(_, _, _, _, _)) };
    (SCALED scaled_skinny direct $kernel:ident) => { launcher!($kernel by scaled_skinny_direct(_, _, _, _)) };
    (SCALED counted bulk $kernel:ident) => { launcher!($kernel by counted(_, _, _, _, _)) };
    (GROUPS grouped $written:ident $kernel:ident) => { launcher!($kernel by group(_, _, _)) };
    (GROUPS grouped_mma $written:ident $kernel:ident) => { launcher!($kernel by group(_, _, _)) };
    (SPLITS split $written:ident $kernel:ident) => { launcher!($kernel by split(_, _)) };
    (SPLITS_BY_WARPS split_mma $written:ident $kernel:ident) => { launcher!($kernel by split_mma()) };
    (OUT_OF_RANGE out_of_range $written:ident $kernel:ident) => { launcher!($kernel by remainder(_, _, _, _)) };
    (OUT_OF_RANGE out_of_range_mma $written:ident $kernel:ident) => { launcher!($kernel by remainder(_, _, _, _)) };
    (VECTORS vector $written:ident $kernel:ident) => { launcher!($kernel by vector(_, _, _, _)) };
    (VECTORS_OF_WORDS vector_bytes $written:ident $kernel:ident) => { launcher!($kernel by vector(_, _, _, _)) };
    (LEFT left $written:ident $kernel:ident) => { launcher!($kernel by remainder(_, _, _, _)) };
    (LEFT left_mma $written:ident $kernel:ident) => { launcher!($kernel by remainder(_, _, _, _)) };
    (EXACT exact $written:ident $kernel:ident) => { launcher!($kernel by exact(_, _, _)) };
    ($kernel:ident by $kind:ident($($inferred:tt),*)) => {
        Some($crate::matmul::launchers::Launcher {
            module: $crate::kernels::module_of!($kernel),
            launch: $crate::matmul::launchers::kinds::$kind::<$kernel, $($inferred),*>,
        })
    };
    ($list:ident $family:ident $written:ident $kernel:ident) => { None };
}
pub(super) use launcher;
