//! The table of product kernels.

use super::fastest::{Accumulate, Accumulator, MatmulInto};
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
use half::{bf16, f16};
use tilewright_kernels::epilogue::EpilogueNumbers;
use tilewright_kernels::matmul::{
    self, ProductDescriptor, ProductGroup, ProductKernel, ProductShape,
};
use tilewright_kernels::matvec;
use tilewright_kernels::tensor::{self, ClusterTile, TensorShape};

/// The type of a matrix's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementType {
    F16,
    Bf16,
    F32,
    F64,
    I8,
    I32,
    F8E4M3,
    F8E5M2,
}

impl ElementType {
    /// The tiles of the clusters that multiply elements of the type by `Method::Wgmma`.
    pub const fn cluster_tile(self, tiles: TileConfig) -> &'static ClusterTile {
        match (self, tiles) {
            (Self::I8, TileConfig::Small) => &tensor::I8_SMALL,
            (Self::I8, TileConfig::Large) => &tensor::I8_LARGE,
            (Self::F8E4M3 | Self::F8E5M2, TileConfig::Small) => &tensor::F8_SMALL,
            (Self::F8E4M3 | Self::F8E5M2, TileConfig::Large) => &tensor::F8_LARGE,
            (_, TileConfig::Small) => &tensor::HALF_SMALL,
            (_, TileConfig::Large) => &tensor::HALF_LARGE,
        }
    }

    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::F8E4M3 | Self::F8E5M2 => size_of::<u8>(),
            Self::F16 | Self::Bf16 => size_of::<f16>(),
            Self::F32 | Self::I32 => size_of::<f32>(),
            Self::F64 => size_of::<f64>(),
        }
    }
}

/// How many outputs a block of a product computes: each thread of
/// [`Device::matmul_coarsened`](crate::Device::matmul_coarsened) several. The bits of the product do not
/// depend on it.
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
    /// The same for each warp, on tensor cores: of f64 with the same bits.
    Mma(TileConfig),
    /// Products of halves or bytes on the tensor cores.
    Wgmma(TileConfig),
    /// f32 as products of halves on the tensor cores.
    Split,
    /// What `Split` leaves out, on the ordinary units.
    Wide,
    /// The sums of the products of each line of a matrix with a vector.
    Vector(VectorLines),
    /// `Coarsened`, of products of unequal shapes.
    Grouped(TileConfig),
}

/// How the lines lie that are multiplied by a vector: rows of A, or columns of B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorLines {
    /// A line's elements lie one after another.
    Along,
    /// The elements of neighbouring lines do.
    Across,
}

impl Method {
    /// Whether warps can have any number of threads.
    pub fn has_any_warps(self) -> bool {
        matches!(
            self,
            Self::Tiled | Self::Coarsened(_) | Self::Wide | Self::Vector(_) | Self::Grouped(_)
        )
    }
}

/// One kernel: a line of the table.
pub struct GemmKernel {
    /// The name of its entry.
    pub name: &'static str,
    pub method: Method,
    /// The type of the elements of A and B.
    pub element: ElementType,
    /// The type of the elements of C.
    pub output: ElementType,
    /// The architecture that its entry is compiled for.
    pub architecture: Architecture,
    /// Layouts, alignment and the tile.
    pub descriptor: ProductDescriptor,
    /// The PTX of its entry.
    pub module: &'static ModuleSource,
    pub entry: Entry,
}

/// How a kernel is launched: chains by the type of all elements, warps' products of narrow elements by those of
/// the operands and of C, warpgroups' by that of C.
#[derive(Clone, Copy)]
pub enum Entry {
    F32(ChainLaunch<f32>),
    F64(ChainLaunch<f64>),
    /// Of words of four i8.
    Words(ChainLaunch<i32>),
    MmaF16(ProductLaunch<f16, f16, f32>),
    MmaF16ToF32(ProductLaunch<f16, f32, f32>),
    MmaBf16(ProductLaunch<bf16, bf16, f32>),
    MmaBf16ToF32(ProductLaunch<bf16, f32, f32>),
    MmaI8(ProductLaunch<i8, i32, i32>),
    TensorF16(TensorLaunch<f16, f32>),
    TensorBf16(TensorLaunch<bf16, f32>),
    TensorF32(TensorLaunch<f32, f32>),
    TensorI32(TensorLaunch<i32, i32>),
    Split,
    Wide(WideLaunch),
    /// By the types of the operands and of the product.
    Vector,
    GroupF32(GroupLaunch<f32>),
    GroupF64(GroupLaunch<f64>),
}

