//! The table of product kernels.

use super::entry::{Entry, Launcher};
use super::kernel::{
    ElementType, GemmKernel, Method, SkinnyTile, TileSize, VectorLines, WgmmaTile,
};
use super::launchers::launcher;
use crate::images::oldest_driver;
use crate::kernels::{images_of, module_of};
use cuda_std::kernel::{Architecture, Kernel};
use tilewright_kernels::matmul::{self, ProductKernel};
use tilewright_kernels::{matvec, tensor};

/// The architecture of a kernel that states none: the oldest for which PTX is built.
const OLDEST: Architecture = Architecture::parse("sm_75").expect("it is the name of one");

/// The element types of launches, by the names of their [`ElementType`].
mod types {
    pub type F16 = half::f16;
    pub type Bf16 = half::bf16;
    pub type F32 = f32;
    pub type F64 = f64;
    pub type I8 = i8;
    pub type I32 = i32;
    pub type F8E4M3 = cuda_std::fp8::F8E4M3;
    pub type F8E5M2 = cuda_std::fp8::F8E5M2;
}

macro_rules! kernels {
    ($($element:ident to $output:ident [$method:expr, $room:ident, $entry:ident] => $($kernel:ident)*;)*) => {
        /// Every product kernel.
        pub static KERNELS: &[GemmKernel] = &numbered([$($(GemmKernel {
            name: <$room::$kernel as Kernel>::NAME,
            method: $method,
            element: ElementType::$element,
            output: ElementType::$output,
            architecture: match <$room::$kernel as Kernel>::ARCH {
                Some(stated) => stated,
                None => OLDEST,
            },
            driver: oldest_driver(images_of!($kernel)),
            descriptor: <$room::$kernel as ProductKernel>::DESCRIPTOR,
            module: module_of!($kernel),
            entry: Entry(0),
        },)*)*]);

        /// The launcher of each kernel. A constant, so that a program compiles only those that it selects.
        pub const LAUNCHERS: &[Launcher] = &[$($(launcher!(
            $entry of types::$element, types::$output: $room::$kernel
        ),)*)*];
    };
}

const LARGE: TileSize = TileSize::Large;
const MEDIUM: TileSize = TileSize::Medium;
const SMALL: TileSize = TileSize::Small;
const WGMMA_SMALL: WgmmaTile = WgmmaTile::Small;
const WGMMA_DEEP: WgmmaTile = WgmmaTile::Deep;
const WGMMA_MEDIUM: WgmmaTile = WgmmaTile::Medium;
const WGMMA_LARGE: WgmmaTile = WgmmaTile::Large;
const SKINNY_SMALL: SkinnyTile = SkinnyTile::Small;
const SKINNY_MEDIUM: SkinnyTile = SkinnyTile::Medium;
const SKINNY_LARGE: SkinnyTile = SkinnyTile::Large;
const SKINNY_TALL: SkinnyTile = SkinnyTile::Tall;
const SKINNY_SQUARE: SkinnyTile = SkinnyTile::Square;
const ALONG: VectorLines = VectorLines::Along;
const ACROSS: VectorLines = VectorLines::Across;
const EITHER: VectorLines = VectorLines::Either;

/// The kernels, numbered by their place.
const fn numbered<const COUNT: usize>(mut kernels: [GemmKernel; COUNT]) -> [GemmKernel; COUNT] {
    let mut at = 0;
    while at < COUNT {
        kernels[at].entry = Entry(at as u16);
        at += 1;
    }
    kernels
}

