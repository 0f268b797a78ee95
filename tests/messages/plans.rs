//! The lines that `Matmul::plan` prints: which kernel, on which units, and why.

use half::bf16;
use tilewright::{Arithmetic, Device, Element, Matmul, MatmulElement, Matrix, TileConfig};

fn zeros<T: Element>(device: &Device, shape: (usize, usize)) -> Matrix<T> {
    device.matrix_uninit(shape).unwrap()
}

/// What the plan of a product says, and what it has to say.
fn plan<T: MatmulElement>(
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
            "matmul_coarsened_small_f32_nn on CUDA cores, 32 x 64 outputs per block: by estimate the fastest of 1 round \
             of small tiles, 1 of medium tiles and 1 of large tiles",
        ),
        plan(
            Matmul::new(&small, &small).tiles(TileConfig::Large),
            "matmul_coarsened_f32_nn on CUDA cores, 64 x 128 outputs per block: the caller chose the tile size",
        ),
        plan(Matmul::new(&large, &large), "2"),
        plan(
            Matmul::new(&large, &large).arithmetic(Arithmetic::Chain),
            "3",
        ),
        plan(Matmul::new(&large, &vector), "4"),
        plan(Matmul::new(&wide, &tall), "5"),
        plan(Matmul::new(&square, &square), "6"),
        plan(Matmul::new(&few, &weights), "7"),
        plan(Matmul::new(&little, &little), "8"),
    ];
    let wrong: Vec<String> = plans
        .into_iter()
        .filter(|(said, expected)| said != expected)
        .map(|(said, expected)| format!("said:     {said}\nexpected: {expected}\n"))
        .collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
