//! Kernels that call the host, need much stack or never end: on the simulator each is an error of
//! the launch, never a deadlock, and the device works afterwards.

#[path = "../crates/simt/tests/common/child.rs"]
mod child;

use child::in_child;
use cuda_std::prelude::*;
use cuda_std_test_kernels::symbols::U;
use simt::DefectKind;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;
use tilewright::{
    Buffer, Device, Error, ErrorKind, Event, LaunchConfig, Module, ModuleSource, PinnedBuffer,
    Result, SimulatorOptions,
};

// SAFETY: (1) there are no images, so none that could differ from the kernels.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("misbehaving", &[]) };

/// The arguments of a host function that is called inside a kernel.
struct Host {
    device: Device,
    module: Module,
    buffer: Mutex<Buffer<f32>>,
    event: Event,
}

static HOST: OnceLock<Host> = OnceLock::new();

fn host() -> &'static Host {
    HOST.get_or_init(|| {
        let device = Device::simulator();
        Host {
            module: device.load(&KERNELS).unwrap(),
            buffer: Mutex::new(device.zeros(256).unwrap()),
            event: device.record_event().unwrap(),
            device,
        }
    })
}

type Call = fn(&Host) -> Result<()>;

/// Every kind of call, by name.
const CALLS: [(&str, Call); 18] = [
    ("write_symbol", |host| {
        host.module.write_symbol(&U, &[0.0; 4])
    }),
    ("read_symbol", |host| host.module.read_symbol(&U).map(drop)),
    ("launch", |host| {
        host.module.launch(call_host, LaunchConfig::new(1, 1), (0,))
    }),
    ("load", |host| host.device.load(&KERNELS).map(drop)),
    ("upload", |host| host.device.upload(&[1.0_f32]).map(drop)),
    ("zeros", |host| host.device.zeros::<f32>(4).map(drop)),
    ("pinned", |host| host.device.pinned::<f32>(4).map(drop)),
    ("texture_1d", |host| {
        let options = tilewright::TextureOptions::default();
        host.device.texture_1d(&[1.0_f32], options).map(drop)
    }),
    ("to_vec", |host| lock(host).to_vec().map(drop)),
    ("copy_from_slice", |host| {
        lock(host).copy_from_slice(&[1.0; 256])
    }),
    ("fill_zero", |host| lock(host).fill_zero()),
    ("try_clone", |host| lock(host).try_clone().map(drop)),
    ("reduce_sum", |host| {
        host.device.reduce_sum(&*lock(host)).map(drop)
    }),
    ("synchronize", |host| host.device.synchronize()),
    ("record_event", |host| host.device.record_event().map(drop)),
    ("elapsed_since", |host| {
        host.event.elapsed_since(&host.event).map(drop)
    }),
    ("with_current", |host| host.device.with_current(|| ())),
    ("with_report", |host| {
        host.device.with_report(|| Ok(())).map(drop)
    }),
];

fn lock(host: &Host) -> std::sync::MutexGuard<'_, Buffer<f32>> {
    host.buffer
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Makes the host call of this number.
#[kernel]
pub fn call_host(call: u32) {
    thread::sync_threads();
    if thread::thread_idx_x() == 3 {
        let _ = CALLS[call as usize].1(host());
    }
    thread::sync_threads();
}

#[track_caller]
fn defect(result: Result<()>) -> Box<simt::Defect> {
    match result.map_err(Error::into_kind) {
        Err(ErrorKind::KernelDefect(defect)) => defect,
        other => panic!("{other:?}"),
    }
}

#[test]
fn host_calls_in_a_kernel_are_errors() {
    in_child("host_calls_in_a_kernel_are_errors", || {
        for (number, (name, call)) in CALLS.iter().enumerate() {
            let config = LaunchConfig::new(2, 32);
            let launched = host().module.launch(call_host, config, (number as u32,));
            let defect = defect(launched);
            assert_eq!(defect.kind, DefectKind::HostCall, "{name}: {defect}");
            assert_eq!(defect.thread.map(|thread| thread.x), Some(3), "{defect}");
            // The host itself may.
            if *name != "launch" {
                call(host()).unwrap();
            }
        }
    });
}

static TO_DROP: Mutex<Vec<Buffer<f32>>> = Mutex::new(Vec::new());

