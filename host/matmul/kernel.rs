//! A product kernel as the table describes it.

pub use super::types::ElementType;
use crate::error::CudaVersion;
use cuda_std::kernel::Architecture;
use tilewright_kernels::matmul::ProductDescriptor;
use tilewright_kernels::tensor::ClusterTile;

/// The tile size of a product: how many outputs a block computes.
///
/// The bits of the product do not depend on it. On CUDA cores, as in
/// [`Device::matmul_coarsened`](crate::Device::matmul_coarsened), the sizes are, in rows x columns:
///
/// | | small | medium | large |
/// |---|---|---|---|
/// | f32, each thread | 4 x 4 | 8 x 4 | 8 x 8 |
/// | f32, each block | 32 x 64 | 64 x 64 | 64 x 128 |
/// | f64, each thread | 4 x 4 | as large | 8 x 4 |
/// | f64, each block | 64 x 64 | as large | 128 x 64 |
///
/// [`MatmulPlan`](crate::MatmulPlan) shows the size of any kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TileSize {
    /// The smallest tiles, so that more blocks share a small result.
    Small,
    /// A size between the two; methods without one use `Large`.
    ///
    /// On tensor cores of compute capability 9.0, it is 192 x 128 outputs for each block instead of 128 x 256 for
    /// f16, bf16 and i8, 128 x 128 instead of 128 x 192 for 8-bit floats, and 64 x 64 for f64, where small tiles have
    /// 32 x 64 and large ones 128 x 128.
    Medium,
    /// The largest tiles, for results with enough of them to fill the device.
    Large,
}

impl TileSize {
    /// The size to use in a method with two sizes.
    pub(crate) fn of_two(self) -> Self {
        match self {
            Self::Medium => Self::Large,
            other => other,
        }
    }
}

/// Declares the methods, with their numbers.
macro_rules! methods {
    ($($(#[$documentation:meta])* $method:ident $(($choice:ident: $of:ident))?,)*) => {
        /// A method to multiply.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Method {
            $($(#[$documentation])* $method $(($of))?,)*
        }

        /// A method without its choice.
        enum Kind {
            $($method,)*
        }

        impl Method {
            /// One more than the greatest number.
            pub const COUNT: usize = [$(stringify!($method)),*].len() * MOST_CHOICES;

            /// The number of each method with each choice.
            pub const fn number(self) -> usize {
                match self {
                    $(Self::$method $(($choice))? => {
                        Kind::$method as usize * MOST_CHOICES $(+ within($choice as usize))?
                    })*
                }
            }
        }
    };
}
methods! {
    /// One output for each thread.
    Tiled,
    /// A block of outputs for each thread.
    Coarsened(tiles: TileSize),
    /// A block of outputs for each warp, with `mma.sync`; for f64 with the bits of `Coarsened`.
    Mma(tiles: TileSize),
    /// f16, bf16 or 8-bit elements on tensor cores, by warpgroups.
    Wgmma(tile: WgmmaTile),
    /// f16 or bf16 with small results: a block without a cluster for each tile.
    Single,
    /// Skinny results: few rows or few columns.
    Skinny(tile: SkinnyTile),
    /// e4m3 with block scales, by warpgroups, whose groups of rows may be counted on the device.
    Scaled(tiles: TileSize),
    /// e4m3 with block scales and few rows, by warpgroups.
    ScaledSkinny,
    /// f16 or bf16 by warpgroups, in groups of rows that are counted on the device.
    Counted,
    /// f32 split into f16, on tensor cores, by warpgroups.
    Split(tiles: TileSize),
    /// f32 split into f16, on tensor cores, at warp level.
    SplitMma(tiles: TileSize),
    /// The outputs that `Split` leaves out, on CUDA cores.
    OutOfRange,
    /// The outputs that `SplitMma` leaves out, on CUDA cores.
    OutOfRangeMma,
    /// The outputs that products of residues leave out, on CUDA cores.
    Left,
    /// The outputs that products of residues leave out, on tensor cores.
    LeftMma,
    /// Exact dot products, of all outputs or of those that products modulo several numbers leave open.
    Exact,
    /// Products of the rows or columns of a matrix with a vector.
    Vector(rows: VectorRows),
    /// `Coarsened`, for products of unequal shapes.
    Grouped(tiles: TileSize),
    /// `Mma` in small tiles, for products of unequal shapes.
    GroupedMma,
}

/// The most choices that a method has.
const MOST_CHOICES: usize = SkinnyTile::Square as usize + 1;

const fn within(choice: usize) -> usize {
    assert!(choice < MOST_CHOICES, "another choice has the most values");
    choice
}

/// The tiles of products of f16, bf16 and 8-bit elements by warpgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WgmmaTile {
    Small,
    /// Small tiles with twice as many stages, for results with at most one tile for each multiprocessor.
    Deep,
    Medium,
    Large,
    /// 144 x 128, for results that fill the device once with these tiles: the transpose of C, whose A lies along K.
    Turned,
}

impl From<TileSize> for WgmmaTile {
    fn from(tiles: TileSize) -> Self {
        match tiles {
            TileSize::Small => Self::Small,
            TileSize::Medium => Self::Medium,
            TileSize::Large => Self::Large,
        }
    }
}

/// The tiles of skinny products: rows of A, the long side, by columns of B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkinnyTile {
    /// 64 x 16.
    Small,
    /// 64 x 32.
    Medium,
    /// 64 x 64.
    Large,
    /// 128 x 64.
    Tall,
    /// 128 x 128.
    Square,
}

impl SkinnyTile {
    /// All tiles; if several are equally fast, the first is selected.
    pub const ALL: [Self; 5] = [
        Self::Small,
        Self::Medium,
        Self::Large,
        Self::Tall,
        Self::Square,
    ];
}

/// The layout of the rows of X in a product with a vector, y = X v.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorRows {
    /// X is row-major, and a row is at most a vector for each lane of a group.
    Short,
    /// X is row-major: the elements of a row are contiguous.
    Along,
    /// X is column-major: the elements of neighbouring rows are contiguous. Its columns are whole vectors of 16 bytes,
    /// aligned.
    Across,
    /// X is column-major.
    Unaligned,
    /// Either layout: another kernel transposes 8-bit elements of the second.
    Either,
}

