//! The simulator as a device: its memory is host memory, and kernels run when they are launched.

mod events;
mod kernels;
mod memory;
mod options;
mod peers;
mod quarantine;
mod results;
mod tensor_maps;
mod textures;

pub use options::SimulatorOptions;

use crate::backend::{Backend, DeviceMemory as _};
use crate::error::Outcome;
use crate::kernel_output::print_message;
use crate::launch::{MAX_GRID_X, MAX_GRID_Y};
use crate::module_source::ModuleId;
use crate::properties::DeviceProperties;
use crate::report::LaunchRecorder;
use crate::scratch::{Allocation, CHUNK_BYTES, Scratch};
use quarantine::Quarantine;
use simt::{Dim3, Profile, StaticMemory};
use std::collections::HashMap;
use std::ffi::c_void;
use std::mem;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

const NAME: &str = "simulator";

/// The number of simulators that this process has made.
static MADE: AtomicU64 = AtomicU64::new(0);

/// One simulated device.
#[derive(Debug)]
pub(crate) struct Simulator {
    options: simt::Options,
    properties: DeviceProperties,
    /// The device's number among the simulators of the process, from 1.
    number: u64,
    allocated_bytes: AtomicU64,
    /// The start of the events' clock, which counts nanoseconds.
    epoch: Instant,
    scratch: Scratch,
    recorder: LaunchRecorder,
    freed: Mutex<Quarantine>,
    /// The device whose limits this one has.
    profile: Profile,
    /// The static arrays of each module. The lock stands for the device: launches, copies and accesses to static
    /// arrays run one after another, as in a stream. The effects of a launch may be undone and redone, including the
    /// rest of a buffer of which the launch was given only a part.
    statics: Mutex<HashMap<ModuleId, Arc<StaticMemory>>>,
    /// The process that has made the device.
    process: u32,
}

impl Drop for Simulator {
    fn drop(&mut self) {
        let allocations = self.scratch.take();
        let chunks = mem::take(&mut self.scratch.slots().chunks);
        let chunks = chunks.iter().map(|chunk| (chunk.device, CHUNK_BYTES));
        for (address, bytes) in allocations
            .map(|Allocation { address, bytes }| (address, bytes))
            .chain(chunks)
        {
            // SAFETY: one live allocation, not used again: the device allocated it with this size, and nothing uses
            // it after `drop`.
            unsafe { self.free(address, bytes) };
        }
        self.quarantine().shrink(0);
        self.name_unused_suppressions();
    }
}

impl Simulator {
    pub(crate) fn new(options: SimulatorOptions) -> Self {
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
            number: MADE.fetch_add(1, Ordering::Relaxed) + 1,
            allocated_bytes: AtomicU64::new(0),
            epoch: Instant::now(),
            scratch: Scratch::default(),
            statics: Mutex::default(),
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

    fn quarantine(&self) -> MutexGuard<'_, Quarantine> {
        self.freed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for Simulator {
    fn properties(&self) -> &DeviceProperties {
        &self.properties
    }

    fn is_simulator(&self) -> bool {
        true
    }

    fn label(&self) -> String {
        let numbered = format!("{NAME} #{}", self.number);
        self.properties.name.replacen(NAME, &numbered, 1)
    }

    /// Nothing to wait for: every launch and copy was done when its call returned.
    fn synchronize(&self) -> Outcome<()> {
        simt::refuse_host_call("synchronize");
        Ok(())
    }

    fn raw_stream(&self) -> Option<NonNull<c_void>> {
        None
    }

    fn recorder(&self) -> Option<&LaunchRecorder> {
        simt::refuse_host_call("a report of launches");
        Some(&self.recorder)
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
