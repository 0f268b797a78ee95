//! Choices that only the simulator has.

use simt::{Preemption, Profile, Suppression};
use std::time::Duration;

/// Choices that only the simulator has.
///
/// ```
/// use tilewright::{Device, SimulatorOptions};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator_with(SimulatorOptions::default().with_seed(7));
/// assert_eq!(device.reduce_sum(&device.upload(&[1_u32; 100])?)?, 100);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SimulatorOptions {
    /// The seed of the order in which warps run, and of the switches of
    /// [`preemption`](Self::preemption). Equal seeds give equal runs, as long as blocks do not run on
    /// several CPU threads.
    pub seed: u64,
    /// Whether threads are switched at accesses that others can see, and blocks interleave: by default
    /// under every seed but 0.
    pub preemption: Preemption,
    /// Whether atomic loads may return values that are not the newest, as by default, where threads are
    /// switched and memory is checked: what the memory model allows without fences.
    pub weak_memory: bool,
    /// Whether blocks start in the order of their index, as by default. CUDA promises no order: a kernel
    /// whose blocks wait for those of a lower index is a deadlock under some seeds without it, unless a
    /// ticket that each block takes names the order.
    pub blocks_in_order: bool,
    /// Threads in a warp: 32 (the default) or 64.
    pub warp_width: u32,
    /// Whether blocks run on several CPU threads at once.
    pub parallel_blocks: bool,
    /// Multiprocessors that the device has, 8 by default: products choose their tiles by it.
    pub multiprocessors: u32,
    /// Whether memory is checked, as by default: data races, reads of uninitialised memory,
    /// asynchronous copies in use. Bounds, alignment, barriers and masks always are.
    pub checks: bool,
    /// Bytes of simulated device memory, 16 GiB by default; pages that are never touched cost
    /// nothing.
    pub memory_bytes: u64,
    /// Bytes of stack that each simulated thread has for its local arrays and calls: 512 KiB by
    /// default, as a GPU allows of local memory, and 16 KiB to 64 MiB. Pages that are never touched
    /// cost nothing. A kernel that needs more is reported as
    /// [`DefectKind::StackOverflow`](simt::DefectKind::StackOverflow).
    pub stack_bytes: usize,
    /// How long a block may run without one of its threads exiting, in processor time: 10 s by
    /// default, none for no limit. A kernel that runs for longer is reported as
    /// [`DefectKind::TimeLimit`](simt::DefectKind::TimeLimit).
    pub time_limit: Option<Duration>,
    /// The device that the simulated one stands for, with its limits. Without one it has the
    /// limits of an H200, the largest that there are, but few multiprocessors.
    pub profile: Option<Profile>,
    /// Whether every launch is counted, for [`Device::launch_report`](crate::Device::launch_report).
    /// Not by default: it takes several times as long.
    pub counters: bool,
    /// With how many different findings a launch ends, 100 by default. It goes on after those that it
    /// survives, such as data races: the first one is the error's [`Defect`](simt::Defect), whose
    /// `further` has the others. 1: it ends with the first.
    pub finding_limit: usize,
    /// Findings that are known, and are not reported.
    pub suppressions: Vec<Suppression>,
}

impl Default for SimulatorOptions {
    fn default() -> Self {
        let simt::Options {
            seed,
            preemption,
            weak_memory,
            blocks_in_order,
            warp_width,
            parallel_blocks,
            checks,
            stack_bytes,
            time_limit,
            finding_limit,
            ..
        } = simt::Options::default();
        Self {
            seed,
            preemption,
            weak_memory,
            blocks_in_order,
            warp_width,
            parallel_blocks,
            multiprocessors: 8,
            checks,
            memory_bytes: 16 << 30,
            stack_bytes,
            time_limit,
            profile: None,
            counters: false,
            finding_limit,
            suppressions: Vec::new(),
        }
    }
}

impl SimulatorOptions {
    /// The same options with another seed.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The same options with threads switched at accesses under every seed, under none, or under every
    /// seed but 0. A kernel whose blocks wait for each other needs it, and a fast test of one whose
    /// blocks do not can do without.
    ///
    /// ```
    /// use tilewright::{Device, Preemption, SimulatorOptions};
    ///
    /// let options = SimulatorOptions::default().with_seed(7);
    /// let device = Device::simulator_with(options.with_preemption(Preemption::Never));
    /// # assert_eq!(device.reduce_sum(&device.upload(&[1_u32; 100]).unwrap()).unwrap(), 100);
    /// ```
    #[must_use]
    pub fn with_preemption(mut self, preemption: Preemption) -> Self {
        self.preemption = preemption;
        self
    }

    /// The same options with atomic loads that may return values other than the newest, or with none. A
    /// kernel that fails with them and not without lacks a fence, or has one of too narrow a scope. Where blocks run
    /// one by one, a load may also return what is stored later: then the kernel has run up to three times, and all
    /// of the runs but one have been undone.
    #[must_use]
    pub fn with_weak_memory(mut self, weak_memory: bool) -> Self {
        self.weak_memory = weak_memory;
        self
    }

    /// The same options with blocks started in the order of their index, or in an order of the seed's.
    #[must_use]
    pub fn with_blocks_in_order(mut self, blocks_in_order: bool) -> Self {
        self.blocks_in_order = blocks_in_order;
        self
    }

    /// The same options with another number of threads in a warp.
    #[must_use]
    pub fn with_warp_width(mut self, warp_width: u32) -> Self {
        self.warp_width = warp_width;
        self
    }

