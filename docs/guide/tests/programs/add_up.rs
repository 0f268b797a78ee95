use tilewright::cuda_std::prelude::*;
use tilewright::{Device, LaunchConfig, ModuleSource};

/// Adds the elements of `x` to `total[0]`.
///
/// # Safety
/// `total` has an element.
#[kernel]
pub unsafe fn add_up(x: Global<u32>, total: GlobalMut<u32>) {
    let i = thread::unique_index().get();
    if let Some(x) = x.get(i) {
        // SAFETY: the element exists, by the kernel's contract.
        unsafe { total.store(0, total.load(0) + x) };
    }
}

// SAFETY: there is no PTX that could differ from the kernel: this program uses the simulator.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("my_kernels", &[]) };

fn main() -> tilewright::Result<()> {
    let device = Device::simulator();
    let x = device.upload(&[1_u32; 64])?.named("x");
    let mut total = device.zeros::<u32>(1)?.named("sum");
    let module = device.load(&KERNELS)?;
    // SAFETY: `total` has an element.
    unsafe { module.launch_unsafe(add_up, LaunchConfig::new(1, 64), (&x, &mut total)) }
}
