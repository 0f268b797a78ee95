//! Simulated devices in a process that forks, in one that has little memory, and in one whose standard output is
//! locked: each failure is an error of the call, and nothing hangs or ends the process.

#![cfg(target_os = "linux")]

#[path = "../crates/simt/tests/common/child.rs"]
mod child;

use child::{in_child, limit_address_space};
use cuda_std::prelude::*;
use std::hint::spin_loop;
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use tilewright::{Device, Error, ErrorKind, LaunchConfig, Module, ModuleSource, SimulatorError};
use tilewright_kernels::reduce::Reduction;
use tilewright_test_support::assert_kind;

// SAFETY: (1) there are no images, so none that could differ from the kernels.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("process", &[]) };

static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
static MAY_END: AtomicBool = AtomicBool::new(false);

/// Is at work until the host lets it end.
#[kernel]
pub fn wait_for_host(_unused: u32) {
    HAS_BEGUN.store(true, Ordering::Release);
    while !MAY_END.load(Ordering::Acquire) {
        spin_loop();
    }
    thread::sync_threads();
}

fn launch(module: &Module) -> Result<(), Error> {
    module.launch(wait_for_host, LaunchConfig::new(1, 1), (0,))
}

/// Ends with 0 where the device that was at work fails as it should and a new one works.
fn forked(device: *mut Device, module: *mut Module) -> i32 {
    // SAFETY: both come from `Box::into_raw`. The thread that borrows them does not exist in this
    // process, so this is their only use.
    let (device, module) = unsafe { (Box::from_raw(device), Box::from_raw(module)) };
    if !matches!(
        launch(&module).map_err(Error::into_kind),
        Err(ErrorKind::Simulator(SimulatorError::BusyAtFork { .. }))
    ) {
        return 1;
    }
    drop(module);
    drop(device);
    let fresh = Device::simulator();
    MAY_END.store(true, Ordering::Release);
    match fresh.load(&KERNELS).and_then(|module| launch(&module)) {
        Ok(()) => 0,
        Err(_) => 2,
    }
}

/// Forks while `work` is at work, and fails unless `in_fork` returns 0 in the child.
fn fork_at_work(
    work: impl FnOnce() -> Result<(), Error> + Send + 'static,
    in_fork: impl FnOnce() -> i32,
) {
    let working = std::thread::spawn(work);
    while !HAS_BEGUN.load(Ordering::Acquire) {
        spin_loop();
    }
    // SAFETY: the locks of the allocator and of the simulator are free in the child, which
    // calls nothing else that another thread may hold, and ends by `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        // A process that hangs is ended by a signal: nothing else would end it.
        // SAFETY: the call has no requirements.
        unsafe { libc::alarm(10) };
        let status = in_fork();
        // SAFETY: the call has no requirements.
        unsafe { libc::_exit(status) };
    }
    assert!(child > 0);
    let mut status = -1;
    // SAFETY: `status` is there to be written.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    MAY_END.store(true, Ordering::Release);
    working.join().unwrap().unwrap();
    assert_eq!(status, 0);
}

#[test]
fn a_device_that_was_at_work_at_a_fork() {
    in_child("a_device_that_was_at_work_at_a_fork", || {
        let device = Box::into_raw(Box::new(Device::simulator()));
        // SAFETY: it was boxed above.
        let module = Box::into_raw(Box::new(unsafe { &*device }.load(&KERNELS).unwrap()));
        // SAFETY: as above; this process never frees it.
        let shared: &'static Module = unsafe { &*module };
        fork_at_work(|| launch(shared), || forked(device, module));
    });
}

#[test]
fn a_reduction_at_a_fork() {
    in_child("a_reduction_at_a_fork", || {
        let device = Device::simulator();
        let module = device.load(&KERNELS).unwrap();
        let x = device.upload(&[1_u32, 2, 3]).unwrap();
        let of_parent = (module.clone(), device.upload(&[4_u32]).unwrap());
        let work = move || of_parent.0.reduce(wait_in_sum, &of_parent.1).map(drop);
        fork_at_work(work, move || {
            let sum = device.reduce_sum(&x).map_err(Error::into_kind);
            let is_busy = matches!(
                sum,
                Err(ErrorKind::Simulator(SimulatorError::BusyAtFork { .. }))
            );
            // Waits for nothing, either.
            drop((module, x, device));
            i32::from(!is_busy)
        });
    });
}

