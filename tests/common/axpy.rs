//! A kernel whose descriptor and PTX are written by hand, as the macro and the builder would give
//! them.

use cuda_std::global::{Global, GlobalMut};
use cuda_std::kernel::{Kernel, LaunchBounds, SafeKernel};
use cuda_std::thread;
use tilewright::ModuleSource;

/// `y[i] = a * x[i] + y[i]` for every element that both have; blocks of at most 256 threads.
#[derive(Clone, Copy)]
pub struct Axpy;

impl Kernel for Axpy {
    type Params<'launch> = (f32, Global<'launch, f32>, GlobalMut<'launch, f32>);

    const NAME: &'static str = "axpy";

    const BOUNDS: LaunchBounds = LaunchBounds::new(Some(256), None, None);

    unsafe fn run((a, x, y): Self::Params<'_>) {
        let index = thread::unique_index();
        if let Some(x) = x.get(index.get())
            && let Some(y) = y.own(index)
        {
            y.set(a.mul_add(x, y.get()));
        }
    }
}

// SAFETY: (1) `run` is safe code: each thread accesses its own element. (2) The only image
// that has an entry of this name is the one below.
unsafe impl SafeKernel for Axpy {}

// SAFETY: (1) the image's only entry is `axpy`, and it does what `Axpy` does.
pub static AXPY: ModuleSource =
    unsafe { ModuleSource::new("axpy", &[("sm_75", include_str!("axpy.ptx"))]) };
