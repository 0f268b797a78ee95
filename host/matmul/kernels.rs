//! The table of product kernels.

use super::fastest::MatmulElement;
use crate::element::Element;
use crate::error::Outcome;
use crate::kernels::module_of;
use crate::launch::LaunchConfig;
use crate::module::Module;
use crate::module_source::ModuleSource;
use cuda_std::global::{Global, GlobalMut};
use cuda_std::grid_constant::GridConstant;
use cuda_std::kernel::{Architecture, Kernel};
use cuda_std::tma::{TensorMap, TensorMapMut};
use half::f16;
use tilewright_kernels::matmul::{self, ProductDescriptor, ProductKernel};
use tilewright_kernels::tensor;

/// The type of a matrix's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    F16,
    Bf16,
    F32,
    F64,
}

impl ElementType {
    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            Self::F16 | Self::Bf16 => size_of::<f16>(),
            Self::F32 => size_of::<f32>(),
            Self::F64 => size_of::<f64>(),
        }
    }
}

/// How many outputs each thread of [`Device::matmul_coarsened`](crate::Device::matmul_coarsened)
/// computes, and so how many its block does. The bits of the product do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TileConfig {
    /// 4 x 4 outputs for each thread, 64 x 64 for each block of threads.
    Small,
    /// 8 x 8 outputs of f32 for each thread, 128 x 128 for each block; 8 x 4 of f64, 128 x 64.
    Large,
}

/// A way to multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// One output for each thread.
    Tiled,
    /// A block of outputs for each thread.
    Coarsened(TileConfig),
    /// Products of halves on the tensor cores.
    Wgmma,
    /// f32 as products of halves on the tensor cores.
    Split,
    /// What `Split` leaves out, on the ordinary units.
    Wide,
}

impl Method {
    /// Whether warps can have any number of threads.
    pub fn has_any_warps(self) -> bool {
        matches!(self, Self::Tiled | Self::Coarsened(_) | Self::Wide)
    }
}

/// One kernel: a line of the table.
pub struct GemmKernel {
    /// The name of its entry.
    pub name: &'static str,
    pub method: Method,
    /// The type of the elements of A, B and C.
    pub element: ElementType,
    /// The architecture that its entry is compiled for.
    pub architecture: Architecture,
    /// Layouts, alignment and the tile.
    pub descriptor: ProductDescriptor,
    /// The PTX of its entry.
    pub module: &'static ModuleSource,
    pub entry: Entry,
}

/// How a kernel is launched, for the types that it multiplies.
#[derive(Clone, Copy)]
pub enum Entry {
    F32(Launch<f32>),
    F64(Launch<f64>),
    Half(HalfLaunch),
    Split,
    Wide(WideLaunch),
}

/// The arguments of every product kernel: A, B, C, M, N, K, and the leading dimensions of A, B, C.
pub type GemmArguments<'a, T> = (
    Global<'a, T>,
    Global<'a, T>,
    GlobalMut<'a, T>,
    usize,
    usize,
    usize,
    usize,
    usize,
    usize,
);

/// The launch of one kernel.
///
/// # Safety
/// 1. The launch meets the requirements in the kernel's documentation.
/// 2. The views are of live memory of the module's device, and until the call returns no other thread
///    submits work that writes what the kernel reads or accesses what it writes.
pub type Launch<T> = unsafe fn(&Module, LaunchConfig, GemmArguments<'_, T>) -> Outcome<()>;

/// The launch of a kernel on maps of A, B and C, of an M x N product of length K.
///
/// # Safety
/// As for [`Launch`]: the views are the maps.
pub type HalfLaunch =
    unsafe fn(&Module, LaunchConfig, [MapWords; 3], (u32, u32, u32)) -> Outcome<()>;

/// A tensor map, encoded.
pub type MapWords = [u64; 16];

/// The launch of a kernel that computes the outputs of wide lines: the arguments of a product, and the
/// words of A's and of B's lines.
///
/// # Safety
/// As for [`Launch`].
pub type WideLaunch =
    unsafe fn(&Module, LaunchConfig, GemmArguments<'_, f32>, [Global<'_, u32>; 2]) -> Outcome<()>;

/// The architecture of a kernel that states none: the oldest that is built for.
const OLDEST: Architecture = Architecture::parse("sm_75").expect("it is the name of one");

