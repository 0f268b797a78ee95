//! The catalogue of product kernels, from which the entries, their descriptors and the host's table are generated.

/// Calls a macro with the product kernels, one row per kernel: those of the named families, or all, grouped by type.
///
/// `products!(entries of tiled)` is a call of `entries!` with rows such as
/// `tiled matmul_tiled_f32_nn { Tiled } { f32 in f32 to f32 in f32, direct } { nn };`, and `products!(table by types)`
/// one of `table!` with groups such as
/// `{ f32 in f32 to f32 in f32, direct } { tiled matmul_tiled_f32_nn { Tiled } { nn }; .. }`.
///
/// A family is a line: the prefix of its kernels' names, the host's method with the tile, the types, and the layouts of
/// A and B. In each of these lists, the part of the name comes before its meaning; `_` adds nothing to the name.
///
/// | types | |
/// |---|---|
/// | `T in P to O in S` | elements of A and B, of sums, of C, and of the epilogue |
/// | `bulk`, `direct` | how warpgroups write plain sums: by bulk copies of rounded tiles, or element by element |
#[macro_export]
macro_rules! products {
    ($($rows:tt)*) => {
        $crate::cuda_std::catalogue! { $($rows)*;
            let types = {
                f32: f32 in f32 to f32 in f32 direct,
                f64: f64 in f64 to f64 in f64 direct,
                f16: f16 in f32 to f16 in f32 bulk,
                f16_f32: f16 in f32 to f32 in f32 direct,
                bf16: bf16 in f32 to bf16 in f32 bulk,
                bf16_f32: bf16 in f32 to f32 in f32 direct,
                i8: i8 in i32 to i32 in i32 direct,
                i8_f32: i8 in i32 to f32 in f32 direct,
                i8_bf16: i8 in i32 to bf16 in f32 direct,
                i8_f16: i8 in i32 to f16 in f32 direct,
                i8_residues: i8 in i32 to i8 in i32 direct,
                e4m3: F8E4M3 in f32 to bf16 in f32 bulk,
                e4m3_f32: F8E4M3 in f32 to f32 in f32 direct,
                e5m2: F8E5M2 in f32 to bf16 in f32 bulk,
                e5m2_f32: F8E5M2 in f32 to f32 in f32 direct,
            };
            let halves = types{f16, f16_f32, bf16, bf16_f32};
            let integers = types{i8, i8_f32, i8_bf16, i8_f16, i8_residues};
            let floats = types{e4m3, e4m3_f32, e5m2, e5m2_f32};
            let bytes = types{i8, i8_f32, i8_bf16, i8_f16, e4m3, e4m3_f32, e5m2, e5m2_f32};
            let layouts = {nn, tn, nt, tt};
            let copies = {nn, nn_unaligned, tn, nt, tt};
            let either = {_: either};

            // On CUDA cores.
            tiled: matmul_tiled x {_: Tiled} x types{f32, f64} x layouts;
            coarsened: matmul_coarsened x {
                _: Coarsened(TileSize::Large) LargeF32 at 4 blocks,
                medium: Coarsened(TileSize::Medium) MediumF32 at 4 blocks,
                small: Coarsened(TileSize::Small) SmallF32 at 5 blocks,
            } x types{f32} x copies;
            coarsened: matmul_coarsened x {
                _: Coarsened(TileSize::Large) LargeF64 at 2 blocks,
                small: Coarsened(TileSize::Small) SmallF64 at 3 blocks,
            } x types{f64} x copies;
            coarsened_words: matmul_coarsened x {
                _: Coarsened(TileSize::Large) LargeI8 at 2 blocks,
                small: Coarsened(TileSize::Small) SmallI8 at 3 blocks,
            } x types{i8} x either;
            out_of_range: matmul_out_of_range x {_: OutOfRange PanelF32 at 2 blocks} x types{f32} x copies;
            out_of_range_mma: matmul_mma_out_of_range x {_: OutOfRangeMma PanelF32 at 2 blocks} x types{f32} x copies;
            // Large tiles, with a product's sizes in registers, spill in f64, and in f32 for two column-major operands.
            // These have only small tiles.
            grouped: matmul_grouped x {_: Grouped(TileSize::Large) PanelF32 at 2 blocks} x types{f32}
                x {nn, tn, nt};
            grouped: matmul_grouped x {small: Grouped(TileSize::Small) MediumF32 at 4 blocks} x types{f32}
                x layouts;
            grouped: matmul_grouped x {small: Grouped(TileSize::Small) SmallF64 at 2 blocks} x types{f64}
                x layouts;

            // On tensor cores, at warp level.
            mma_f64: matmul_mma x {
                _: Mma(TileSize::Large) F64_LARGE,
                medium: Mma(TileSize::Medium) F64_MEDIUM,
            } x types{f64} x layouts;
            mma_f64_after: matmul_mma x {small: Mma(TileSize::Small) F64_SMALL} x types{f64} x layouts;
            mma: matmul_mma x {
                _: Mma(TileSize::Large) NARROW_LARGE,
                small: Mma(TileSize::Small) NARROW_SMALL,
            } x halves x layouts;
            mma: matmul_mma x {
                _: Mma(TileSize::Large) NARROW_LARGE,
                small: Mma(TileSize::Small) NARROW_SMALL,
            } x integers x either;
            grouped_mma: matmul_mma_grouped x {_: GroupedMma NARROW_GROUPED} x types{f16, bf16} x layouts;
            split_mma: matmul_mma_split x {
                _: SplitMma(TileSize::Large) SPLIT_LARGE,
                small: SplitMma(TileSize::Small) SPLIT_SMALL,
            } x types{f32} x either;

            // On tensor cores, by warpgroups.
            wgmma: matmul_wgmma x {
                _: Wgmma(WgmmaTile::Large) HALF_LARGE,
                medium: Wgmma(WgmmaTile::Medium) HALF_MEDIUM,
                small: Wgmma(WgmmaTile::Small) HALF_SMALL,
                deep: Wgmma(WgmmaTile::Deep) HALF_DEEP,
            } x halves x layouts;
            wgmma_bytes: matmul_wgmma x {
                _: Wgmma(WgmmaTile::Large) I8_LARGE,
                medium: Wgmma(WgmmaTile::Medium) I8_MEDIUM,
                small: Wgmma(WgmmaTile::Small) I8_SMALL,
                deep: Wgmma(WgmmaTile::Deep) I8_DEEP,
            } x integers x either;
            wgmma_bytes: matmul_wgmma x {
                _: Wgmma(WgmmaTile::Large) F8_LARGE,
                medium: Wgmma(WgmmaTile::Medium) F8_MEDIUM,
                small: Wgmma(WgmmaTile::Small) F8_SMALL,
                deep: Wgmma(WgmmaTile::Deep) F8_DEEP,
            } x floats x either;
            scaled: matmul_scaled x {
                _: Scaled(TileSize::Large) F8_SCALED_LARGE,
                medium: Scaled(TileSize::Medium) F8_SCALED_MEDIUM,
                small: Scaled(TileSize::Small) F8_SCALED_SMALL,
            } x types{e4m3, e4m3_f32} x either;
            scaled_skinny: matmul_scaled_skinny x {_: ScaledSkinny F8_SCALED_SKINNY} x types{e4m3, e4m3_f32} x either;
            counted: matmul_counted x {_: Counted HALF_COUNTED} x types{f16, bf16} x {nn, nt};
            turned: matmul_wgmma_turned x {_: Wgmma(WgmmaTile::Turned) HALF_TURNED} x halves x {n: nt, t: tt};
            single: matmul_wgmma_single x {_: Single HALF_SINGLE} x halves x layouts;
            skinny: matmul_wgmma_skinny x {
                small: Skinny(SkinnyTile::Small) HALF_SKINNY_SMALL,
                medium: Skinny(SkinnyTile::Medium) HALF_SKINNY_MEDIUM,
                _: Skinny(SkinnyTile::Large) HALF_SKINNY,
                tall: Skinny(SkinnyTile::Tall) HALF_SKINNY_TALL,
                square: Skinny(SkinnyTile::Square) HALF_SKINNY_SQUARE,
            } x halves x {n: nt, t: tt};
            skinny: matmul_wgmma_skinny x {
                small: Skinny(SkinnyTile::Small) BYTE_SKINNY_SMALL,
                medium: Skinny(SkinnyTile::Medium) BYTE_SKINNY_MEDIUM,
                _: Skinny(SkinnyTile::Large) BYTE_SKINNY,
                tall: Skinny(SkinnyTile::Tall) BYTE_SKINNY_TALL,
                square: Skinny(SkinnyTile::Square) BYTE_SKINNY_SQUARE,
            } x bytes x either;
            split: matmul_split x {
                _: Split(TileSize::Large) SPLIT_LARGE,
                small: Split(TileSize::Small) SPLIT_SMALL,
            } x types{f32} x either;

            // What products of residues leave out.
            left: matmul_left x {_: Left LargeF64 at 2 blocks} x types{f64} x {nt};
            left_mma: matmul_mma_left x {_: LeftMma F64_MEDIUM} x types{f64} x {nt};

            // Exact dot products.
            exact: exact_dots x {_: Exact} x types{f32, f64} x either;

            // By a vector.
            vector: matvec x {
                short: Vector(VectorRows::Short),
                along: Vector(VectorRows::Along),
                across: Vector(VectorRows::Across),
                unaligned: Vector(VectorRows::Unaligned),
            } x types{f32, f64, f16, f16_f32, bf16, bf16_f32} x either;
            vector_bytes: matvec x {_: Vector(VectorRows::Either)} x bytes x either;
        }
    };
}

/// Calls a macro with the kernels that add the sums of parts of K, like [`products!`](crate::products).
///
/// Those of `alone` start when earlier kernels have finished, those of `after` while the kernel before them still runs.
///
/// Their types are `P to O in S`: sums, C, and the epilogue.
#[macro_export]
macro_rules! sums_of_parts {
    ($($rows:tt)*) => {
        $crate::cuda_std::catalogue! { $($rows)*;
            let types = {
                f32: f32 to f32 in f32,
                f16: f32 to f16 in f32,
                bf16: f32 to bf16 in f32,
                i32: i32 to i32 in i32,
                i32_f32: i32 to f32 in f32,
                i32_bf16: i32 to bf16 in f32,
                i32_f16: i32 to f16 in f32,
            };
            alone: add_parts x types;
            after: add_parts_after x types;
        }
    };
}
