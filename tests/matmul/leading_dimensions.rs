//! Kernels on matrices whose rows lie apart: gaps are not read into a product, and not written.

use crate::common::product::{Host, Real, assert_same_bits};
use crate::common::random::Random;
use tilewright::{Device, LaunchConfig, ModuleSource};
use tilewright_kernels::epilogue::EpilogueNumbers;
use tilewright_kernels::matmul::{self, OperandLayout, ProductKernel, ProductShape};

// SAFETY: (1) there are no images: the simulator runs the kernels as they were compiled for the host.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("tilewright_kernels", &[]) };

/// Gaps after each row: whole vectors of 16 bytes, as kernels with aligned rows require.
const GAPS: [usize; 2] = [4, 12];

/// The contents of gaps: a NaN that no product of numbers gives.
fn filler<T: Real>() -> T {
    T::of(f64::NAN)
}

/// The matrix with `gap` fillers after each row, or column, of its layout, and the leading dimension.
fn spread<T: Real>(matrix: &Host<T>, layout: OperandLayout, gap: usize) -> (Vec<T>, usize) {
    let (elements, extent) = match layout {
        OperandLayout::RowMajor => (matrix.elements.clone(), matrix.columns),
        OperandLayout::Either => unreachable!("the kernels here read one order"),
        OperandLayout::ColumnMajor => (matrix.column_after_column(), matrix.rows),
    };
    let rows = elements.chunks(extent);
    let spread = rows.flat_map(|row| row.iter().copied().chain(vec![filler(); gap]));
    (spread.collect(), extent + gap)
}

/// Around tiles in each dimension; rows of B are multiples of 16 bytes.
const SHAPES: [(usize, usize, usize); 4] = [(1, 4, 3), (64, 64, 16), (65, 132, 17), (129, 68, 40)];

/// The arguments of a tiled kernel.
macro_rules! tiled {
    ($real:ident, $a:expr, $b:expr, $c:expr, $shape:expr, $none:expr) => {{
        let (
            ProductShape {
                m,
                n,
                k,
                lda,
                ldb,
                ldc,
                ..
            },
            _none,
        ) = ($shape, $none);
        ($a, $b, $c, m, n, k, lda, ldb, ldc)
    }};
}

/// The arguments of a coarsened kernel.
macro_rules! coarsened {
    ($real:ident, $a:expr, $b:expr, $c:expr, $shape:expr, $none:expr) => {
        (
            $a,
            $b,
            $c,
            &$shape,
            &EpilogueNumbers::<$real>::PLAIN,
            $none,
            $none,
            $none,
            $none,
        )
    };
}

macro_rules! products_with_gaps {
    ($($module:ident: $real:ident by $arguments:ident: $($kernel:ident)*;)*) => {$(
        mod $module {
            use super::*;
            $(
                #[test]
                fn $kernel() {
                    for (shape, gap) in SHAPES.into_iter().flat_map(|it| GAPS.map(|gap| (it, gap))) {
                        assert_kernel(shape, gap);
                    }

                    fn assert_kernel((m, n, k): (usize, usize, usize), gap: usize) {
                        let device = Device::simulator();
                        let module = device.load(&KERNELS).unwrap();
                        let descriptor = <matmul::$kernel as ProductKernel>::DESCRIPTOR;
                        let mut random = Random::new(1);
                        let a = Host::<$real>::new(m, k, || <$real as Real>::of(random.wide()));
                        let b = Host::<$real>::new(k, n, || <$real as Real>::of(random.wide()));
                        let (left, lda) = spread(&a, descriptor.a, gap);
                        let (right, ldb) = spread(&b, descriptor.b, gap);
                        let ldc = n + gap;
                        let (left, right) = (device.upload(&left).unwrap(), device.upload(&right).unwrap());
                        let mut c = device.upload(&vec![<$real as Real>::of(7.0); m * ldc]).unwrap();
                        let tile = descriptor.tile;
                        let config = LaunchConfig::new(tile.blocks(m, n).unwrap(), tile.threads)
                            .with_dynamic_shared(descriptor.dynamic_shared_bytes as u32);
                        let shape = ProductShape { m, n, k, lda, ldb, ldc, a_stride: 0, b_stride: 0, c_stride: 0, is_lower: 0, part: 0 };
                        let none = device.upload::<$real>(&[]).unwrap();
                        // SAFETY: (1) of the launch is (1) to (3) of the kernel: (1) block and grid
                        // are the tile's. (2) Each buffer has its matrix, with the gaps, and starts
                        // at a multiple of 256 bytes. (3) The operands lie as the descriptor says,
                        // and rows and gaps of B are multiples of 16 bytes.
                        unsafe {
                            module.launch_unsafe(
                                matmul::$kernel,
                                config,
                                $arguments!($real, &left, &right, &mut c, shape, &none),
                            )
                        }
                        .unwrap();
                        let found = c.to_vec().unwrap();
                        let (mut outputs, mut gaps) = (Vec::new(), Vec::new());
                        for row in found.chunks(ldc) {
                            outputs.extend_from_slice(&row[..n]);
                            gaps.extend_from_slice(&row[n..]);
                        }
                        assert_same_bits(&outputs, &a.times(&b).elements, n, &(m, n, k, gap));
                        assert!(gaps.iter().all(|&gap| gap == 7.0), "a gap of C was written");
                    }
                }
            )*
        }
    )*};
}
products_with_gaps! {
    f32_tiled: f32 by tiled: matmul_tiled_f32_nn matmul_tiled_f32_tn matmul_tiled_f32_nt
        matmul_tiled_f32_tt;
    f32_coarsened: f32 by coarsened: matmul_coarsened_f32_nn matmul_coarsened_f32_nn_unaligned
        matmul_coarsened_f32_tn matmul_coarsened_f32_nt matmul_coarsened_f32_tt
        matmul_coarsened_medium_f32_nn matmul_coarsened_medium_f32_nn_unaligned
        matmul_coarsened_medium_f32_tn matmul_coarsened_medium_f32_nt matmul_coarsened_medium_f32_tt
        matmul_coarsened_small_f32_nn matmul_coarsened_small_f32_nn_unaligned
        matmul_coarsened_small_f32_tn matmul_coarsened_small_f32_nt matmul_coarsened_small_f32_tt;
    f64_tiled: f64 by tiled: matmul_tiled_f64_nn matmul_tiled_f64_tn matmul_tiled_f64_nt
        matmul_tiled_f64_tt;
    f64_coarsened: f64 by coarsened: matmul_coarsened_f64_nn matmul_coarsened_f64_nn_unaligned
        matmul_coarsened_f64_tn matmul_coarsened_f64_nt matmul_coarsened_f64_tt
        matmul_coarsened_small_f64_nn matmul_coarsened_small_f64_nn_unaligned
        matmul_coarsened_small_f64_tn matmul_coarsened_small_f64_nt matmul_coarsened_small_f64_tt;
    f64_mma: f64 by coarsened: matmul_mma_f64_nn matmul_mma_f64_tn matmul_mma_f64_nt
        matmul_mma_f64_tt matmul_mma_medium_f64_nn matmul_mma_medium_f64_tn matmul_mma_medium_f64_nt
        matmul_mma_medium_f64_tt matmul_mma_small_f64_nn matmul_mma_small_f64_tn matmul_mma_small_f64_nt
        matmul_mma_small_f64_tt;
}