/// The arguments of a kernel of elements `T`, whose outputs are `O` and whose sums are `S`.
pub struct ProductArguments<'a, T, O, S> {
    pub a: Global<'a, T>,
    pub b: Global<'a, T>,
    pub c: GlobalMut<'a, O>,
    pub shape: ProductShape,
    pub epilogue: EpilogueArguments<'a, S>,
}

/// Those of a chain.
pub type ChainArguments<'a, T> = ProductArguments<'a, T, T, T>;

/// What a kernel is told about its epilogue, in numbers of type `S`.
#[derive(Clone, Copy)]
pub struct EpilogueArguments<'a, S> {
    pub numbers: EpilogueNumbers<S>,
    pub row_scale: Global<'a, S>,
    pub column_scale: Global<'a, S>,
    pub row_bias: Global<'a, S>,
    pub column_bias: Global<'a, S>,
}

/// The launch of a kernel with a block for each part of C. The tiled kernels write sums as they are, of one
/// product.
///
/// # Safety
/// 1. The launch meets the requirements in the kernel's documentation.
/// 2. The views are of live memory of the module's device, and until the call returns no other thread
///    submits work that writes what the kernel reads or accesses what it writes.
pub type ProductLaunch<T, O, S> =
    unsafe fn(&Module, LaunchConfig, ProductArguments<'_, T, O, S>) -> Outcome<()>;

/// That of a chain.
pub type ChainLaunch<T> = ProductLaunch<T, T, T>;

/// The arguments of a kernel on tensor cores, whose outputs are `O` and whose sums are `S`.
pub struct TensorArguments<'a, O, S> {
    pub a: MapWords,
    pub b: MapWords,
    /// A map of C, for kernels that write halves; others do not read it.
    pub c_map: MapWords,
    pub c: GlobalMut<'a, O>,
    pub shape: TensorShape,
    pub epilogue: EpilogueArguments<'a, S>,
}

/// The launch of a kernel on tensor cores.
///
/// # Safety
/// As for [`ProductLaunch`]: the maps are views.
pub type TensorLaunch<O, S> =
    unsafe fn(&Module, LaunchConfig, TensorArguments<'_, O, S>) -> Outcome<()>;

/// A tensor map, encoded.
pub type MapWords = [u64; 16];

/// The launch of a kernel that computes the outputs of wide lines: the arguments of a product, and the
/// words of A's and of B's lines.
///
/// # Safety
/// As for [`ProductLaunch`].
pub type WideLaunch =
    unsafe fn(&Module, LaunchConfig, ChainArguments<'_, f32>, [Global<'_, u32>; 2]) -> Outcome<()>;

/// The launch of a kernel of products of unequal shapes.
///
/// # Safety
/// As for [`ChainLaunch`]: the addresses in the table are views.
pub type GroupLaunch<T> =
    unsafe fn(&Module, LaunchConfig, &ProductGroup, &EpilogueNumbers<T>) -> Outcome<()>;

/// The architecture of a kernel that states none: the oldest that is built for.
const OLDEST: Architecture = Architecture::parse("sm_75").expect("it is the name of one");