/// Drops a buffer that it has been given, and another one while it unwinds.
#[kernel]
pub fn drop_buffers(panics: u32) {
    let buffer = TO_DROP.lock().unwrap().pop();
    let other = TO_DROP.lock().unwrap().pop();
    drop(buffer);
    assert!(panics == 0, "of purpose");
    drop(other);
}

#[test]
fn a_kernel_may_drop_buffers() {
    in_child("a_kernel_may_drop_buffers", || {
        for panics in [0, 1] {
            let Host { device, module, .. } = host();
            for _ in 0..128 {
                TO_DROP.lock().unwrap().push(device.zeros(64).unwrap());
            }
            let launched = module.launch(drop_buffers, LaunchConfig::new(2, 32), (panics,));
            match panics {
                0 => launched.unwrap(),
                _ => assert_eq!(defect(launched).kind, DefectKind::Panic),
            }
            TO_DROP.lock().unwrap().clear();
            call_sum(device);
        }
    });
}

fn call_sum(device: &Device) {
    let x = device.upload(&[1.0_f32; 1000]).unwrap();
    assert_eq!(device.reduce_sum(&x).unwrap(), 1000.0);
}

/// Uses `bytes` bytes of stack, at least.
#[kernel]
pub fn use_stack(bytes: u32) {
    fn recurse(bytes: u32) -> u32 {
        // One array for each call, with any optimization.
        let frame = [1_u8; 4096];
        black_box(&frame);
        match bytes.checked_sub(4096) {
            Some(left) => recurse(left) + u32::from(frame[17]),
            None => 0,
        }
    }
    black_box(recurse(bytes));
}

#[test]
fn a_stack_overflow_is_an_error() {
    in_child("a_stack_overflow_is_an_error", || {
        for (stack_bytes, most) in [(64 << 10, 40 << 10), (512 << 10, 400 << 10)] {
            let options = SimulatorOptions::default().with_stack_bytes(stack_bytes);
            let device = Device::simulator_with(options);
            let module = device.load(&KERNELS).unwrap();
            let run = |bytes| module.launch(use_stack, LaunchConfig::new(2, 32), (bytes,));
            run(most).unwrap();
            let defect = defect(run(4 << 20));
            assert_eq!(defect.kind, DefectKind::StackOverflow, "{defect}");
            assert!(defect.to_string().contains("use_stack"), "{defect}");
            call_sum(&device);
        }
        assert_eq!(SimulatorOptions::default().stack_bytes, 512 << 10);
    });
}

static PINNED: Mutex<Vec<PinnedBuffer<u8>>> = Mutex::new(Vec::new());

/// Drops page-locked memory in each frame of the last third of its stack. Frames have one of four sizes.
#[kernel]
pub fn drop_until_overflow(size: u32) {
    #[allow(unconditional_recursion, reason = "the stack ends it")]
    fn recurse<const SIZE: usize>(begin: usize) -> u32 {
        let frame = [1_u8; SIZE];
        if begin - black_box(&frame).as_ptr().addr() > 40 << 10 {
            let memory = PINNED.lock().unwrap().pop();
            drop(memory);
        }
        recurse::<SIZE>(begin) + u32::from(frame[7])
    }
    let begin = (&raw const size).addr();
    black_box(match size {
        0 => recurse::<16>(begin),
        1 => recurse::<48>(begin),
        2 => recurse::<80>(begin),
        _ => recurse::<112>(begin),
    });
}

#[test]
#[cfg(target_os = "linux")]
fn a_stack_overflow_while_memory_is_dropped_leaves_no_lock() {
    in_child(
        "a_stack_overflow_while_memory_is_dropped_leaves_no_lock",
        || {
            let options = SimulatorOptions::default().with_stack_bytes(64 << 10);
            let device = Device::simulator_with(options);
            let module = device.load(&KERNELS).unwrap();
            for size in 0..4 {
                let pinned = (0..1000).map(|_| device.pinned(8).unwrap());
                PINNED.lock().unwrap().extend(pinned);
                let launched = module.launch(drop_until_overflow, LaunchConfig::new(1, 1), (size,));
                let defect = defect(launched);
                assert_eq!(defect.kind, DefectKind::StackOverflow, "{defect}");
                call_sum(&device);
            }
        },
    );
}

