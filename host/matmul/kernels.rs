//! The table of product kernels, made of the catalogue in `tilewright_kernels`.

use super::entry::{
    ExactLaunch, GroupLaunch, ProductLaunch, RemainderLaunch, ScaledLaunch, SplitLaunch,
    SplitMmaLaunch, TensorLaunch, VectorLaunch,
};
use super::kernel::{
    GemmKernel, Method, SkinnyTile, TileSize, VectorRows, WgmmaTile, cluster_tile,
};
use super::launchers::{Kernels, Launchers, launcher};
use super::types::Typed;
use crate::images::oldest_driver;
use crate::kernels::images_of;
use cuda_std::fp8::{F8E4M3, F8E5M2};
use cuda_std::kernel::{Architecture, Kernel};
use half::{bf16, f16};
use tilewright_kernels::exact::{Line, exact_dots_f32, exact_dots_f64};
use tilewright_kernels::matmul::{ProductKernel, *};
use tilewright_kernels::matvec::*;
use tilewright_kernels::tensor::*;

/// The architecture of a kernel that states none: the oldest for which PTX is built.
const OLDEST: Architecture = Architecture::parse("sm_75").expect("it is the name of one");

macro_rules! table {
    ($(
        {$element:ident in $added:ident to $output:ident in $sum:ident $written:ident} {$(
            $family:ident $kernel:ident {$method:ident $(($choice:path))? $($tile:ident $(at $blocks:literal blocks)?)?}
                $layouts:tt;
        )*}
    )*) => {
        /// Every product kernel. Those of the same types are adjacent.
        pub static KERNELS: &[GemmKernel] = &placed([$($(GemmKernel {
            name: <$kernel as Kernel>::NAME,
            method: Method::$method $(($choice))?,
            element: <$element as Typed>::TYPE,
            output: <$output as Typed>::TYPE,
            architecture: match <$kernel as Kernel>::ARCH {
                Some(stated) => stated,
                None => OLDEST,
            },
            driver: oldest_driver(images_of!($kernel)),
            descriptor: <$kernel as ProductKernel>::DESCRIPTOR,
            resident: match <$kernel as Kernel>::BOUNDS.min_blocks {
                Some(blocks) => blocks,
                None => 1,
            },
            cluster: cluster_tile!($family $($tile)?),
            place: 0,
        },)*)*]);

        $(impl Kernels<$output, $sum> for $element {
            table! { @lists $written [$($family $kernel)*]
                PRODUCTS: ProductLaunch<$element, $output, $sum>;
                PRODUCTS_OF_WORDS: ProductLaunch<i32, $output, $sum>;
                CLUSTERS: TensorLaunch<$output, $sum>;
                SCALED: ScaledLaunch<$output, $sum>;
                GROUPS: GroupLaunch<$sum>;
                SPLITS: SplitLaunch;
                SPLITS_BY_WARPS: SplitMmaLaunch;
                OUT_OF_RANGE: RemainderLaunch<f32, f32, f32, u32>;
                VECTORS: VectorLaunch<$element, $output, $sum, $added>;
                VECTORS_OF_WORDS: VectorLaunch<i32, $output, $sum, $added>;
                EXACT: ExactLaunch<$element, $output, $sum>;
                LEFT: RemainderLaunch<$element, $output, $sum, Line>;
            }
        }
        const _: () = assert!(
            <$element as Kernels<$output, $sum>>::ARE_ALL_LAUNCHED,
            "`launcher!` has an arm for each family of the catalogue"
        );)*
    };
    (@lists $written:ident $rows:tt $($list:ident: $launch:ty;)*) => {$(
        table!(@list $list: $launch, $written $rows);
    )*};
    (@list $list:ident: $launch:ty, $written:ident [$($family:ident $kernel:ident)*]) => {
        const $list: Launchers<$launch> = Launchers(&[$(launcher!($list $family $written $kernel)),*]);
    };
}
tilewright_kernels::products!(table by types);

/// The kernels, each with its place among those of the same types.
const fn placed<const COUNT: usize>(mut kernels: [GemmKernel; COUNT]) -> [GemmKernel; COUNT] {
    let mut at = 1;
    while at < COUNT {
        let (kernel, before) = (&kernels[at], &kernels[at - 1]);
        if kernel.element as usize == before.element as usize
            && kernel.output as usize == before.output as usize
        {
            kernels[at].place = before.place + 1;
        }
        at += 1;
    }
    kernels
}
