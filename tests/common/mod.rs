//! Parts that the tests of all devices share.

#![allow(dead_code, reason = "each test program uses a part of it")]

pub mod axpy;
pub mod layout;
pub mod product;
pub mod ptx;
pub mod sample;
pub mod sizes;

#[allow(unused_imports, reason = "each test program uses a part of it")]
pub use tilewright_test_support::{cases::share, exact, programs, random, say};

use std::sync::Once;
use tilewright::{Device, ErrorKind, SimulatorOptions};

/// A test for each type: `for_each_type!([f32 f64] test)` makes `test::f32`, which calls
/// `test::<f32>()`, and so on.
#[allow(unused_macros, reason = "each test program uses a part of it")]
macro_rules! for_each_type {
    ($types:tt $($test:ident)*) => {
        $(for_each_type!(@test $types $test);)*
    };
    (@test [$($type:ident)*] $test:ident) => {
        mod $test {
            #[allow(unused_imports, reason = "the types of `half` are not in the prelude")]
            use super::*;
            $(
                #[test]
                fn $type() {
                    super::$test::<$type>();
                }
            )*
        }
    };
}

/// Every device at hand: the simulator always, and the first CUDA device in a build with the
/// feature `cuda`. Where there is none, the test says so on stderr.
///
/// With `TILEWRIGHT_SIMULATE_PTX=only`, [`ptx_device`] alone: a second run of tests that have passed on the others.
pub fn devices() -> Vec<Device> {
    if is_ptx_only() {
        return ptx_device().into_iter().collect();
    }
    let mut devices = vec![Device::simulator()];
    devices.extend(ptx_device());
    devices.extend(cuda_device());
    devices
}

fn is_ptx_only() -> bool {
    std::env::var_os("TILEWRIGHT_SIMULATE_PTX").is_some_and(|value| value == "only")
}

/// A simulator whose kernels run as their PTX, if `TILEWRIGHT_SIMULATE_PTX` is set and this build has the feature `ptx`.
/// Kernels of the tests themselves, which have no PTX, run as they are.
#[allow(
    unexpected_cfgs,
    reason = "packages without the feature have tests that use a part of this"
)]
pub fn ptx_device() -> Option<Device> {
    std::env::var_os("TILEWRIGHT_SIMULATE_PTX")?;
    #[cfg(not(feature = "ptx"))]
    panic!("TILEWRIGHT_SIMULATE_PTX needs the feature `ptx`");
    #[cfg(feature = "ptx")]
    Some(Device::simulator_with(
        SimulatorOptions::default().with_bodies(tilewright::KernelBodies::of_ptx()),
    ))
}

/// Every device at hand, and simulators that differ in everything that must not matter: the order
/// of warps and blocks, the number of threads in a warp. They are few whatever `TILEWRIGHT_SEEDS` says: each
/// differs in an option, and kernels are searched for defects by the tests of `under_seeds`.
pub fn machines() -> Vec<Device> {
    let mut machines = devices();
    if !is_ptx_only() {
        machines.extend(variants().map(Device::simulator_with));
    }
    machines
}

/// Every device at hand, and a share of the other [`machines`], drawn by `test`: for products that take seconds on each.
pub fn some_machines(test: &str) -> Vec<Device> {
    let mut machines = devices();
    if !is_ptx_only() {
        machines.extend(share(test, variants()).map(Device::simulator_with));
    }
    machines
}

/// Simulators with differences that must not matter.
fn variants() -> [SimulatorOptions; 5] {
    let options = SimulatorOptions::default;
    [
        options().with_seed(1),
        options().with_seed(0xDEAD_BEEF),
        options().with_warp_width(64),
        options().with_warp_width(64).with_seed(3),
        options().with_parallel_blocks(false),
    ]
}

/// The first CUDA device, if this build and this machine have one. Where they have none, the test
/// program says so on stderr, once.
///
/// A driver or a device that is there but fails is a failure, not a reason to skip.
pub fn cuda_device() -> Option<Device> {
    let error = match Device::cuda(0) {
        Ok(device) => return Some(device),
        Err(error) => error,
    };
    match error.kind() {
        ErrorKind::NoDriver { .. } | ErrorKind::NoDevice { .. } | ErrorKind::NoCudaFeature => {
            static SAID: Once = Once::new();
            SAID.call_once(|| say(&format!("skipped on CUDA: {error}")));
            None
        }
        _ => panic!("the CUDA device does not open: {error}"),
    }
}

/// Whether the device has `bytes` bytes free. Where it does not, the test says so on stderr.
pub fn has_room(device: &Device, bytes: usize) -> bool {
    match device.uninit::<u8>(bytes) {
        Ok(_) => true,
        Err(error) if matches!(error.kind(), ErrorKind::OutOfMemory { .. }) => {
            say(&format!("skipped: {error}"));
            false
        }
        Err(error) => panic!("{error}"),
    }
}