/// Never ends.
#[kernel]
pub fn never_end(waits: u32) {
    loop {
        if waits != 0 {
            thread::sync_threads();
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_kernel_without_end_is_an_error() {
    in_child("a_kernel_without_end_is_an_error", || {
        let limit = Duration::from_millis(100);
        let device = Device::simulator_with(SimulatorOptions::default().with_time_limit(limit));
        let module = device.load(&KERNELS).unwrap();
        for waits in [1, 0] {
            let launched = module.launch(never_end, LaunchConfig::new(2, 32), (waits,));
            let defect = defect(launched);
            assert_eq!(defect.kind, DefectKind::TimeLimit, "{defect}");
            assert!(defect.message.contains("with_time_limit"), "{defect}");
            call_sum(&device);
        }
    });
}

/// Waits for a word that no thread changes.
#[kernel]
pub fn wait_for_word(words: GlobalAtomic<u32>) {
    while words.fetch_max(3, 0) == Some(0) {}
}

/// With a usual device's options except for the time limit, after which the report names the waits.
#[test]
#[cfg(target_os = "linux")]
fn threads_that_look_at_a_word_until_the_time_is_up_are_a_deadlock() {
    in_child(
        "threads_that_look_at_a_word_until_the_time_is_up_are_a_deadlock",
        || {
            let limit = Duration::from_millis(500);
            for parallel in [true, false] {
                let options = SimulatorOptions::default().with_time_limit(limit);
                let options = options.with_parallel_blocks(parallel);
                let device = Device::simulator_with(options);
                let module = device.load(&KERNELS).unwrap();
                let mut words = device.zeros::<u32>(4).unwrap().named("flags");
                let config = LaunchConfig::new(2, 32);
                let launched = module.launch(wait_for_word, config, (&mut words,));
                let defect = defect(launched);
                assert_eq!(defect.kind, DefectKind::Deadlock, "{defect}");
                let text = defect.to_string();
                for part in [
                    "500ms of processor time were over",
                    "element 3",
                    "buffer `flags`",
                    "no thread of the launch has changed the word",
                ] {
                    assert!(text.contains(part), "{part}: {text}");
                }
                call_sum(&device);
            }
        },
    );
}

/// Catches its unwinding for ever, beside a thread that panics.
#[kernel]
pub fn catch_unwinding(resumes: u32) {
    assert!(thread::thread_idx_x() != 5, "of purpose");
    loop {
        if let Err(payload) = catch_unwind(AssertUnwindSafe(thread::sync_threads))
            && resumes != 0
        {
            resume_unwind(payload);
        }
    }
}

#[test]
fn caught_unwinding_ends() {
    in_child("caught_unwinding_ends", || {
        let Host { device, module, .. } = host();
        for resumes in [1, 0] {
            let launched = module.launch(catch_unwinding, LaunchConfig::new(2, 32), (resumes,));
            assert_eq!(defect(launched).kind, DefectKind::Panic);
            call_sum(device);
        }
    });
}

/// Whether the host has freed the parameter of [`lend_parameter`], and what was read of it then.
static IS_FREED: AtomicBool = AtomicBool::new(false);
static READ: AtomicU32 = AtomicU32::new(0);

/// Lends its parameter to a host thread, and overflows its stack in the scope that waits for it.
#[kernel]
pub fn lend_parameter(values: GridConstant<[u32; 256]>) {
    std::thread::scope(|scope| {
        let lent: &[u32; 256] = &values;
        scope.spawn(move || {
            while !IS_FREED.load(Ordering::Acquire) {
                std::thread::sleep(Duration::from_millis(1));
            }
            READ.store(lent[7], Ordering::Release);
        });
        black_box(overflow(0));
    });
}

#[inline(never)]
fn overflow(depth: u64) -> u64 {
    let frame = black_box([depth; 64]);
    if frame[1] == u64::MAX {
        return 0;
    }
    overflow(depth + 1) + frame[3]
}

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
#[test]
fn a_lent_parameter_outlives_its_launch() {
    in_child("a_lent_parameter_outlives_its_launch", || {
        let mut values = Box::new([11_u32; 256]);
        let config = LaunchConfig::new(1, 1);
        let result = host().module.launch(lend_parameter, config, (&*values,));
        assert!(matches!(
            result.unwrap_err().kind(),
            ErrorKind::KernelDefect(defect) if defect.kind == DefectKind::StackOverflow
        ));
        // A reference to it would change now.
        values.fill(12);
        IS_FREED.store(true, Ordering::Release);
        while READ.load(Ordering::Acquire) == 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(READ.load(Ordering::Acquire), 11);
    });
}
