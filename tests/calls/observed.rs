//! The effects of a call: the driver's functions that it calls, and the memory that it allocates.

use crate::fake_driver::LIBRARY;
use libloading::Library;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int};
use std::sync::OnceLock;

/// The context of the device, as `driver.c` has it.
pub const DEVICE: usize = 0x1000;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, which counts the allocations of each thread.
struct CountingAllocator;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

// SAFETY: every call is the system's.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promise is the system's requirement.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as in `alloc`, where the pointer comes from.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The effects of the calling thread.
#[derive(Debug)]
pub struct Observed {
    /// The driver's functions, in the order of the calls.
    pub driver_calls: Vec<&'static str>,
    pub allocations: u64,
}

/// The effects of `call` on this thread.
pub fn observe(call: impl FnOnce()) -> Observed {
    let driver = driver();
    // SAFETY: the functions have no requirements; the text stays until calls are forgotten.
    let recorded = || unsafe { CStr::from_ptr((driver.recorded_calls)()) };
    // SAFETY: as before.
    unsafe { (driver.forget_calls)() };
    let before = ALLOCATIONS.get();
    call();
    let allocations = ALLOCATIONS.get() - before;
    let calls = recorded().to_str().unwrap().to_owned().leak();
    Observed {
        driver_calls: calls.split_whitespace().collect(),
        allocations,
    }
}

/// The context that is current on this thread, and the number of those on its stack.
pub fn contexts() -> (usize, c_int) {
    let (driver, mut current) = (driver(), 0);
    // SAFETY: the place is for one handle.
    let status = unsafe { (driver.get_context)(&raw mut current) };
    assert_eq!(status, 0);
    // SAFETY: the function has no requirements.
    (current, unsafe { (driver.context_depth)() })
}

pub fn push_context(context: usize) {
    // SAFETY: to `driver.c` a context is a number.
    assert_eq!(unsafe { (driver().push_context)(context) }, 0);
}

pub fn pop_context() {
    let mut popped = 0;
    // SAFETY: the place is for one handle.
    assert_eq!(unsafe { (driver().pop_context)(&raw mut popped) }, 0);
}

/// Has the device be lost by the next copy from its memory to another device's.
pub fn lose_by_copies(device: c_int) {
    // SAFETY: the driver has the device.
    unsafe { (driver().lose_by_copies)(device) };
}

/// Has the driver have no memory for events any more.
pub fn refuse_events() {
    // SAFETY: the function has no requirements.
    unsafe { (driver().refuse_events)() };
}

/// Functions of `driver.c`.
struct Driver {
    recorded_calls: unsafe extern "C" fn() -> *const c_char,
    forget_calls: unsafe extern "C" fn(),
    context_depth: unsafe extern "C" fn() -> c_int,
    lose_by_copies: unsafe extern "C" fn(c_int),
    refuse_events: unsafe extern "C" fn(),
    get_context: unsafe extern "C" fn(*mut usize) -> c_int,
    push_context: unsafe extern "C" fn(usize) -> c_int,
    pop_context: unsafe extern "C" fn(*mut usize) -> c_int,
}

fn driver() -> &'static Driver {
    static DRIVER: OnceLock<Driver> = OnceLock::new();
    DRIVER.get_or_init(|| {
        // SAFETY: the library is that of `driver.c`, whose functions have these types.
        unsafe {
            let library = Library::new(LIBRARY).unwrap();
            let driver = Driver {
                recorded_calls: *library.get(b"recorded_calls").unwrap(),
                forget_calls: *library.get(b"forget_calls").unwrap(),
                context_depth: *library.get(b"context_depth").unwrap(),
                lose_by_copies: *library.get(b"lose_by_copies").unwrap(),
                refuse_events: *library.get(b"refuse_events").unwrap(),
                get_context: *library.get(b"cuCtxGetCurrent").unwrap(),
                push_context: *library.get(b"cuCtxPushCurrent_v2").unwrap(),
                pop_context: *library.get(b"cuCtxPopCurrent_v2").unwrap(),
            };
            std::mem::forget(library);
            driver
        }
    })
}
