//! Products whose operands do not fit, or that no kernel computes.

use crate::{Line, says};
use half::f16;
use tilewright::{Arithmetic, Device, Matmul, MatmulGroup, Profile, SimulatorOptions};

pub fn table() -> Vec<Line> {
    operands().into_iter().chain(kernels()).collect()
}

fn operands() -> Vec<Line> {
    let device = Device::simulator();
    let a = device.matrix_zeros::<f32>((2, 3)).unwrap();
    let b = device.matrix_zeros::<f32>((3, 4)).unwrap();
    let mut c = device.matrix_zeros::<f32>((4, 2)).unwrap();
    let short = device.zeros::<f32>(1).unwrap();
    let two = a.view().batch_rows(2).unwrap();
    let three = b.view().batch_rows(3).unwrap();
    let three_rows = device.matrix_zeros::<f32>((3, 4)).unwrap();
    let mut other = [device.matrix_zeros::<f32>((2, 4)).unwrap()];
    let left = device.matrix_zeros::<f32>((2, 1)).unwrap();
    let left = left.view().batch_rows(2).unwrap();
    let mut one = device.matrix_zeros::<f32>((1, 4)).unwrap();
    vec![
        says(
            device.matmul(&a, &a),
            "matmul: A is 2x3 and B is 2x3: A needs as many columns as B has rows",
        ),
        says(
            Matmul::new(&a, &b).run_into(&mut c),
            "Matmul::run_into: the product is 2x4 and the matrix for it is 4x2: the two shapes must be equal",
        ),
        says(
            Matmul::new(&a, &b).row_bias(&short).run(),
            "Matmul::run: the row bias has 1 element, and needs 2: one for each row of the product",
        ),
        says(
            Matmul::new(&a, &b).column_bias(&short).run(),
            "Matmul::run: the column bias has 1 element, and needs 4: one for each column of the product",
        ),
        says(
            Matmul::new(&a, &b).row_scale(&short).run(),
            "Matmul::run: the row scale has 1 element, and needs 2: one for each row of the product",
        ),
        says(
            Matmul::new(&a, &b).column_scale(&short).run(),
            "Matmul::run: the column scale has 1 element, and needs 4: one for each column of the product",
        ),
        says(
            Matmul::new(two.t(), three).run(),
            "Matmul::run: A has 2 matrices and B has 3: all batches of a product must have the same number of matrices; \
             only A or B can be a single matrix, which all products then use",
        ),
        says(
            Matmul::new(left, three_rows.slice(..1, ..).unwrap()).run_into(&mut one),
            "Matmul::run_into: the product of A and B has 2 matrices and C has 1: all batches of a product must have the \
             same number of matrices; only A or B can be a single matrix, which all products then use",
        ),
        says(
            MatmulGroup::new([(&a, &b), (&a, &b)]).run_into(&mut other),
            "MatmulGroup::run_into: the list of results has 1 element, and needs 2: one for each product",
        ),
    ]
}

fn kernels() -> Vec<Line> {
    let device = Device::simulator();
    let oldest = Device::simulator_with(SimulatorOptions::default().with_profile(Profile::T4));
    let wide = Device::simulator_with(SimulatorOptions::default().with_warp_width(64));
    let halves = |device: &Device| device.matrix_zeros::<f16>((8, 8)).unwrap();
    let (half, old_half, wide_half) = (halves(&device), halves(&oldest), halves(&wide));
    let single = device.matrix_zeros::<f32>((8, 8)).unwrap();
    let wide_single = wide.matrix_zeros::<f32>((8, 8)).unwrap();
    let double = device.matrix_zeros::<f64>((80, 80)).unwrap();
    let bytes = device.matrix_zeros::<i8>((8, 8)).unwrap();
    vec![
        says(
            Matmul::new(&half, &half)
                .arithmetic(Arithmetic::Chain)
                .run(),
            "Matmul::run: no kernel computes the product of 8x8 and 8x8 matrices of f16 on simulator #1: \
             Arithmetic::Chain is for f32, f64 and i8, not for f16; use Arithmetic::Auto",
        ),
        says(
            Matmul::dequantized(&bytes, &bytes)
                .arithmetic(Arithmetic::Chain)
                .run_as::<f32>(),
            "Matmul::run_as: no kernel computes the product of 8x8 and 8x8 matrices of i8 with results of f32 on \
             simulator #1: Arithmetic::Chain of i8 has results of i32, not of f32; use Arithmetic::Auto",
        ),
        says(
            Matmul::new(&double, &double)
                .arithmetic(Arithmetic::Split)
                .run(),
            "Matmul::run: no kernel computes the product of 80x80 and 80x80 matrices of f64 on simulator #1: \
             Arithmetic::Split is for f32, not for f64; use Arithmetic::Auto",
        ),
        says(
            Matmul::new(&single, &single)
                .arithmetic(Arithmetic::Split)
                .run(),
            "Matmul::run: no kernel computes the product of 8x8 and 8x8 matrices of f32 on simulator #1: only products \
             with K (the rows of B) of at least 63 are split, and K is 8; use Arithmetic::Auto",
        ),
        says(
            device.prepare(&single),
            "prepare: no kernel computes products with the 8x8 matrix of f32 on simulator #1: only products with K (the \
             rows of B) of at least 63 are split, and K is 8; multiply by the matrix itself, which needs no preparation",
        ),
        says(
            oldest.matmul(&old_half, &old_half),
            "matmul: no kernel computes the product of 8x8 and 8x8 matrices of f16 on simulator #1 (T4): its kernels \
             need compute capability 8.0 or newer, and this device has 7.5; use another device, or f32 or f64",
        ),
        says(
            wide.matmul(&wide_half, &wide_half),
            "matmul: no kernel computes the product of 8x8 and 8x8 matrices of f16 on simulator #1: its kernels are for \
             warps of 32 threads, and this device has warps of 64; use f32, f64 or i8",
        ),
        says(
            wide.prepare_exact(&wide_single),
            "prepare_exact: no kernel computes products with the 8x8 matrix of f32 on simulator #1: its kernels are for \
             warps of 32 threads, and this device has warps of 64; use another arithmetic",
        ),
        says(
            Matmul::new(&half, &half).compute_capability(7, 5).run(),
            "Matmul::run: no kernel computes the product of 8x8 and 8x8 matrices of f16 on simulator #1: its kernels \
             need compute capability 8.0 or newer, and the call asks for kernels of 7.5; raise that limit, or use f32 or \
             f64",
        ),
    ]
}
