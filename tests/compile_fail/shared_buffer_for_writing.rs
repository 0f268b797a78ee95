//! A kernel's outputs are borrowed mutably.

use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::{Kernel, LaunchBounds, SafeKernel};
use tilewright::{Buffer, LaunchConfig, Module, Result};

#[derive(Clone, Copy)]
struct Axpy;

impl Kernel for Axpy {
    type Params<'launch> = (f32, Global<'launch, f32>, GlobalMut<'launch, f32>);
    const NAME: &'static str = "axpy";
    const BOUNDS: LaunchBounds = LaunchBounds::new(None, None, None);
    unsafe fn run(_: Self::Params<'_>) {}
}

unsafe impl SafeKernel for Axpy {}

fn launch(module: &Module, x: &Buffer<f32>, y: &Buffer<f32>) -> Result<()> {
    module.launch(Axpy, LaunchConfig::new(1, 32), (2.0, x, y))
}

fn main() {}
