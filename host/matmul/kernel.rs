//! What the table says of a product kernel.

pub use super::element_type::ElementType;
use super::entry::Entry;
use crate::error::CudaVersion;
use crate::module_source::ModuleSource;
use cuda_std::kernel::Architecture;
use tilewright_kernels::matmul::ProductDescriptor;
use tilewright_kernels::tensor::{self, ClusterTile};

impl ElementType {
    /// The tile of the clusters that multiply such elements by `Method::Wgmma`.
    pub const fn wgmma_tile(self, tile: WgmmaTile) -> &'static ClusterTile {
        match (self, tile) {
            (Self::I8, WgmmaTile::Small) => &tensor::I8_SMALL,
            (Self::I8, WgmmaTile::Deep) => &tensor::I8_DEEP,
            (Self::I8, WgmmaTile::Medium) => &tensor::I8_MEDIUM,
            (Self::I8, WgmmaTile::Large) => &tensor::I8_LARGE,
            (Self::F8E4M3 | Self::F8E5M2, WgmmaTile::Small) => &tensor::F8_SMALL,
            (Self::F8E4M3 | Self::F8E5M2, WgmmaTile::Deep) => &tensor::F8_DEEP,
            (Self::F8E4M3 | Self::F8E5M2, WgmmaTile::Medium) => &tensor::F8_MEDIUM,
            (Self::F8E4M3 | Self::F8E5M2, WgmmaTile::Large) => &tensor::F8_LARGE,
            (_, WgmmaTile::Small) => &tensor::HALF_SMALL,
            (_, WgmmaTile::Deep) => &tensor::HALF_DEEP,
            (_, WgmmaTile::Medium) => &tensor::HALF_MEDIUM,
            (_, WgmmaTile::Large) => &tensor::HALF_LARGE,
        }
    }

    /// The tile of the clusters that multiply such elements for results of few columns.
    pub const fn skinny_tile(self, tile: SkinnyTile) -> &'static ClusterTile {
        match (self.bytes(), tile) {
            (1, SkinnyTile::Small) => &tensor::BYTE_SKINNY_SMALL,
            (1, SkinnyTile::Medium) => &tensor::BYTE_SKINNY_MEDIUM,
            (1, SkinnyTile::Large) => &tensor::BYTE_SKINNY,
            (1, SkinnyTile::Tall) => &tensor::BYTE_SKINNY_TALL,
            (1, SkinnyTile::Square) => &tensor::BYTE_SKINNY_SQUARE,
            (_, SkinnyTile::Small) => &tensor::HALF_SKINNY_SMALL,
            (_, SkinnyTile::Medium) => &tensor::HALF_SKINNY_MEDIUM,
            (_, SkinnyTile::Large) => &tensor::HALF_SKINNY,
            (_, SkinnyTile::Tall) => &tensor::HALF_SKINNY_TALL,
            (_, SkinnyTile::Square) => &tensor::HALF_SKINNY_SQUARE,
        }
    }
}

/// How many outputs a block of a product computes: each thread of
/// [`Device::matmul_coarsened`](crate::Device::matmul_coarsened) several. The bits of the product do not
/// depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TileConfig {
    /// 4 x 4 outputs for each thread: of f32 32 x 64 for each block of threads, of others 64 x 64.
    Small,
    /// A size between the two: of f32 8 x 4 outputs for each thread, 64 x 64 for each block; of products of f16, bf16 and
    /// 8 bits on tensor cores of compute capability 9.0 192 x 128 outputs for each block instead of 128 x 256, of 8-bit
    /// floats 128 x 128 instead of 128 x 192. Others have `Large` in its place.
    Medium,
    /// 8 x 8 outputs of f32 for each thread, 64 x 128 for each block; 8 x 4 of f64, 128 x 64.
    Large,
}

impl TileConfig {
    /// The same of a method with tiles of two sizes.
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
        /// A way to multiply.
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