impl Method {
    /// The units that compute the products, for a caller.
    pub fn units(self) -> &'static str {
        match self {
            Self::Mma(_)
            | Self::LeftMma
            | Self::Wgmma(_)
            | Self::Single
            | Self::Skinny(_)
            | Self::Scaled(_)
            | Self::ScaledSkinny
            | Self::Counted
            | Self::GroupedMma => "tensor cores",
            Self::Split(_) | Self::SplitMma(_) => "tensor cores, each f32 split into two f16",
            Self::Tiled
            | Self::Coarsened(_)
            | Self::OutOfRange
            | Self::OutOfRangeMma
            | Self::Left
            | Self::Exact
            | Self::Vector(_)
            | Self::Grouped(_) => "CUDA cores",
        }
    }

    /// Whether warps can have any number of threads.
    pub fn has_any_warps(self) -> bool {
        matches!(
            self,
            Self::Tiled
                | Self::Coarsened(_)
                | Self::OutOfRange
                | Self::OutOfRangeMma
                | Self::Vector(_)
                | Self::Grouped(_)
        )
    }
}

/// A kernel in the table.
pub struct GemmKernel {
    /// The name of its entry.
    pub name: &'static str,
    pub method: Method,
    /// The type of the elements of A and B.
    pub element: ElementType,
    /// The type of the elements of C.
    pub output: ElementType,
    /// The architecture for which its entry is compiled.
    pub architecture: Architecture,
    /// The oldest driver that reads the PTX of its entry; `None` in a build without PTX.
    pub driver: Option<CudaVersion>,
    /// Layouts, alignment and the tile.
    pub descriptor: ProductDescriptor,
    /// Blocks that a multiprocessor has registers for, by the entry's launch bounds.
    pub resident: u32,
    /// The tile of its clusters, or of its blocks if the method has blocks without clusters.
    pub cluster: Option<&'static ClusterTile>,
    /// Its place among the kernels with the same types.
    pub place: u16,
}

impl GemmKernel {
    /// The tile of its clusters, or of its blocks if the method has blocks without clusters.
    ///
    /// # Panics
    /// If the method has neither.
    pub fn cluster_tile(&self) -> &'static ClusterTile {
        self.cluster.expect("a kernel of warpgroups")
    }
}

/// The tile of a kernel of warpgroups, from its family and the tile's name in the catalogue.
macro_rules! cluster_tile {
    (wgmma $tile:ident) => { cluster_tile!(@ $tile) };
    (wgmma_bytes $tile:ident) => { cluster_tile!(@ $tile) };
    (turned $tile:ident) => { cluster_tile!(@ $tile) };
    (single $tile:ident) => { cluster_tile!(@ $tile) };
    (skinny $tile:ident) => { cluster_tile!(@ $tile) };
    (scaled $tile:ident) => { cluster_tile!(@ $tile) };
    (scaled_skinny $tile:ident) => { cluster_tile!(@ $tile) };
    (counted $tile:ident) => { cluster_tile!(@ $tile) };
    (split $tile:ident) => { cluster_tile!(@ $tile) };
    (@ $tile:ident) => { Some(&tilewright_kernels::tensor::$tile) };
    ($family:ident $($tile:ident)?) => { None };
}
pub(super) use cluster_tile;