kernels! {
    F32 to F32 [Method::Tiled, matmul, tiled] => matmul_tiled_f32_nn matmul_tiled_f32_tn matmul_tiled_f32_nt
        matmul_tiled_f32_tt;
    F64 to F64 [Method::Tiled, matmul, tiled] => matmul_tiled_f64_nn matmul_tiled_f64_tn matmul_tiled_f64_nt
        matmul_tiled_f64_tt;
    F32 to F32 [Method::Coarsened(LARGE), matmul, chain] => matmul_coarsened_f32_nn
        matmul_coarsened_f32_nn_unaligned matmul_coarsened_f32_tn matmul_coarsened_f32_nt
        matmul_coarsened_f32_tt;
    F32 to F32 [Method::Coarsened(MEDIUM), matmul, chain] => matmul_coarsened_medium_f32_nn
        matmul_coarsened_medium_f32_nn_unaligned matmul_coarsened_medium_f32_tn
        matmul_coarsened_medium_f32_nt matmul_coarsened_medium_f32_tt;
    F32 to F32 [Method::Coarsened(SMALL), matmul, chain] => matmul_coarsened_small_f32_nn
        matmul_coarsened_small_f32_nn_unaligned matmul_coarsened_small_f32_tn
        matmul_coarsened_small_f32_nt matmul_coarsened_small_f32_tt;
    F64 to F64 [Method::Coarsened(LARGE), matmul, chain] => matmul_coarsened_f64_nn
        matmul_coarsened_f64_nn_unaligned matmul_coarsened_f64_tn matmul_coarsened_f64_nt
        matmul_coarsened_f64_tt;
    F64 to F64 [Method::Coarsened(SMALL), matmul, chain] => matmul_coarsened_small_f64_nn
        matmul_coarsened_small_f64_nn_unaligned matmul_coarsened_small_f64_tn
        matmul_coarsened_small_f64_nt matmul_coarsened_small_f64_tt;
    F64 to F64 [Method::Mma(LARGE), matmul, chain] => matmul_mma_f64_nn matmul_mma_f64_tn matmul_mma_f64_nt
        matmul_mma_f64_tt;
    F64 to F64 [Method::Mma(SMALL), matmul, chain] => matmul_mma_small_f64_nn matmul_mma_small_f64_tn
        matmul_mma_small_f64_nt matmul_mma_small_f64_tt;
    F16 to F16 [Method::Mma(LARGE), matmul, mma] => matmul_mma_f16_nn matmul_mma_f16_tn matmul_mma_f16_nt
        matmul_mma_f16_tt;
    F16 to F16 [Method::Mma(SMALL), matmul, mma] => matmul_mma_small_f16_nn matmul_mma_small_f16_tn
        matmul_mma_small_f16_nt matmul_mma_small_f16_tt;
    F16 to F32 [Method::Mma(LARGE), matmul, mma] => matmul_mma_f16_f32_nn matmul_mma_f16_f32_tn
        matmul_mma_f16_f32_nt matmul_mma_f16_f32_tt;
    F16 to F32 [Method::Mma(SMALL), matmul, mma] => matmul_mma_small_f16_f32_nn
        matmul_mma_small_f16_f32_tn matmul_mma_small_f16_f32_nt matmul_mma_small_f16_f32_tt;
    Bf16 to Bf16 [Method::Mma(LARGE), matmul, mma] => matmul_mma_bf16_nn matmul_mma_bf16_tn
        matmul_mma_bf16_nt matmul_mma_bf16_tt;
    Bf16 to Bf16 [Method::Mma(SMALL), matmul, mma] => matmul_mma_small_bf16_nn matmul_mma_small_bf16_tn
        matmul_mma_small_bf16_nt matmul_mma_small_bf16_tt;
    Bf16 to F32 [Method::Mma(LARGE), matmul, mma] => matmul_mma_bf16_f32_nn matmul_mma_bf16_f32_tn
        matmul_mma_bf16_f32_nt matmul_mma_bf16_f32_tt;
    Bf16 to F32 [Method::Mma(SMALL), matmul, mma] => matmul_mma_small_bf16_f32_nn
        matmul_mma_small_bf16_f32_tn matmul_mma_small_bf16_f32_nt matmul_mma_small_bf16_f32_tt;
    I8 to I32 [Method::Mma(LARGE), matmul, mma] => matmul_mma_i8;
    I8 to I32 [Method::Mma(SMALL), matmul, mma] => matmul_mma_small_i8;
    I8 to F32 [Method::Mma(LARGE), matmul, mma] => matmul_mma_i8_f32;
    I8 to F32 [Method::Mma(SMALL), matmul, mma] => matmul_mma_small_i8_f32;
    I8 to Bf16 [Method::Mma(LARGE), matmul, mma] => matmul_mma_i8_bf16;
    I8 to Bf16 [Method::Mma(SMALL), matmul, mma] => matmul_mma_small_i8_bf16;
    I8 to F16 [Method::Mma(LARGE), matmul, mma] => matmul_mma_i8_f16;
    I8 to F16 [Method::Mma(SMALL), matmul, mma] => matmul_mma_small_i8_f16;
    F16 to F16 [Method::Wgmma(WGMMA_LARGE), tensor, bulk] => matmul_wgmma_f16_nn matmul_wgmma_f16_nt
        matmul_wgmma_f16_tn matmul_wgmma_f16_tt;
    F16 to F16 [Method::Wgmma(WGMMA_MEDIUM), tensor, bulk] => matmul_wgmma_medium_f16_nn matmul_wgmma_medium_f16_nt
        matmul_wgmma_medium_f16_tn matmul_wgmma_medium_f16_tt;
    F16 to F16 [Method::Wgmma(WGMMA_SMALL), tensor, bulk] => matmul_wgmma_small_f16_nn matmul_wgmma_small_f16_nt
        matmul_wgmma_small_f16_tn matmul_wgmma_small_f16_tt;
    F16 to F16 [Method::Wgmma(WGMMA_DEEP), tensor, bulk] => matmul_wgmma_deep_f16_nn matmul_wgmma_deep_f16_nt
        matmul_wgmma_deep_f16_tn matmul_wgmma_deep_f16_tt;
    F16 to F32 [Method::Wgmma(WGMMA_LARGE), tensor, direct] => matmul_wgmma_f16_f32_nn matmul_wgmma_f16_f32_nt
        matmul_wgmma_f16_f32_tn matmul_wgmma_f16_f32_tt;
    F16 to F32 [Method::Wgmma(WGMMA_MEDIUM), tensor, direct] => matmul_wgmma_medium_f16_f32_nn
        matmul_wgmma_medium_f16_f32_nt matmul_wgmma_medium_f16_f32_tn matmul_wgmma_medium_f16_f32_tt;
    F16 to F32 [Method::Wgmma(WGMMA_SMALL), tensor, direct] => matmul_wgmma_small_f16_f32_nn
        matmul_wgmma_small_f16_f32_nt matmul_wgmma_small_f16_f32_tn matmul_wgmma_small_f16_f32_tt;
    F16 to F32 [Method::Wgmma(WGMMA_DEEP), tensor, direct] => matmul_wgmma_deep_f16_f32_nn
        matmul_wgmma_deep_f16_f32_nt matmul_wgmma_deep_f16_f32_tn matmul_wgmma_deep_f16_f32_tt;
    Bf16 to Bf16 [Method::Wgmma(WGMMA_LARGE), tensor, bulk] => matmul_wgmma_bf16_nn matmul_wgmma_bf16_nt
        matmul_wgmma_bf16_tn matmul_wgmma_bf16_tt;
    Bf16 to Bf16 [Method::Wgmma(WGMMA_MEDIUM), tensor, bulk] => matmul_wgmma_medium_bf16_nn
        matmul_wgmma_medium_bf16_nt matmul_wgmma_medium_bf16_tn matmul_wgmma_medium_bf16_tt;
    Bf16 to Bf16 [Method::Wgmma(WGMMA_SMALL), tensor, bulk] => matmul_wgmma_small_bf16_nn
        matmul_wgmma_small_bf16_nt matmul_wgmma_small_bf16_tn matmul_wgmma_small_bf16_tt;
    Bf16 to Bf16 [Method::Wgmma(WGMMA_DEEP), tensor, bulk] => matmul_wgmma_deep_bf16_nn
        matmul_wgmma_deep_bf16_nt matmul_wgmma_deep_bf16_tn matmul_wgmma_deep_bf16_tt;
    Bf16 to F32 [Method::Wgmma(WGMMA_LARGE), tensor, direct] => matmul_wgmma_bf16_f32_nn
        matmul_wgmma_bf16_f32_nt matmul_wgmma_bf16_f32_tn matmul_wgmma_bf16_f32_tt;
    Bf16 to F32 [Method::Wgmma(WGMMA_MEDIUM), tensor, direct] => matmul_wgmma_medium_bf16_f32_nn
        matmul_wgmma_medium_bf16_f32_nt matmul_wgmma_medium_bf16_f32_tn matmul_wgmma_medium_bf16_f32_tt;
    Bf16 to F32 [Method::Wgmma(WGMMA_SMALL), tensor, direct] => matmul_wgmma_small_bf16_f32_nn
        matmul_wgmma_small_bf16_f32_nt matmul_wgmma_small_bf16_f32_tn matmul_wgmma_small_bf16_f32_tt;
    Bf16 to F32 [Method::Wgmma(WGMMA_DEEP), tensor, direct] => matmul_wgmma_deep_bf16_f32_nn
        matmul_wgmma_deep_bf16_f32_nt matmul_wgmma_deep_bf16_f32_tn matmul_wgmma_deep_bf16_f32_tt;
    I8 to I32 [Method::Coarsened(LARGE), matmul, words] => matmul_coarsened_i8;
    I8 to I32 [Method::Coarsened(SMALL), matmul, words] => matmul_coarsened_small_i8;
    F16 to F16 [Method::Single, tensor, bulk] => matmul_wgmma_single_f16_nn matmul_wgmma_single_f16_nt
        matmul_wgmma_single_f16_tn matmul_wgmma_single_f16_tt;
    F16 to F32 [Method::Single, tensor, direct] => matmul_wgmma_single_f16_f32_nn matmul_wgmma_single_f16_f32_nt
        matmul_wgmma_single_f16_f32_tn matmul_wgmma_single_f16_f32_tt;
    Bf16 to Bf16 [Method::Single, tensor, bulk] => matmul_wgmma_single_bf16_nn matmul_wgmma_single_bf16_nt
        matmul_wgmma_single_bf16_tn matmul_wgmma_single_bf16_tt;
    Bf16 to F32 [Method::Single, tensor, direct] => matmul_wgmma_single_bf16_f32_nn matmul_wgmma_single_bf16_f32_nt
        matmul_wgmma_single_bf16_f32_tn matmul_wgmma_single_bf16_f32_tt;
    I8 to I32 [Method::Wgmma(WGMMA_LARGE), tensor, direct] => matmul_wgmma_i8;
    I8 to I32 [Method::Wgmma(WGMMA_MEDIUM), tensor, direct] => matmul_wgmma_medium_i8;
    I8 to I32 [Method::Wgmma(WGMMA_SMALL), tensor, direct] => matmul_wgmma_small_i8;
    I8 to I32 [Method::Wgmma(WGMMA_DEEP), tensor, direct] => matmul_wgmma_deep_i8;
    I8 to F32 [Method::Wgmma(WGMMA_LARGE), tensor, direct] => matmul_wgmma_i8_f32;
    I8 to F32 [Method::Wgmma(WGMMA_MEDIUM), tensor, direct] => matmul_wgmma_medium_i8_f32;
    I8 to F32 [Method::Wgmma(WGMMA_SMALL), tensor, direct] => matmul_wgmma_small_i8_f32;
    I8 to F32 [Method::Wgmma(WGMMA_DEEP), tensor, direct] => matmul_wgmma_deep_i8_f32;
    I8 to Bf16 [Method::Wgmma(WGMMA_LARGE), tensor, direct] => matmul_wgmma_i8_bf16;
    I8 to Bf16 [Method::Wgmma(WGMMA_MEDIUM), tensor, direct] => matmul_wgmma_medium_i8_bf16;
    I8 to Bf16 [Method::Wgmma(WGMMA_SMALL), tensor, direct] => matmul_wgmma_small_i8_bf16;
    I8 to Bf16 [Method::Wgmma(WGMMA_DEEP), tensor, direct] => matmul_wgmma_deep_i8_bf16;
    I8 to F16 [Method::Wgmma(WGMMA_LARGE), tensor, direct] => matmul_wgmma_i8_f16;
    I8 to F16 [Method::Wgmma(WGMMA_MEDIUM), tensor, direct] => matmul_wgmma_medium_i8_f16;
    I8 to F16 [Method::Wgmma(WGMMA_SMALL), tensor, direct] => matmul_wgmma_small_i8_f16;
    I8 to F16 [Method::Wgmma(WGMMA_DEEP), tensor, direct] => matmul_wgmma_deep_i8_f16;
    F8E4M3 to Bf16 [Method::Wgmma(WGMMA_LARGE), tensor, bulk] => matmul_wgmma_e4m3;
    F8E4M3 to Bf16 [Method::Wgmma(WGMMA_MEDIUM), tensor, bulk] => matmul_wgmma_medium_e4m3;
    F8E4M3 to Bf16 [Method::Wgmma(WGMMA_SMALL), tensor, bulk] => matmul_wgmma_small_e4m3;
    F8E4M3 to Bf16 [Method::Wgmma(WGMMA_DEEP), tensor, bulk] => matmul_wgmma_deep_e4m3;
    F8E4M3 to F32 [Method::Wgmma(WGMMA_LARGE), tensor, direct] => matmul_wgmma_e4m3_f32;
    F8E4M3 to F32 [Method::Wgmma(WGMMA_MEDIUM), tensor, direct] => matmul_wgmma_medium_e4m3_f32;
    F8E4M3 to F32 [Method::Wgmma(WGMMA_SMALL), tensor, direct] => matmul_wgmma_small_e4m3_f32;
    F8E4M3 to F32 [Method::Wgmma(WGMMA_DEEP), tensor, direct] => matmul_wgmma_deep_e4m3_f32;
    F8E5M2 to Bf16 [Method::Wgmma(WGMMA_LARGE), tensor, bulk] => matmul_wgmma_e5m2;
    F8E5M2 to Bf16 [Method::Wgmma(WGMMA_MEDIUM), tensor, bulk] => matmul_wgmma_medium_e5m2;
    F8E5M2 to Bf16 [Method::Wgmma(WGMMA_SMALL), tensor, bulk] => matmul_wgmma_small_e5m2;
    F8E5M2 to Bf16 [Method::Wgmma(WGMMA_DEEP), tensor, bulk] => matmul_wgmma_deep_e5m2;
    F8E5M2 to F32 [Method::Wgmma(WGMMA_LARGE), tensor, direct] => matmul_wgmma_e5m2_f32;
    F8E5M2 to F32 [Method::Wgmma(WGMMA_MEDIUM), tensor, direct] => matmul_wgmma_medium_e5m2_f32;
    F8E5M2 to F32 [Method::Wgmma(WGMMA_SMALL), tensor, direct] => matmul_wgmma_small_e5m2_f32;
    F8E5M2 to F32 [Method::Wgmma(WGMMA_DEEP), tensor, direct] => matmul_wgmma_deep_e5m2_f32;
    F16 to F16 [Method::Skinny(SKINNY_SMALL), tensor, direct] => matmul_wgmma_skinny_small_f16_n
        matmul_wgmma_skinny_small_f16_t;
    F16 to F16 [Method::Skinny(SKINNY_MEDIUM), tensor, direct] => matmul_wgmma_skinny_medium_f16_n
        matmul_wgmma_skinny_medium_f16_t;
    F16 to F16 [Method::Skinny(SKINNY_LARGE), tensor, direct] => matmul_wgmma_skinny_f16_n
        matmul_wgmma_skinny_f16_t;
    F16 to F16 [Method::Skinny(SKINNY_TALL), tensor, direct] => matmul_wgmma_skinny_tall_f16_n
        matmul_wgmma_skinny_tall_f16_t;
    F16 to F16 [Method::Skinny(SKINNY_SQUARE), tensor, direct] => matmul_wgmma_skinny_square_f16_n
        matmul_wgmma_skinny_square_f16_t;
    F16 to F32 [Method::Skinny(SKINNY_SMALL), tensor, direct] => matmul_wgmma_skinny_small_f16_f32_n
        matmul_wgmma_skinny_small_f16_f32_t;
    F16 to F32 [Method::Skinny(SKINNY_MEDIUM), tensor, direct] => matmul_wgmma_skinny_medium_f16_f32_n
        matmul_wgmma_skinny_medium_f16_f32_t;
    F16 to F32 [Method::Skinny(SKINNY_LARGE), tensor, direct] => matmul_wgmma_skinny_f16_f32_n
        matmul_wgmma_skinny_f16_f32_t;
    F16 to F32 [Method::Skinny(SKINNY_TALL), tensor, direct] => matmul_wgmma_skinny_tall_f16_f32_n
        matmul_wgmma_skinny_tall_f16_f32_t;
    F16 to F32 [Method::Skinny(SKINNY_SQUARE), tensor, direct] => matmul_wgmma_skinny_square_f16_f32_n
        matmul_wgmma_skinny_square_f16_f32_t;
    Bf16 to Bf16 [Method::Skinny(SKINNY_SMALL), tensor, direct] => matmul_wgmma_skinny_small_bf16_n
        matmul_wgmma_skinny_small_bf16_t;
    Bf16 to Bf16 [Method::Skinny(SKINNY_MEDIUM), tensor, direct] => matmul_wgmma_skinny_medium_bf16_n
        matmul_wgmma_skinny_medium_bf16_t;
    Bf16 to Bf16 [Method::Skinny(SKINNY_LARGE), tensor, direct] => matmul_wgmma_skinny_bf16_n
        matmul_wgmma_skinny_bf16_t;
    Bf16 to Bf16 [Method::Skinny(SKINNY_TALL), tensor, direct] => matmul_wgmma_skinny_tall_bf16_n
        matmul_wgmma_skinny_tall_bf16_t;
    Bf16 to Bf16 [Method::Skinny(SKINNY_SQUARE), tensor, direct] => matmul_wgmma_skinny_square_bf16_n
        matmul_wgmma_skinny_square_bf16_t;
    Bf16 to F32 [Method::Skinny(SKINNY_SMALL), tensor, direct] => matmul_wgmma_skinny_small_bf16_f32_n
        matmul_wgmma_skinny_small_bf16_f32_t;
    Bf16 to F32 [Method::Skinny(SKINNY_MEDIUM), tensor, direct] => matmul_wgmma_skinny_medium_bf16_f32_n
        matmul_wgmma_skinny_medium_bf16_f32_t;
    Bf16 to F32 [Method::Skinny(SKINNY_LARGE), tensor, direct] => matmul_wgmma_skinny_bf16_f32_n
        matmul_wgmma_skinny_bf16_f32_t;
    Bf16 to F32 [Method::Skinny(SKINNY_TALL), tensor, direct] => matmul_wgmma_skinny_tall_bf16_f32_n
        matmul_wgmma_skinny_tall_bf16_f32_t;
    Bf16 to F32 [Method::Skinny(SKINNY_SQUARE), tensor, direct] => matmul_wgmma_skinny_square_bf16_f32_n
        matmul_wgmma_skinny_square_bf16_f32_t;
    I8 to I32 [Method::Skinny(SKINNY_SMALL), tensor, direct] => matmul_wgmma_skinny_small_i8;
    I8 to I32 [Method::Skinny(SKINNY_MEDIUM), tensor, direct] => matmul_wgmma_skinny_medium_i8;
    I8 to I32 [Method::Skinny(SKINNY_LARGE), tensor, direct] => matmul_wgmma_skinny_i8;
    I8 to I32 [Method::Skinny(SKINNY_TALL), tensor, direct] => matmul_wgmma_skinny_tall_i8;
    I8 to I32 [Method::Skinny(SKINNY_SQUARE), tensor, direct] => matmul_wgmma_skinny_square_i8;
    I8 to F32 [Method::Skinny(SKINNY_SMALL), tensor, direct] => matmul_wgmma_skinny_small_i8_f32;
    I8 to F32 [Method::Skinny(SKINNY_MEDIUM), tensor, direct] => matmul_wgmma_skinny_medium_i8_f32;
    I8 to F32 [Method::Skinny(SKINNY_LARGE), tensor, direct] => matmul_wgmma_skinny_i8_f32;
    I8 to F32 [Method::Skinny(SKINNY_TALL), tensor, direct] => matmul_wgmma_skinny_tall_i8_f32;
    I8 to F32 [Method::Skinny(SKINNY_SQUARE), tensor, direct] => matmul_wgmma_skinny_square_i8_f32;
    I8 to Bf16 [Method::Skinny(SKINNY_SMALL), tensor, direct] => matmul_wgmma_skinny_small_i8_bf16;
    I8 to Bf16 [Method::Skinny(SKINNY_MEDIUM), tensor, direct] => matmul_wgmma_skinny_medium_i8_bf16;
    I8 to Bf16 [Method::Skinny(SKINNY_LARGE), tensor, direct] => matmul_wgmma_skinny_i8_bf16;
    I8 to Bf16 [Method::Skinny(SKINNY_TALL), tensor, direct] => matmul_wgmma_skinny_tall_i8_bf16;
    I8 to Bf16 [Method::Skinny(SKINNY_SQUARE), tensor, direct] => matmul_wgmma_skinny_square_i8_bf16;
    I8 to F16 [Method::Skinny(SKINNY_SMALL), tensor, direct] => matmul_wgmma_skinny_small_i8_f16;
    I8 to F16 [Method::Skinny(SKINNY_MEDIUM), tensor, direct] => matmul_wgmma_skinny_medium_i8_f16;
    I8 to F16 [Method::Skinny(SKINNY_LARGE), tensor, direct] => matmul_wgmma_skinny_i8_f16;
    I8 to F16 [Method::Skinny(SKINNY_TALL), tensor, direct] => matmul_wgmma_skinny_tall_i8_f16;
    I8 to F16 [Method::Skinny(SKINNY_SQUARE), tensor, direct] => matmul_wgmma_skinny_square_i8_f16;
    F8E4M3 to Bf16 [Method::Skinny(SKINNY_SMALL), tensor, direct] => matmul_wgmma_skinny_small_e4m3;
    F8E4M3 to Bf16 [Method::Skinny(SKINNY_MEDIUM), tensor, direct] => matmul_wgmma_skinny_medium_e4m3;
    F8E4M3 to Bf16 [Method::Skinny(SKINNY_LARGE), tensor, direct] => matmul_wgmma_skinny_e4m3;
    F8E4M3 to Bf16 [Method::Skinny(SKINNY_TALL), tensor, direct] => matmul_wgmma_skinny_tall_e4m3;
    F8E4M3 to Bf16 [Method::Skinny(SKINNY_SQUARE), tensor, direct] => matmul_wgmma_skinny_square_e4m3;
    F8E4M3 to F32 [Method::Skinny(SKINNY_SMALL), tensor, direct] => matmul_wgmma_skinny_small_e4m3_f32;
    F8E4M3 to F32 [Method::Skinny(SKINNY_MEDIUM), tensor, direct] => matmul_wgmma_skinny_medium_e4m3_f32;
    F8E4M3 to F32 [Method::Skinny(SKINNY_LARGE), tensor, direct] => matmul_wgmma_skinny_e4m3_f32;
    F8E4M3 to F32 [Method::Skinny(SKINNY_TALL), tensor, direct] => matmul_wgmma_skinny_tall_e4m3_f32;
    F8E4M3 to F32 [Method::Skinny(SKINNY_SQUARE), tensor, direct] => matmul_wgmma_skinny_square_e4m3_f32;
    F8E5M2 to Bf16 [Method::Skinny(SKINNY_SMALL), tensor, direct] => matmul_wgmma_skinny_small_e5m2;
    F8E5M2 to Bf16 [Method::Skinny(SKINNY_MEDIUM), tensor, direct] => matmul_wgmma_skinny_medium_e5m2;
    F8E5M2 to Bf16 [Method::Skinny(SKINNY_LARGE), tensor, direct] => matmul_wgmma_skinny_e5m2;
    F8E5M2 to Bf16 [Method::Skinny(SKINNY_TALL), tensor, direct] => matmul_wgmma_skinny_tall_e5m2;
    F8E5M2 to Bf16 [Method::Skinny(SKINNY_SQUARE), tensor, direct] => matmul_wgmma_skinny_square_e5m2;
    F8E5M2 to F32 [Method::Skinny(SKINNY_SMALL), tensor, direct] => matmul_wgmma_skinny_small_e5m2_f32;
    F8E5M2 to F32 [Method::Skinny(SKINNY_MEDIUM), tensor, direct] => matmul_wgmma_skinny_medium_e5m2_f32;
    F8E5M2 to F32 [Method::Skinny(SKINNY_LARGE), tensor, direct] => matmul_wgmma_skinny_e5m2_f32;
    F8E5M2 to F32 [Method::Skinny(SKINNY_TALL), tensor, direct] => matmul_wgmma_skinny_tall_e5m2_f32;
    F8E5M2 to F32 [Method::Skinny(SKINNY_SQUARE), tensor, direct] => matmul_wgmma_skinny_square_e5m2_f32;
    F32 to F32 [Method::Split(LARGE), tensor, split] => matmul_split_f32;
    F32 to F32 [Method::Split(SMALL), tensor, split] => matmul_split_small_f32;
    F32 to F32 [Method::SplitMma(LARGE), matmul, split_mma] => matmul_mma_split_f32;
    F32 to F32 [Method::SplitMma(SMALL), matmul, split_mma] => matmul_mma_split_small_f32;
    F32 to F32 [Method::Wide, matmul, wide] => matmul_wide_f32_nn matmul_wide_f32_nn_unaligned
        matmul_wide_f32_tn matmul_wide_f32_nt matmul_wide_f32_tt;
    F32 to F32 [Method::WideMma, matmul, wide] => matmul_mma_wide_f32_nn matmul_mma_wide_f32_nn_unaligned
        matmul_mma_wide_f32_tn matmul_mma_wide_f32_nt matmul_mma_wide_f32_tt;
    F32 to F32 [Method::Grouped(LARGE), matmul, group] => matmul_grouped_f32_nn matmul_grouped_f32_tn
        matmul_grouped_f32_nt;
    F32 to F32 [Method::Grouped(SMALL), matmul, group] => matmul_grouped_small_f32_nn
        matmul_grouped_small_f32_tn matmul_grouped_small_f32_nt matmul_grouped_small_f32_tt;
    F64 to F64 [Method::Grouped(SMALL), matmul, group] => matmul_grouped_small_f64_nn
        matmul_grouped_small_f64_tn matmul_grouped_small_f64_nt matmul_grouped_small_f64_tt;
    F16 to F16 [Method::GroupedMma, matmul, group] => matmul_mma_grouped_f16_nn matmul_mma_grouped_f16_tn
        matmul_mma_grouped_f16_nt matmul_mma_grouped_f16_tt;
    Bf16 to Bf16 [Method::GroupedMma, matmul, group] => matmul_mma_grouped_bf16_nn matmul_mma_grouped_bf16_tn
        matmul_mma_grouped_bf16_nt matmul_mma_grouped_bf16_tt;
    F32 to F32 [Method::Vector(ALONG), matvec, vector] => matvec_along_f32;
    F32 to F32 [Method::Vector(ACROSS), matvec, vector] => matvec_across_f32;
    F64 to F64 [Method::Vector(ALONG), matvec, vector] => matvec_along_f64;
    F64 to F64 [Method::Vector(ACROSS), matvec, vector] => matvec_across_f64;
    F16 to F16 [Method::Vector(ALONG), matvec, vector] => matvec_along_f16;
    F16 to F16 [Method::Vector(ACROSS), matvec, vector] => matvec_across_f16;
    F16 to F32 [Method::Vector(ALONG), matvec, vector] => matvec_along_f16_f32;
    F16 to F32 [Method::Vector(ACROSS), matvec, vector] => matvec_across_f16_f32;
    Bf16 to Bf16 [Method::Vector(ALONG), matvec, vector] => matvec_along_bf16;
    Bf16 to Bf16 [Method::Vector(ACROSS), matvec, vector] => matvec_across_bf16;
    Bf16 to F32 [Method::Vector(ALONG), matvec, vector] => matvec_along_bf16_f32;
    Bf16 to F32 [Method::Vector(ACROSS), matvec, vector] => matvec_across_bf16_f32;
    I8 to I32 [Method::Vector(EITHER), matvec, bytes] => matvec_i8;
    I8 to F32 [Method::Vector(EITHER), matvec, bytes] => matvec_i8_f32;
    I8 to Bf16 [Method::Vector(EITHER), matvec, bytes] => matvec_i8_bf16;
    I8 to F16 [Method::Vector(EITHER), matvec, bytes] => matvec_i8_f16;
    F8E4M3 to Bf16 [Method::Vector(EITHER), matvec, bytes] => matvec_e4m3;
    F8E4M3 to F32 [Method::Vector(EITHER), matvec, bytes] => matvec_e4m3_f32;
    F8E5M2 to Bf16 [Method::Vector(EITHER), matvec, bytes] => matvec_e5m2;
    F8E5M2 to F32 [Method::Vector(EITHER), matvec, bytes] => matvec_e5m2_f32;
}
