//! The lines that `Matmul::plan` prints: which kernel, on which units, and why.

use half::bf16;
use tilewright::{Arithmetic, Device, Element, Matmul, MatmulElement, Matrix, TileConfig};

fn zeros<T: Element>(device: &Device, shape: (usize, usize)) -> Matrix<T> {
    device.matrix_uninit(shape).unwrap()
}

#[track_caller]
fn plan<T: MatmulElement>(product: &Matmul<'_, T>, expected: &str) {
    assert_eq!(product.plan().unwrap().to_string(), expected);
}

#[test]
fn each_plan_names_the_kernel_its_units_and_the_reason() {
    let device = Device::simulator();
    let small: Matrix<f32> = zeros(&device, (64, 64));
    plan(
        &Matmul::new(&small, &small),
        "matmul_coarsened_small_f32_nn on CUDA cores, 32 x 64 outputs per block: by estimate the fastest of 1 round of \
         small tiles, 1 of medium tiles and 1 of large tiles",
    );
    plan(&Matmul::new(&small, &small).tiles(TileConfig::Large), "");
    let large: Matrix<f32> = zeros(&device, (1024, 1024));
    plan(&Matmul::new(&large, &large), "");
    plan(
        &Matmul::new(&large, &large).arithmetic(Arithmetic::Chain),
        "",
    );
    let vector: Matrix<f32> = zeros(&device, (1024, 1));
    plan(&Matmul::new(&large, &vector), "");
    let (wide, tall): (Matrix<f64>, Matrix<f64>) =
        (zeros(&device, (64, 4096)), zeros(&device, (4096, 64)));
    plan(&Matmul::new(&wide, &tall), "");
    let few: Matrix<bf16> = zeros(&device, (8, 4096));
    let weights: Matrix<bf16> = zeros(&device, (4096, 4096));
    plan(&Matmul::new(&few, &weights), "");
    let little: Matrix<bf16> = zeros(&device, (16, 16));
    plan(&Matmul::new(&little, &little), "");
}