            /// A number of its own for each method with each choice.
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
    Coarsened(tiles: TileConfig),
    /// The same for each warp, on tensor cores: of f64 with the same bits.
    Mma(tiles: TileConfig),
    /// Products of halves or bytes on the tensor cores.
    Wgmma(tile: WgmmaTile),
    /// The same of halves whose results are small: a block without a cluster for each tile.
    Single,
    /// The same of results with few rows or columns.
    Skinny(tile: SkinnyTile),
    /// f32 as products of halves on the tensor cores, by warpgroups.
    Split(tiles: TileConfig),
    /// The same by warps.
    SplitMma(tiles: TileConfig),
    /// What `Split` leaves out, on the ordinary units.
    Wide,
    /// What `SplitMma` leaves out, on the ordinary units.
    WideMma,
    /// The sums of the products of each line of a matrix with a vector.
    Vector(lines: VectorLines),
    /// `Coarsened`, of products of unequal shapes.
    Grouped(tiles: TileConfig),
    /// `Mma` in small tiles, of products of unequal shapes.
    GroupedMma,
}

/// The most values of what a method leaves to choose.
const MOST_CHOICES: usize = SkinnyTile::Square as usize + 1;

const fn within(choice: usize) -> usize {
    assert!(choice < MOST_CHOICES, "another choice has the most values");
    choice
}

/// The tiles of products of halves and bytes by warpgroups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WgmmaTile {
    Small,
    /// As the small ones, for results of which each multiprocessor has one at most: twice as many stages.
    Deep,
    Medium,
    Large,
}

impl From<TileConfig> for WgmmaTile {
    fn from(tiles: TileConfig) -> Self {
        match tiles {
            TileConfig::Small => Self::Small,
            TileConfig::Medium => Self::Medium,
            TileConfig::Large => Self::Large,
        }
    }
}

/// The tile of the clusters that multiply f32 by `Method::Split`.
pub const fn split_tile(tiles: TileConfig) -> &'static ClusterTile {
    match tiles {
        TileConfig::Small => &tensor::SPLIT_SMALL,
        TileConfig::Medium | TileConfig::Large => &tensor::SPLIT_LARGE,
    }
}

/// The tiles of skinny products: rows of A, the many lines, by columns of B.
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
    /// All of them; of equally fast ones the first is selected.
    pub const ALL: [Self; 5] = [
        Self::Small,
        Self::Medium,
        Self::Large,
        Self::Tall,
        Self::Square,
    ];
}

/// How the lines lie that are multiplied by a vector: rows of A, or columns of B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorLines {
    /// A line's elements lie one after another.
    Along,
    /// The elements of neighbouring lines do.
    Across,
    /// In either way: of elements of 8 bits another kernel brings those that lie across into lines.
    Either,
}

impl Method {
    /// What computes its products, for a caller.
    pub fn units(self) -> &'static str {
        match self {
            Self::Mma(_) | Self::Wgmma(_) | Self::Single | Self::Skinny(_) | Self::GroupedMma => {
                "tensor cores"
            }
            Self::Split(_) | Self::SplitMma(_) => "tensor cores, each f32 split into two f16",
            Self::Tiled
            | Self::Coarsened(_)
            | Self::Wide
            | Self::WideMma
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
                | Self::Wide
                | Self::WideMma
                | Self::Vector(_)
                | Self::Grouped(_)
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
    /// The oldest driver that reads the PTX of its entry; `None` in a build without PTX.
    pub driver: Option<CudaVersion>,
    /// Layouts, alignment and the tile.
    pub descriptor: ProductDescriptor,
    /// The PTX of its entry.
    pub module: &'static ModuleSource,
    pub entry: Entry,
}

impl GemmKernel {
    /// The tile of its clusters, or of its blocks where they have none.
    ///
    /// # Panics
    /// It has none.
    pub fn cluster_tile(&self) -> &'static ClusterTile {
        match self.method {
            Method::Wgmma(tile) => self.element.wgmma_tile(tile),
            Method::Single => &tensor::HALF_SINGLE,
            Method::Split(tiles) => split_tile(tiles),
            Method::Skinny(tile) => self.element.skinny_tile(tile),
            other => unreachable!("kernels of {other:?} have no clusters"),
        }
    }
}
