//! A kernel whose source says `unsafe fn` is launched by `launch_unsafe`.

use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::{Kernel, LaunchBounds};
use tilewright::{Buffer, LaunchConfig, Module, Result};

#[derive(Clone, Copy)]
struct Axpy;

impl Kernel for Axpy {
    type Params<'launch> = (f32, Global<'launch, f32>, GlobalMut<'launch, f32>);
    const NAME: &'static str = "axpy";
    const BOUNDS: LaunchBounds = LaunchBounds::new(None, None, None);
    unsafe fn run(_: Self::Params<'_>) {}
}

fn launch(module: &Module, x: &Buffer<f32>, y: &mut Buffer<f32>) -> Result<()> {
    module.launch(Axpy, LaunchConfig::new(1, 32), (2.0, x, y))
}

fn main() {}