macro_rules! kernels {
    ($($element:ident to $output:ident [$method:expr, $room:ident, $entry:ident] => $($kernel:ident)*;)*) => {
        &[$($(GemmKernel {
            name: <$room::$kernel as Kernel>::NAME,
            method: $method,
            element: ElementType::$element,
            output: ElementType::$output,
            architecture: match <$room::$kernel as Kernel>::ARCH {
                Some(stated) => stated,
                None => OLDEST,
            },
            descriptor: <$room::$kernel as ProductKernel>::DESCRIPTOR,
            module: module_of!($kernel),
            entry: kernels!(@$entry $element $room::$kernel),
        },)*)*]
    };
    (@tiled $element:ident $kernel:path) => {
        Entry::$element(|module, config, arguments| {
            let ChainArguments { a, b, c, shape, .. } = arguments;
            let ProductShape { m, n, k, lda, ldb, ldc, .. } = shape;
            // SAFETY: (1), (2) are those of `ProductLaunch`.
            unsafe { module.launch_params($kernel(), config, (a, b, c, m, n, k, lda, ldb, ldc)) }
        })
    };
    (@chain $element:ident $kernel:path) => { kernels!(@ordinary $element $kernel) };
    (@words $element:ident $kernel:path) => { kernels!(@ordinary Words $kernel) };
    (@mma_f16 $element:ident $kernel:path) => { kernels!(@ordinary MmaF16 $kernel) };
    (@mma_f16_f32 $element:ident $kernel:path) => { kernels!(@ordinary MmaF16ToF32 $kernel) };
    (@mma_bf16 $element:ident $kernel:path) => { kernels!(@ordinary MmaBf16 $kernel) };
    (@mma_bf16_f32 $element:ident $kernel:path) => { kernels!(@ordinary MmaBf16ToF32 $kernel) };
    (@mma_i8 $element:ident $kernel:path) => { kernels!(@ordinary MmaI8 $kernel) };
    (@ordinary $entry:ident $kernel:path) => {
        Entry::$entry(|module, config, arguments| {
            let ProductArguments { a, b, c, shape, epilogue } = arguments;
            let EpilogueArguments { numbers, row_scale, column_scale, row_bias, column_bias } = epilogue;
            let (shape, numbers) = (GridConstant::new(&shape), GridConstant::new(&numbers));
            let params = (a, b, c, shape, numbers, row_scale, column_scale, row_bias, column_bias);
            // SAFETY: (1), (2) are those of `ProductLaunch`.
            unsafe { module.launch_params($kernel(), config, params) }
        })
    };
    (@tensor_f16 $element:ident $kernel:path) => { kernels!(@mapped TensorF16 $kernel) };
    (@tensor_bf16 $element:ident $kernel:path) => { kernels!(@mapped TensorBf16 $kernel) };
    (@mapped $entry:ident $kernel:path) => {
        Entry::$entry(|module, config, arguments| {
            let TensorArguments { a, b, c_map, c, shape, epilogue } = arguments;
            let EpilogueArguments { numbers, row_scale, column_scale, row_bias, column_bias } = epilogue;
            let (a, b) = (TensorMap::of_words(a), TensorMap::of_words(b));
            let c_map = TensorMapMut::of_words(c_map);
            let (a, b) = (GridConstant::new(&a), GridConstant::new(&b));
            let c_map = GridConstant::new(&c_map);
            let (shape, numbers) = (GridConstant::new(&shape), GridConstant::new(&numbers));
            let params = (a, b, c_map, c, shape, numbers, row_scale, column_scale, row_bias, column_bias);
            // SAFETY: (1), (2) are those of `TensorLaunch`.
            unsafe { module.launch_params($kernel(), config, params) }
        })
    };
    (@tensor_f32 $element:ident $kernel:path) => { kernels!(@direct TensorF32 $kernel) };
    (@tensor_i32 $element:ident $kernel:path) => { kernels!(@direct TensorI32 $kernel) };
    (@direct $entry:ident $kernel:path) => {
        Entry::$entry(|module, config, arguments| {
            let TensorArguments { a, b, c, shape, epilogue, .. } = arguments;
            let EpilogueArguments { numbers, row_scale, column_scale, row_bias, column_bias } = epilogue;
            let (a, b) = (TensorMap::of_words(a), TensorMap::of_words(b));
            let (a, b) = (GridConstant::new(&a), GridConstant::new(&b));
            let (shape, numbers) = (GridConstant::new(&shape), GridConstant::new(&numbers));
            let params = (a, b, c, shape, numbers, row_scale, column_scale, row_bias, column_bias);
            // SAFETY: (1), (2) are those of `TensorLaunch`.
            unsafe { module.launch_params($kernel(), config, params) }
        })
    };
    (@group F32 $kernel:path) => { kernels!(@grouped GroupF32 $kernel) };
    (@group F64 $kernel:path) => { kernels!(@grouped GroupF64 $kernel) };
    (@grouped $entry:ident $kernel:path) => {
        Entry::$entry(|module, config, group, numbers| {
            // SAFETY: (1) no element. (2) None is touched.
            let memory = unsafe {
                let operands = Global::from_raw_parts(std::ptr::null(), 0);
                (operands, GlobalMut::from_raw_parts(std::ptr::null_mut(), 0))
            };
            let (group, numbers) = (GridConstant::new(group), GridConstant::new(numbers));
            let params = (memory.0, memory.1, group, numbers);
            // SAFETY: (1), (2) are those of `GroupLaunch`, and the views are those of address 0.
            unsafe { module.launch_params($kernel(), config, params) }
        })
    };
    (@split $element:ident $kernel:path) => {
        Entry::Split
    };
    (@vector $element:ident $kernel:path) => {
        Entry::Vector
    };
    (@wide $element:ident $kernel:path) => {
        Entry::Wide(|module, config, arguments, [a_words, b_words]| {
            let ChainArguments { a, b, c, shape, epilogue } = arguments;
            let EpilogueArguments { numbers, row_scale, column_scale, row_bias, column_bias } = epilogue;
            let (shape, numbers) = (GridConstant::new(&shape), GridConstant::new(&numbers));
            let params = (
                a, b, c, shape, numbers, row_scale, column_scale, row_bias, column_bias, a_words, b_words,
            );
            // SAFETY: (1), (2) are those of `WideLaunch`.
            unsafe { module.launch_params($kernel(), config, params) }
        })
    };
}

