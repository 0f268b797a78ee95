//! The simulator as a device: its memory is host memory, and kernels run when they are launched.

mod bodies;
mod events;
mod graphs;
mod kernels;
mod memory;
mod options;
mod pages;
mod peers;
#[cfg(feature = "ptx")]
mod ptx;
mod quarantine;
mod results;
mod stream_check;
mod stream_order;
mod streams;
mod tensor_maps;
mod textures;
mod work;

pub use bodies::{KernelBodies, KernelCall, SymbolCall};
pub use options::SimulatorOptions;

use crate::backend::{Backend, DeviceMemory as _, StreamPriority};
use crate::error::{ErrorKind, Outcome, SimulatorError};
use crate::kernel_output::print_message;
use crate::launch::{MAX_GRID_X, MAX_GRID_Y};
use crate::locks::lock;
use crate::module_source::ModuleId;
use crate::properties::DeviceProperties;
use crate::report::LaunchRecorder;
use crate::scratch::{Allocation, CHUNK_BYTES, Scratch};
use crate::stream_set::{StreamNumber, too_many_streams};
use quarantine::Quarantine;
use simt::{Dim3, Profile, StaticMemory};
use std::collections::HashMap;
use std::ffi::c_void;
use std::mem;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use stream_check::{MemoryAccess, StreamCheck, Unordered};
use stream_order::StreamOrder;
use work::Graphs;

const NAME: &str = "simulator";

/// The number of simulators that this process has made.
static MADE: AtomicU64 = AtomicU64::new(0);

/// One stream of a simulated device.
#[derive(Debug)]
pub(crate) struct Simulator {
    machine: Arc<Machine>,
    stream: StreamNumber,
    scratch: Scratch,
    graphs: Mutex<Graphs>,
}

/// A simulated device: the state that its streams share.
#[derive(Debug)]
struct Machine {
    options: simt::Options,
    /// Code that launches run in place of kernels' functions.
    bodies: Option<KernelBodies>,
    properties: DeviceProperties,
    /// The device's number among the simulators of the process, from 1.
    number: u64,
    allocated_bytes: AtomicU64,
    /// The start of the events' clock, which counts nanoseconds.
    epoch: Instant,
    recorder: LaunchRecorder,
    freed: Mutex<Quarantine>,
    /// The device whose limits are simulated.
    profile: Profile,
    /// The static arrays of each module. The lock stands for the device: launches, copies and accesses to static
    /// arrays run one after another, as in a stream. The effects of a launch may be undone and redone, including those
    /// on a whole buffer if the launch has a part of it.
    statics: Mutex<HashMap<ModuleId, Arc<StaticMemory>>>,
    streams: Mutex<StreamOrder>,
    stream_check: Mutex<StreamCheck>,
    /// An error found in a drop, for the next call to return.
    late_error: Mutex<Option<SimulatorError>>,
    /// The process that has made the device.
    process: u32,
}

impl Drop for Simulator {
    fn drop(&mut self) {
        let allocations = self.scratch.take();
        let chunks = self.scratch.take_chunks();
        let chunks = chunks.iter().map(|chunk| (chunk.device, CHUNK_BYTES));
        for (address, bytes) in allocations
            .map(|Allocation { address, bytes }| (address, bytes))
            .chain(chunks)
        {
            // SAFETY: one live allocation, not used again: the device allocated it with this size, and nothing uses
            // it after `drop`.
            unsafe { self.free(address, bytes) };
        }
        simt::uninterrupted(|| self.machine.streams().remove(self.stream));
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Locks of the process must not stay locked if a kernel that drops the last handle is stopped.
        simt::uninterrupted(|| {
            self.quarantine().shrink(0);
            let statics = self.statics.get_mut();
            drop(mem::take(statics.unwrap_or_else(PoisonError::into_inner)));
            self.name_unused_suppressions();
        });
    }
}

impl Simulator {
    /// The first stream of a new device.
    pub(crate) fn new(options: SimulatorOptions) -> Self {
        Self::on(Arc::new(Machine::new(options))).expect("a device has a first stream")
    }

    /// A stream of `machine`, which is ordered after all earlier work.
    fn on(machine: Arc<Machine>) -> Outcome<Self> {
        let stream = machine.streams().add().ok_or_else(too_many_streams)?;
        Ok(Self {
            machine,
            stream,
            scratch: Scratch::default(),
            graphs: Mutex::default(),
        })
    }

    fn quarantine(&self) -> MutexGuard<'_, Quarantine> {
        self.machine.quarantine()
    }

    /// Checks that this stream, which frees the allocation at `address`, is ordered after its uses. A failure is an error
    /// of the next call.
    fn check_freed(&self, address: u64) {
        let machine = &*self.machine;
        let mut order = machine.streams();
        let mut check = machine.stream_check();
        let mut checked = Ok(());
        if machine.options.checks && !order.has_one() {
            checked = check.free(&mut order, self.stream, address);
        }
        check.forget(address);
        drop((check, order));
        if let Err(unordered) = checked {
            let error = self.unordered("a drop of a buffer".to_owned(), unordered);
            lock(&machine.late_error).replace(error);
        }
    }

    /// Checks that this stream is ordered after conflicting uses of memory by others.
    /// A device with one stream needs no check.
    fn check_order<U: AsRef<[MemoryAccess]>>(
        &self,
        call: impl FnOnce() -> String,
        uses: impl FnOnce() -> U,
    ) -> Outcome<()> {
        let machine = &*self.machine;
        let mut order = machine.streams();
        if !machine.options.checks || order.has_one() {
            return Ok(());
        }
        if let Some(error) = lock(&machine.late_error).take() {
            return Err(ErrorKind::Simulator(error));
        }
        let checked = machine
            .stream_check()
            .call(&mut order, self.stream, uses().as_ref());
        checked.map_err(|unordered| ErrorKind::Simulator(self.unordered(call(), unordered)))
    }

    fn unordered(&self, call: String, unordered: Unordered) -> SimulatorError {
        let Unordered {
            later,
            earlier_is_write,
        } = unordered;
        SimulatorError::UnorderedStreams {
            device: self.label(),
            call,
            is_write: later.is_write,
            earlier_is_write,
            buffer: simt::allocation_name(later.address as usize).map(|name| name.to_string()),
        }
    }
}

