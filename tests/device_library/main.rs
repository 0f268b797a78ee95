//! Every function of `cuda_std`, on every device at hand and on simulators with several schedules
//! and both widths of warps, against plain code. The kernels are `crates/cuda_std/tests/kernels`.

#[path = "../common/mod.rs"]
mod common;

mod arithmetic;
mod atomics;
mod barriers;
mod blocks;
mod bulk_copies;
mod by_value;
mod clusters;
mod defects;
mod dependent_launches;
mod fences;
mod functions;
mod global_memory;
mod groups;
mod orders;
mod output;
mod own;
mod pipelines;
mod positions;
mod products;
mod shared_memory;
mod symbols;
mod textures;
mod warpgroups;
mod warps;

use cuda_std::kernel::Kernel;
use std::io::Write as _;
use tilewright::testing::seeds;
use tilewright::{
    Buffer, Device, Element, LaunchArgs, LaunchConfig, ModuleSource, Result, SimulatorOptions,
};
use tilewright_test_support::random::Random;

// SAFETY: (1) the images are built from the crate that the tests take the kernels from.
static MODULE: ModuleSource =
    unsafe { ModuleSource::new("cuda_std_test_kernels", cuda_std_test_kernels::IMAGES) };

/// Simulators with the seeds 0 to 5, or with as many as `TILEWRIGHT_SEEDS` says, and two with 64 lanes in a warp.
fn simulators() -> Vec<Device> {
    let options = |seed| SimulatorOptions::default().with_seed(seed);
    let narrow = seeds(6).map(options);
    let wide = (6..8).map(|seed| options(seed).with_warp_width(64));
    narrow.chain(wide).map(Device::simulator_with).collect()
}

/// The simulators, one that runs PTX if there is PTX and that was asked for, and the first CUDA device where there is
/// one.
fn machines() -> Vec<Device> {
    let mut machines = simulators();
    let has_images = !cuda_std_test_kernels::IMAGES.is_empty();
    machines.extend(common::ptx_device().filter(|_| has_images));
    machines.extend(common::cuda_device().filter(|_| has_images));
    if cfg!(feature = "cuda") && !has_images {
        // Not `eprintln!`: the test harness would hide it.
        let line = "skipped on CUDA: the test kernels were built without a GPU or without a device toolchain\n";
        std::io::stderr().write_all(line.as_bytes()).unwrap();
    }
    machines
}

/// The machines that run code for compute capability 9.0, which has warps of 32 threads.
fn hoppers() -> impl Iterator<Item = Device> {
    machines().into_iter().filter(|device| {
        let capability = device.properties().compute_capability;
        warp_threads(device) == 32 && matches!(capability, None | Some((9, 0)))
    })
}

fn warp_threads(device: &Device) -> u32 {
    device.properties().warp_threads
}

/// Launches a kernel of the test crate, as its documentation requires.
fn try_launch<'launch, K, A>(
    device: &Device,
    kernel: K,
    config: LaunchConfig,
    arguments: A,
) -> Result<()>
where
    K: Kernel,
    A: LaunchArgs<K::Params<'launch>>,
{
    let module = device.load(&MODULE)?;
    // SAFETY: (1) these kernels ask for block shapes and for buffers of some lengths. Each test
    // gives them; on the simulator, which comes first, a mistake is a report.
    unsafe { module.launch_unsafe(kernel, config, arguments) }
}

/// [`try_launch`] of a kernel without defects.
fn launch<'launch, K, A>(device: &Device, kernel: K, config: LaunchConfig, arguments: A)
where
    K: Kernel,
    A: LaunchArgs<K::Params<'launch>>,
{
    if let Err(error) = try_launch(device, kernel, config, arguments) {
        panic!("on {}: {error}", device.name());
    }
}

fn upload<T: Element>(device: &Device, data: &[T]) -> Buffer<T> {
    device.upload(data).unwrap()
}

/// A buffer for results. Its bytes are 0xFF on the simulator, so nothing is right by chance.
fn output<T: Element>(device: &Device, len: usize) -> Buffer<T> {
    device.uninit(len).unwrap()
}

/// Random numbers, the same in every run.
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    let mut random = Random::new(seed);
    std::iter::repeat_with(move || random.bits())
}

/// Integers from -8 to 8: their sums are exact in every type that the tests sum in.
fn small_integers(seed: u64, len: usize) -> Vec<i32> {
    numbers(seed)
        .take(len)
        .map(|number| (number % 17) as i32 - 8)
        .collect()
}