const LARGE: TileConfig = TileConfig::Large;
const SMALL: TileConfig = TileConfig::Small;
const ALONG: VectorLines = VectorLines::Along;
const ACROSS: VectorLines = VectorLines::Across;

/// Every product kernel.
pub static KERNELS: &[GemmKernel] = kernels! {
    F32 to F32 [Method::Tiled, matmul, tiled] => matmul_tiled_f32_nn matmul_tiled_f32_tn matmul_tiled_f32_nt
        matmul_tiled_f32_tt;
    F64 to F64 [Method::Tiled, matmul, tiled] => matmul_tiled_f64_nn matmul_tiled_f64_tn matmul_tiled_f64_nt
        matmul_tiled_f64_tt;
    F32 to F32 [Method::Coarsened(LARGE), matmul, chain] => matmul_coarsened_f32_nn
        matmul_coarsened_f32_nn_unaligned matmul_coarsened_f32_tn matmul_coarsened_f32_nt
        matmul_coarsened_f32_tt;
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
    F16 to F16 [Method::Mma(LARGE), matmul, mma_f16] => matmul_mma_f16_nn matmul_mma_f16_tn matmul_mma_f16_nt
        matmul_mma_f16_tt;
    F16 to F16 [Method::Mma(SMALL), matmul, mma_f16] => matmul_mma_small_f16_nn matmul_mma_small_f16_tn
        matmul_mma_small_f16_nt matmul_mma_small_f16_tt;
    F16 to F32 [Method::Mma(LARGE), matmul, mma_f16_f32] => matmul_mma_f16_f32_nn matmul_mma_f16_f32_tn
        matmul_mma_f16_f32_nt matmul_mma_f16_f32_tt;
    F16 to F32 [Method::Mma(SMALL), matmul, mma_f16_f32] => matmul_mma_small_f16_f32_nn
        matmul_mma_small_f16_f32_tn matmul_mma_small_f16_f32_nt matmul_mma_small_f16_f32_tt;
    Bf16 to Bf16 [Method::Mma(LARGE), matmul, mma_bf16] => matmul_mma_bf16_nn matmul_mma_bf16_tn
        matmul_mma_bf16_nt matmul_mma_bf16_tt;
    Bf16 to Bf16 [Method::Mma(SMALL), matmul, mma_bf16] => matmul_mma_small_bf16_nn matmul_mma_small_bf16_tn
        matmul_mma_small_bf16_nt matmul_mma_small_bf16_tt;
    Bf16 to F32 [Method::Mma(LARGE), matmul, mma_bf16_f32] => matmul_mma_bf16_f32_nn matmul_mma_bf16_f32_tn
        matmul_mma_bf16_f32_nt matmul_mma_bf16_f32_tt;
    Bf16 to F32 [Method::Mma(SMALL), matmul, mma_bf16_f32] => matmul_mma_small_bf16_f32_nn
        matmul_mma_small_bf16_f32_tn matmul_mma_small_bf16_f32_nt matmul_mma_small_bf16_f32_tt;
    I8 to I32 [Method::Mma(LARGE), matmul, mma_i8] => matmul_mma_i8;
    I8 to I32 [Method::Mma(SMALL), matmul, mma_i8] => matmul_mma_small_i8;
    F16 to F16 [Method::Wgmma(LARGE), tensor, tensor_f16] => matmul_wgmma_f16_nn matmul_wgmma_f16_nt
        matmul_wgmma_f16_tn matmul_wgmma_f16_tt;
    F16 to F16 [Method::Wgmma(SMALL), tensor, tensor_f16] => matmul_wgmma_small_f16_nn matmul_wgmma_small_f16_nt
        matmul_wgmma_small_f16_tn matmul_wgmma_small_f16_tt;
    F16 to F32 [Method::Wgmma(LARGE), tensor, tensor_f32] => matmul_wgmma_f16_f32_nn matmul_wgmma_f16_f32_nt
        matmul_wgmma_f16_f32_tn matmul_wgmma_f16_f32_tt;
    F16 to F32 [Method::Wgmma(SMALL), tensor, tensor_f32] => matmul_wgmma_small_f16_f32_nn
        matmul_wgmma_small_f16_f32_nt matmul_wgmma_small_f16_f32_tn matmul_wgmma_small_f16_f32_tt;
    Bf16 to Bf16 [Method::Wgmma(LARGE), tensor, tensor_bf16] => matmul_wgmma_bf16_nn matmul_wgmma_bf16_nt
        matmul_wgmma_bf16_tn matmul_wgmma_bf16_tt;
    Bf16 to Bf16 [Method::Wgmma(SMALL), tensor, tensor_bf16] => matmul_wgmma_small_bf16_nn
        matmul_wgmma_small_bf16_nt matmul_wgmma_small_bf16_tn matmul_wgmma_small_bf16_tt;
    Bf16 to F32 [Method::Wgmma(LARGE), tensor, tensor_f32] => matmul_wgmma_bf16_f32_nn
        matmul_wgmma_bf16_f32_nt matmul_wgmma_bf16_f32_tn matmul_wgmma_bf16_f32_tt;
    Bf16 to F32 [Method::Wgmma(SMALL), tensor, tensor_f32] => matmul_wgmma_small_bf16_f32_nn
        matmul_wgmma_small_bf16_f32_nt matmul_wgmma_small_bf16_f32_tn matmul_wgmma_small_bf16_f32_tt;
    I8 to I32 [Method::Coarsened(LARGE), matmul, words] => matmul_coarsened_i8;
    I8 to I32 [Method::Coarsened(SMALL), matmul, words] => matmul_coarsened_small_i8;
    I8 to I32 [Method::Wgmma(LARGE), tensor, tensor_i32] => matmul_wgmma_i8;
    I8 to I32 [Method::Wgmma(SMALL), tensor, tensor_i32] => matmul_wgmma_small_i8;
    F8E4M3 to Bf16 [Method::Wgmma(LARGE), tensor, tensor_bf16] => matmul_wgmma_e4m3;
    F8E4M3 to Bf16 [Method::Wgmma(SMALL), tensor, tensor_bf16] => matmul_wgmma_small_e4m3;
    F8E4M3 to F32 [Method::Wgmma(LARGE), tensor, tensor_f32] => matmul_wgmma_e4m3_f32;
    F8E4M3 to F32 [Method::Wgmma(SMALL), tensor, tensor_f32] => matmul_wgmma_small_e4m3_f32;
    F8E5M2 to Bf16 [Method::Wgmma(LARGE), tensor, tensor_bf16] => matmul_wgmma_e5m2;
    F8E5M2 to Bf16 [Method::Wgmma(SMALL), tensor, tensor_bf16] => matmul_wgmma_small_e5m2;
    F8E5M2 to F32 [Method::Wgmma(LARGE), tensor, tensor_f32] => matmul_wgmma_e5m2_f32;
    F8E5M2 to F32 [Method::Wgmma(SMALL), tensor, tensor_f32] => matmul_wgmma_small_e5m2_f32;
    F32 to F32 [Method::Split, tensor, split] => matmul_split_f32;
    F32 to F32 [Method::Wide, matmul, wide] => matmul_wide_f32_nn matmul_wide_f32_nn_unaligned
        matmul_wide_f32_tn matmul_wide_f32_nt matmul_wide_f32_tt;
    F32 to F32 [Method::Grouped(LARGE), matmul, group] => matmul_grouped_f32_nn matmul_grouped_f32_tn
        matmul_grouped_f32_nt;
    F32 to F32 [Method::Grouped(SMALL), matmul, group] => matmul_grouped_small_f32_nn
        matmul_grouped_small_f32_tn matmul_grouped_small_f32_nt matmul_grouped_small_f32_tt;
    F64 to F64 [Method::Grouped(SMALL), matmul, group] => matmul_grouped_small_f64_nn
        matmul_grouped_small_f64_tn matmul_grouped_small_f64_nt matmul_grouped_small_f64_tt;
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
};

