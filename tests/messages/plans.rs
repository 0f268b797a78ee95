//! The lines that `Matmul::plan` prints: which kernel, on which units, and why.

use half::bf16;
use tilewright::tuning::TileSize;
use tilewright::{Arithmetic, Device, Element, Matmul, MatmulElement, MatmulInto, Matrix};

fn zeros<T: Element>(device: &Device, shape: (usize, usize)) -> Matrix<T> {
    device.matrix_uninit(shape).unwrap()
}

/// The text of a product's plan, and the expected one.
fn plan<T: MatmulInto<<T as MatmulElement>::Product>>(
    product: Matmul<'_, T>,
    expected: &'static str,
) -> (String, &'static str) {
    (product.plan().unwrap().to_string(), expected)
}

#[test]
fn each_plan_names_the_kernel_its_units_and_the_reason() {
    let device = Device::simulator();
    let small: Matrix<f32> = zeros(&device, (64, 64));
    let large: Matrix<f32> = zeros(&device, (1024, 1024));
    let vector: Matrix<f32> = zeros(&device, (1024, 1));
    let (wide, tall): (Matrix<f64>, Matrix<f64>) =
        (zeros(&device, (64, 4096)), zeros(&device, (4096, 64)));
    let square: Matrix<f64> = zeros(&device, (512, 512));
    let few: Matrix<bf16> = zeros(&device, (8, 4096));
    let weights: Matrix<bf16> = zeros(&device, (4096, 4096));
    let little: Matrix<bf16> = zeros(&device, (16, 16));
    let plans = [
        plan(
            Matmul::new(&small, &small),
            "matmul_coarsened_small_f32_nn on CUDA cores, 32 x 64 outputs per block: the tile size with the shortest estimated time \
             (1 round of small tiles, 1 of medium, 1 of large)",
        ),
        plan(
            Matmul::new(&small, &small).tiles(TileSize::Large),
            "matmul_coarsened_f32_nn on CUDA cores, 64 x 128 outputs per block: the caller chose the tile size",
        ),
        plan(
            Matmul::new(&large, &large),
            "matmul_split_f32 on tensor cores, each f32 split into two f16, 128 x 128 outputs per block: \
             the tile size with the shortest estimated time (16 rounds of small tiles, 8 of large)",
        ),
        plan(
            Matmul::new(&large, &large).arithmetic(Arithmetic::Chain),
            "matmul_coarsened_f32_nn on CUDA cores, 64 x 128 outputs per block: the tile size with the shortest estimated time \
             (64 rounds of small tiles, 32 of medium, 16 of large)",
        ),
        plan(
            Matmul::new(&large, &vector),
            "matvec_along_f32 on CUDA cores, 8 x 1 outputs per block: one operand is a vector",
        ),
        plan(
            Matmul::new(&wide, &tall),
            "matmul_mma_medium_f64_nn on tensor cores, 64 x 64 outputs per block: the result is small, so K is divided \
             into 64 parts, which different blocks compute",
        ),
        plan(
            Matmul::new(&square, &square),
            "matmul_mma_f64_nn on tensor cores, 128 x 128 outputs per block: the tile size with the shortest estimated time \
             (8 rounds of small tiles, 8 of medium, 2 of large)",
        ),
        plan(
            Matmul::new(&few, &weights),
            "matmul_wgmma_skinny_small_bf16_t on tensor cores, 16 x 64 outputs per block: the result has few rows or \
             few columns",
        ),
        plan(
            Matmul::new(&little, &little),
            "matmul_wgmma_single_bf16_nn on tensor cores, 64 x 64 outputs per block: the result is small, and larger \
             tiles would lie mostly outside of it",
        ),
    ];
    let wrong: Vec<String> = plans
        .into_iter()
        .filter(|(said, expected)| said != expected)
        .map(|(said, expected)| format!("said:     {said}\nexpected: {expected}\n"))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
