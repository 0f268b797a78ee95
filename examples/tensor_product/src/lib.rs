//! A product of bf16 matrices on Hopper's tensor cores, with the kernel of the crate `kernels`.
#![deny(missing_docs, clippy::undocumented_unsafe_blocks)]

use half::bf16;
use tensor_product_kernels::{self as kernels, DEPTH, SHARED_BYTES, THREADS, TILE};
use tilewright::{Device, LaunchConfig, Matrix, ModuleSource, Result};

/// The PTX from the build script, with the architecture of each image.
#[cfg(feature = "cuda")]
const IMAGES: &[(&str, &str)] = include!(env!("KERNEL_IMAGES"));

/// The simulator needs no PTX: it runs the kernels as compiled for the host.
#[cfg(not(feature = "cuda"))]
const IMAGES: &[(&str, &str)] = &[];

/// The kernels, for devices to load.
//
// SAFETY: the build script compiles the images from the same crate that is used here.
pub static KERNELS: ModuleSource = unsafe { ModuleSource::new("tensor_product", IMAGES) };

/// The product of `a`, m x k, and the transpose of `b_t`, n x k.
///
/// Both are row-major; m and n are multiples of 128, and k is a multiple of 64.
///
/// # Errors
/// Those of [`Matrix::tensor_map`], [`Device::load`] and
/// [`Module::launch_unsafe`](tilewright::Module::launch_unsafe).
///
/// # Panics
/// Panics if the matrices have other extents.
pub fn product(device: &Device, a: &Matrix<bf16>, b_t: &Matrix<bf16>) -> Result<Matrix<f32>> {
    let (rows, depth) = a.shape();
    let columns = b_t.rows();
    assert_eq!(b_t.cols(), depth, "both operands have k columns");
    assert!(
        rows % TILE == 0 && columns % TILE == 0 && depth % DEPTH == 0,
        "the extents are multiples of the tiles"
    );
    let mut c = device.matrix_uninit((rows, columns))?;
    let grid = ((columns / TILE) as u32, (rows / TILE) as u32);
    let config = LaunchConfig::new(grid, THREADS as u32).with_dynamic_shared(SHARED_BYTES);
    let arguments = (&a.tensor_map()?, &b_t.tensor_map()?, &mut c, depth as u32);
    // SAFETY: the kernel's requirements: the maps are those of matrices of m x k and n x k elements, and the grid,
    // the blocks and the shared memory are those that it needs.
    unsafe {
        device
            .load(&KERNELS)?
            .launch_unsafe(kernels::tensor_product, config, arguments)?;
    }
    Ok(c)
}