/// A type whose matrices can be multiplied: f32 and f64.
#[diagnostic::on_unimplemented(
    message = "matrices of `{Self}` cannot be multiplied",
    note = "products are for f32 and f64"
)]
pub trait GemmElement: MatmulInto<Self> + Accumulate<Product = Self> + sealed::GemmElement {}

pub mod sealed {
    use super::{
        Accumulate, Accumulator, ChainLaunch, Element, Entry, GroupLaunch, ProductLaunch,
        TensorLaunch,
    };

    /// A type that the table has kernels for.
    pub trait GemmElement: Element {
        /// The launch of an entry for this type, or `None` where it is for another.
        fn launch_of(entry: Entry) -> Option<ChainLaunch<Self>>;

        /// The same for products of unequal shapes.
        fn group_launch_of(entry: Entry) -> Option<GroupLaunch<Self>>;
    }

    /// A type that warps multiply on tensor cores, for products of type `O`.
    pub trait MmaInto<O: Element>: Accumulate {
        /// The launch of an entry for these types, or `None` where it is for others.
        fn launch_of(entry: Entry) -> Option<ProductLaunch<Self, O, Self::Accumulator>>;
    }

    /// A type of outputs of tensor cores.
    pub trait TensorOutput: Element {
        /// The type of sums.
        type Sum: Accumulator;