#[test]
fn no_room_for_buffers() {
    in_child("no_room_for_buffers", || {
        const BYTES: usize = 1 << 30;
        let device = Device::simulator();
        let free = device.free_memory().unwrap();
        limit_address_space(256 << 20);
        let is_out_of_memory = |error: &Error| matches!(error.kind(), ErrorKind::OutOfMemory { requested, .. } if *requested == BYTES as u64);
        let zeros = device.zeros::<u8>(BYTES).unwrap_err();
        assert!(is_out_of_memory(&zeros), "{zeros}");
        let unspecified = device.uninit::<u8>(BYTES).unwrap_err();
        assert!(is_out_of_memory(&unspecified), "{unspecified}");
        let pinned = device.pinned::<u8>(BYTES).map(drop).unwrap_err();
        assert_kind!(pinned is ErrorKind::OutOfHostMemory { .. });
        // Failed allocations do not count as used.
        assert_eq!(device.free_memory().unwrap(), free);
        assert_eq!(device.zeros::<u8>(1 << 20).unwrap().len(), 1 << 20);
    });
}

static HAS_PRINTED: AtomicBool = AtomicBool::new(false);

/// Prints one line.
#[kernel]
pub fn print(number: u32) {
    gpu_println!("number {number}");
    HAS_PRINTED.store(true, Ordering::Release);
}

/// A sum that is at work until the host lets it end.
pub struct Waits;

impl Reduction<u32> for Waits {
    type Accumulator = u32;
    type Output = u32;
    const IDENTITY: u32 = 0;

    fn lift(element: u32, _index: usize) -> u32 {
        HAS_BEGUN.store(true, Ordering::Release);
        while !MAY_END.load(Ordering::Acquire) {
            spin_loop();
        }
        element
    }

    fn combine(left: u32, right: u32) -> u32 {
        left + right
    }

    fn finish(total: u32, _elements: usize) -> u32 {
        total
    }
}

/// The number of elements, each of which is printed.
pub struct Printed;

impl Reduction<u32> for Printed {
    type Accumulator = u32;
    type Output = u32;
    const IDENTITY: u32 = 0;

    fn lift(element: u32, _index: usize) -> u32 {
        gpu_println!("element {element}");
        HAS_PRINTED.store(true, Ordering::Release);
        1
    }

    fn combine(left: u32, right: u32) -> u32 {
        left + right
    }

    fn finish(total: u32, _elements: usize) -> u32 {
        total
    }
}

tilewright_kernels::reductions! {
    /// Prints each element.
    print_elements: Printed of u32;
    /// Waits for the host.
    wait_in_sum: Waits of u32;
}

/// Holds standard output from before `printing` begins to print until `using`, on another thread, has ended.
fn with_locked_output(printing: impl FnOnce() + Send, using: impl FnOnce()) {
    HAS_PRINTED.store(false, Ordering::Relaxed);
    std::thread::scope(|scope| {
        let mut output = io::stdout().lock();
        scope.spawn(printing);
        while !HAS_PRINTED.load(Ordering::Acquire) {
            spin_loop();
        }
        using();
        writeln!(output, "used").unwrap();
    });
}

#[test]
fn a_thread_that_has_locked_standard_output_uses_a_device_whose_kernels_print() {
    let name = "a_thread_that_has_locked_standard_output_uses_a_device_whose_kernels_print";
    in_child(name, || {
        let device = Device::simulator();
        let module = device.load(&KERNELS).unwrap();
        let x = device.upload(&[1_u32, 2, 3]).unwrap();
        let sum = || assert_eq!(device.reduce_sum(&x).unwrap(), 6);
        let config = LaunchConfig::new(1, 1);
        with_locked_output(|| module.launch(print, config, (1,)).unwrap(), sum);
        with_locked_output(
            || assert_eq!(module.reduce(print_elements, &x).unwrap(), 3),
            sum,
        );
    });
}