impl Machine {
    fn new(options: SimulatorOptions) -> Self {
        Self {
            options: simt::Options {
                seed: options.seed,
                preemption: options.preemption,
                weak_memory: options.weak_memory,
                blocks_in_order: options.blocks_in_order,
                warp_width: options.warp_width,
                parallel_blocks: options.parallel_blocks,
                multiprocessors: options.multiprocessors,
                profile: options.profile.unwrap_or_default(),
                checks: options.checks,
                // All memory that a kernel can be given is allocated here or is a static array.
                registered_memory_only: true,
                stack_bytes: options.stack_bytes,
                time_limit: options.time_limit,
                finding_limit: options.finding_limit,
                suppressions: options.suppressions.clone().into(),
                ..simt::Options::default()
            },
            properties: properties(&options),
            bodies: options.bodies.map(KernelBodies::of_device),
            number: MADE.fetch_add(1, Ordering::Relaxed) + 1,
            allocated_bytes: AtomicU64::new(0),
            epoch: Instant::now(),
            statics: Mutex::default(),
            streams: Mutex::default(),
            stream_check: Mutex::default(),
            late_error: Mutex::default(),
            process: std::process::id(),
            profile: options.profile.unwrap_or_default(),
            recorder: LaunchRecorder::new(options.profile.unwrap_or_default(), options.counters),
            freed: Mutex::default(),
        }
    }

    /// Reports each suppression whose kernel this device has launched, but which has suppressed nothing.
    fn name_unused_suppressions(&self) {
        let unused = self.options.suppressions.iter();
        for suppression in unused.filter(|it| it.has_seen_its_kernel() && it.matches() == 0) {
            print_message(&format!(
                "a suppression that nothing matched: {suppression}"
            ));
        }
    }

    fn streams(&self) -> MutexGuard<'_, StreamOrder> {
        lock(&self.streams)
    }

    fn stream_check(&self) -> MutexGuard<'_, StreamCheck> {
        lock(&self.stream_check)
    }

    fn quarantine(&self) -> MutexGuard<'_, Quarantine> {
        lock(&self.freed)
    }
}

impl Backend for Simulator {
    fn properties(&self) -> &DeviceProperties {
        &self.machine.properties
    }

    fn is_simulator(&self) -> bool {
        true
    }

    fn label(&self) -> String {
        let numbered = format!("{NAME} #{}", self.machine.number);
        self.machine.properties.name.replacen(NAME, &numbered, 1)
    }

    /// Nothing to wait for: every launch and copy was done when its call returned.
    fn synchronize(&self) -> Outcome<()> {
        simt::refuse_host_call("synchronize");
        Ok(())
    }

    fn new_stream(&self, _priority: StreamPriority) -> Outcome<Arc<dyn Backend>> {
        simt::refuse_host_call("new_stream");
        Ok(Arc::new(Self::on(Arc::clone(&self.machine))?))
    }

    fn raw_stream(&self) -> Option<NonNull<c_void>> {
        None
    }

    fn recorder(&self) -> Option<&LaunchRecorder> {
        simt::refuse_host_call("a report of launches");
        Some(&self.machine.recorder)
    }

    /// A kernel must not ask for it: the holder of the scratch memory waits for launches, perhaps for that of the
    /// calling kernel.
    fn scratch(&self) -> &Scratch {
        simt::refuse_host_call("a sum");
        &self.scratch
    }

    fn with_current(&self, body: &mut dyn FnMut()) -> Outcome<()> {
        simt::refuse_host_call("with_current");
        body();
        Ok(())
    }
}

/// The limits of a Hopper GPU, so that a launch that fits here also fits there.
fn properties(options: &SimulatorOptions) -> DeviceProperties {
    let sheet = options.profile.unwrap_or_default().datasheet();
    let limits = sheet.limits;
    DeviceProperties {
        name: match options.profile {
            Some(_) => format!("{NAME} ({})", sheet.name),
            None => NAME.to_owned(),
        },
        compute_capability: options.profile.and(sheet.compute_capability),
        driver: None,
        multiprocessors: options.multiprocessors,
        warp_threads: options.warp_width,
        max_block_threads: limits.threads_per_block,
        max_block: Dim3::from((1024, 1024, 64)),
        max_grid: Dim3::from((MAX_GRID_X as u32, MAX_GRID_Y, MAX_GRID_Y)),
        max_multiprocessor_threads: limits.warps * limits.warp_lanes,
        shared_bytes_per_block: 48 << 10,
        max_shared_bytes_per_block: limits.shared_bytes_per_block,
        l2_cache_bytes: sheet.l2_bytes,
        memory_bytes: options.memory_bytes,
    }
}