        /// The launch of an entry for this type, or `None` where it is for another.
        fn launch_of(entry: Entry) -> Option<TensorLaunch<Self, Self::Sum>>;
    }
}

macro_rules! gemm_elements {
    ($($element:ty: $name:ident, $group:ident;)*) => {$(
        impl GemmElement for $element {}

        impl sealed::GemmElement for $element {
            fn launch_of(entry: Entry) -> Option<ChainLaunch<Self>> {
                match entry {
                    Entry::$name(launch) => Some(launch),
                    _ => None,
                }
            }

            fn group_launch_of(entry: Entry) -> Option<GroupLaunch<Self>> {
                match entry {
                    Entry::$group(launch) => Some(launch),
                    _ => None,
                }
            }
        }
    )*};
}
gemm_elements! {
    f32: F32, GroupF32;
    f64: F64, GroupF64;
}

macro_rules! tensor_outputs {
    ($($element:ty, of $sum:ty: $name:ident;)*) => {$(
        impl sealed::TensorOutput for $element {
            type Sum = $sum;

            fn launch_of(entry: Entry) -> Option<TensorLaunch<Self, $sum>> {
                match entry {
                    Entry::$name(launch) => Some(launch),
                    _ => None,
                }
            }
        }
    )*};
}
tensor_outputs! {
    f16, of f32: TensorF16;
    bf16, of f32: TensorBf16;
    f32, of f32: TensorF32;
    i32, of i32: TensorI32;
}

macro_rules! mma_types {
    ($($element:ty => $output:ty: $name:ident;)*) => {$(
        impl sealed::MmaInto<$output> for $element {
            fn launch_of(
                entry: Entry,
            ) -> Option<ProductLaunch<Self, $output, <Self as Accumulate>::Accumulator>> {
                match entry {
                    Entry::$name(launch) => Some(launch),
                    _ => None,
                }
            }
        }
    )*};
}
mma_types! {
    f16 => f16: MmaF16;
    f16 => f32: MmaF16ToF32;
    bf16 => bf16: MmaBf16;
    bf16 => f32: MmaBf16ToF32;
    i8 => i32: MmaI8;
}