macro_rules! kernels {
    ($($element:ident $method:expr, $room:ident, $entry:ident => $($kernel:ident)*;)*) => {
        &[$($(GemmKernel {
            name: <$room::$kernel as Kernel>::NAME,
            method: $method,
            element: ElementType::$element,
            architecture: match <$room::$kernel as Kernel>::ARCH {
                Some(stated) => stated,
                None => OLDEST,
            },
            descriptor: <$room::$kernel as ProductKernel>::DESCRIPTOR,
            module: module_of!($kernel),
            entry: kernels!(@$entry $element $room::$kernel),
        },)*)*]
    };
    (@plain $element:ident $kernel:path) => {
        Entry::$element(|module, config, arguments| {
            // SAFETY: (1), (2) are those of `Launch`.
            unsafe { module.launch_params($kernel(), config, arguments) }
        })
    };
    (@maps $element:ident $kernel:path) => {
        Entry::Half(|module, config, [a, b, c], (m, n, k)| {
            let (a, b, c) = (
                TensorMap::of_words(a),
                TensorMap::of_words(b),
                TensorMapMut::of_words(c),
            );
            let constants = (
                GridConstant::new(&a),
                GridConstant::new(&b),
                GridConstant::new(&c),
            );
            let params = (constants.0, constants.1, constants.2, m, n, k);
            // SAFETY: (1), (2) are those of `HalfLaunch`.
            unsafe { module.launch_params($kernel(), config, params) }
        })
    };
    (@split $element:ident $kernel:path) => {
        Entry::Split
    };
    (@wide $element:ident $kernel:path) => {
        Entry::Wide(|module, config, arguments, [a_words, b_words]| {
            let (a, b, c, m, n, k, lda, ldb, ldc) = arguments;
            let params = (a, b, c, m, n, k, lda, ldb, ldc, a_words, b_words);
            // SAFETY: (1), (2) are those of `WideLaunch`.
            unsafe { module.launch_params($kernel(), config, params) }
        })
    };
}

/// Every product kernel.
pub static KERNELS: &[GemmKernel] = kernels! {
    F32 Method::Tiled, matmul, plain => matmul_tiled_f32_nn matmul_tiled_f32_tn matmul_tiled_f32_nt
        matmul_tiled_f32_tt;
    F64 Method::Tiled, matmul, plain => matmul_tiled_f64_nn matmul_tiled_f64_tn matmul_tiled_f64_nt
        matmul_tiled_f64_tt;
    F32 Method::Coarsened(TileConfig::Large), matmul, plain => matmul_coarsened_f32_nn
        matmul_coarsened_f32_nn_unaligned matmul_coarsened_f32_tn matmul_coarsened_f32_nt
        matmul_coarsened_f32_tt;
    F32 Method::Coarsened(TileConfig::Small), matmul, plain => matmul_coarsened_small_f32_nn
        matmul_coarsened_small_f32_nn_unaligned matmul_coarsened_small_f32_tn
        matmul_coarsened_small_f32_nt matmul_coarsened_small_f32_tt;
    F64 Method::Coarsened(TileConfig::Large), matmul, plain => matmul_coarsened_f64_nn
        matmul_coarsened_f64_nn_unaligned matmul_coarsened_f64_tn matmul_coarsened_f64_nt
        matmul_coarsened_f64_tt;
    F64 Method::Coarsened(TileConfig::Small), matmul, plain => matmul_coarsened_small_f64_nn
        matmul_coarsened_small_f64_nn_unaligned matmul_coarsened_small_f64_tn
        matmul_coarsened_small_f64_nt matmul_coarsened_small_f64_tt;
    F16 Method::Wgmma, tensor, maps => matmul_wgmma_f16_nn matmul_wgmma_f16_nt matmul_wgmma_f16_tn
        matmul_wgmma_f16_tt;
    Bf16 Method::Wgmma, tensor, maps => matmul_wgmma_bf16_nn matmul_wgmma_bf16_nt
        matmul_wgmma_bf16_tn matmul_wgmma_bf16_tt;
    F32 Method::Split, tensor, split => matmul_split_f32;
    F32 Method::Wide, matmul, wide => matmul_wide_f32_nn matmul_wide_f32_nn_unaligned
        matmul_wide_f32_tn matmul_wide_f32_nt matmul_wide_f32_tt;
};

/// A type whose matrices can be multiplied: f32 and f64.
#[diagnostic::on_unimplemented(
    message = "matrices of `{Self}` cannot be multiplied",
    note = "products are for f32 and f64"
)]
pub trait GemmElement: MatmulElement + sealed::GemmElement {}

pub mod sealed {
    use super::{Element, Entry, Launch};

    /// A type that the table has kernels for.
    pub trait GemmElement: Element {
        /// The launch of an entry for this type, or `None` where it is for another.
        fn launch_of(entry: Entry) -> Option<Launch<Self>>;
    }
}

macro_rules! gemm_elements {
    ($($element:ty: $name:ident;)*) => {$(
        impl GemmElement for $element {}

        impl sealed::GemmElement for $element {
            fn launch_of(entry: Entry) -> Option<Launch<Self>> {
                match entry {
                    Entry::$name(launch) => Some(launch),
                    _ => None,
                }
            }
        }
    )*};
}
gemm_elements! {
    f32: F32;
    f64: F64;
}