    /// The same options with blocks on several CPU threads at once, or on one after another.
    #[must_use]
    pub fn with_parallel_blocks(mut self, parallel_blocks: bool) -> Self {
        self.parallel_blocks = parallel_blocks;
        self
    }

    /// The same options with another number of multiprocessors.
    #[must_use]
    pub fn with_multiprocessors(mut self, multiprocessors: u32) -> Self {
        self.multiprocessors = multiprocessors;
        self
    }

    /// The same options with the checks of memory, or without them: several times faster.
    #[must_use]
    pub fn with_checks(mut self, checks: bool) -> Self {
        self.checks = checks;
        self
    }

    /// The same options with every launch counted, or only those within
    /// [`Device::with_report`](crate::Device::with_report).
    #[must_use]
    pub fn with_counters(mut self, counters: bool) -> Self {
        self.counters = counters;
        self
    }

    /// The same options with another number of different findings with which a launch ends; with 1 it
    /// ends with the first.
    #[must_use]
    pub fn with_finding_limit(mut self, finding_limit: usize) -> Self {
        self.finding_limit = finding_limit;
        self
    }

    /// The same options with one more suppression. A device that has launched the suppression's kernel,
    /// and has suppressed nothing by it, says so on standard error when it is dropped.
    ///
    /// ```
    /// use tilewright::cuda_std::prelude::*;
    /// use tilewright::simt::{DefectKind, Suppression};
    /// use tilewright::{Device, LaunchConfig, ModuleSource, SimulatorOptions};
    ///
    /// /// Stores the number of some thread.
    /// ///
    /// /// # Safety
    /// /// 1. `any` has an element.
    /// #[kernel]
    /// pub unsafe fn elect(any: GlobalMut<u32>) {
    ///     // SAFETY: (1) is (1). Of all threads one wins, whichever it is.
    ///     unsafe { any.store(0, thread::thread_idx_x()) };
    /// }
    /// // SAFETY: (1) there are no images.
    /// static KERNELS: ModuleSource = unsafe { ModuleSource::new("elect", &[]) };
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let known = Suppression::new("elect", "any thread may win").of_kind(DefectKind::DataRace);
    /// let options = SimulatorOptions::default().with_suppression(known.clone());
    /// let device = Device::simulator_with(options);
    /// let mut any = device.zeros::<u32>(1)?;
    /// // SAFETY: (1) there is one element.
    /// unsafe { device.load(&KERNELS)?.launch_unsafe(elect, LaunchConfig::new(1, 64), (&mut any,)) }?;
    /// assert!(known.matches() > 0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_suppression(mut self, suppression: Suppression) -> Self {
        self.suppressions.push(suppression);
        self
    }

    /// The same options with another size of device memory, in bytes.
    #[must_use]
    pub fn with_memory_bytes(mut self, memory_bytes: u64) -> Self {
        self.memory_bytes = memory_bytes;
        self
    }

    /// The same options with another stack for each simulated thread, in bytes: 16 KiB to 64 MiB.
    ///
    /// An overflow is a report, and the process goes on, as long as the kernel is code for a GPU.
    /// One that calls the C library, for example to allocate host memory, may overflow while that
    /// holds a lock; then the process ends with a message.
    ///
    /// ```
    /// use tilewright::{Device, SimulatorOptions};
    ///
    /// let device = Device::simulator_with(SimulatorOptions::default().with_stack_bytes(2 << 20));
    /// ```
    #[must_use]
    pub fn with_stack_bytes(mut self, stack_bytes: usize) -> Self {
        self.stack_bytes = stack_bytes;
        self
    }

    /// The same options with another limit of time for each block, or with none.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tilewright::SimulatorOptions;
    ///
    /// let patient = SimulatorOptions::default().with_time_limit(Duration::from_secs(600));
    /// let endless = SimulatorOptions::default().with_time_limit(None);
    /// # assert_eq!(patient.time_limit.map(|limit| limit.as_secs()), Some(600));
    /// # assert!(endless.time_limit.is_none());
    /// ```
    ///
    /// What counts is the processor time that a block has taken since one of its threads last
    /// started or exited, so that a slow or busy machine stops nothing that is healthy; a block
    /// whose threads only yield may wait for as long as another block is at work. On systems other
    /// than Linux elapsed time counts, and a loop without a checked access, a barrier or another
    /// instruction is not stopped there.
    ///
    /// A kernel that is stopped while it holds a lock of the host, such as a `Mutex`, leaves it
    /// locked: locks are not for kernels. One that waits for the host when its time is up, for
    /// such a lock or for input, cannot be stopped: two seconds later the process ends with a
    /// message that says so. Without a limit it waits.
    #[must_use]
    pub fn with_time_limit(mut self, time_limit: impl Into<Option<Duration>>) -> Self {
        self.time_limit = time_limit.into();
        self
    }

    /// The same options with the limits of a named device, and with its numbers of threads in a
    /// warp, of multiprocessors and of bytes of memory.
    ///
    /// ```
    /// use tilewright::{Device, Profile, SimulatorOptions};
    ///
    /// let options = SimulatorOptions::default().with_profile(Profile::A100);
    /// let device = Device::simulator_with(options);
    /// assert_eq!(device.name(), "simulator (A100)");
    /// assert_eq!(device.properties().multiprocessors, 108);
    /// ```
    #[must_use]
    pub fn with_profile(mut self, profile: Profile) -> Self {
        let sheet = profile.datasheet();
        self.warp_width = sheet.limits.warp_lanes;
        self.multiprocessors = sheet.multiprocessors;
        self.memory_bytes = sheet.memory_bytes;
        self.profile = Some(profile);
        self
    }
}
