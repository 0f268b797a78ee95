//! Options of the simulator.

use super::bodies::KernelBodies;
use crate::setters::setters;
use simt::{Preemption, Profile, Suppression};
use std::time::Duration;

/// Options of a simulated device: its schedule, its checks and its limits.
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
    /// The seed of the schedule: the order of warps, and the switches of [`preemption`](Self::preemption).
    /// Equal seeds give equal runs, unless blocks run on several CPU threads.
    pub seed: u64,
    /// Whether threads are switched at accesses that others can see, and blocks interleave. The default is yes
    /// under every seed but 0.
    pub preemption: Preemption,
    /// Whether atomic loads may return values other than the newest, as the memory model allows without fences. This
    /// is on by default, and applies when threads are switched and memory is checked.
    pub weak_memory: bool,
    /// Whether blocks start in the order of their index (the default). CUDA promises no order. Turn it off to find a
    /// kernel whose blocks wait for blocks of a lower index: it then deadlocks under some seeds, unless each block
    /// takes a ticket that defines the order.
    pub blocks_in_order: bool,
    /// The number of threads in a warp: 32 (the default) or 64.
    pub warp_width: u32,
    /// Whether blocks run on several CPU threads at once.
    pub parallel_blocks: bool,
    /// The number of multiprocessors, 8 by default. Products choose their tile size from it.
    pub multiprocessors: u32,
    /// Whether memory is checked (the default): data races, reads of uninitialised memory, asynchronous copies in
    /// use. Bounds, alignment, barriers and masks are always checked.
    pub checks: bool,
    /// Size of simulated device memory in bytes, 16 GiB by default. Pages that are never touched cost nothing.
    pub memory_bytes: u64,
    /// Size in bytes of each simulated thread's stack, for its local arrays and calls: 16 KiB to 64 MiB. The default
    /// is 512 KiB, which is also a GPU's limit of local memory. Pages that are never touched cost nothing. A kernel
    /// that needs more is reported as [`DefectKind::StackOverflow`](simt::DefectKind::StackOverflow).
    pub stack_bytes: usize,
    /// The longest processor time that a block may run without any of its threads exiting: 10 s by default, `None`
    /// for no limit. A kernel that runs longer is reported as [`DefectKind::TimeLimit`](simt::DefectKind::TimeLimit).
    pub time_limit: Option<Duration>,
    /// The device to simulate. Without a profile, the limits are those of an H200, the largest of all devices, but
    /// with [`multiprocessors`](Self::multiprocessors) multiprocessors.
    pub profile: Option<Profile>,
    /// Whether every launch is counted, for [`Device::launch_report`](crate::Device::launch_report). Off by default,
    /// because it makes launches several times slower.
    pub counters: bool,
    /// The number of distinct findings that end a launch, 100 by default. A launch continues after findings that it
    /// survives, such as data races. The first finding is the error's [`Defect`](simt::Defect); its `further` has the
    /// others. With 1, a launch ends with the first.
    pub finding_limit: usize,
    /// Known findings, which are not reported.
    pub suppressions: Vec<Suppression>,
    /// Code that launches run in place of kernels' functions; none by default.
    pub bodies: Option<KernelBodies>,
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
            bodies: None,
        }
    }
}

impl SimulatorOptions {
    setters! {
        /// Sets the seed.
        with_seed(seed: u64) => seed = seed;

        /// Switches threads at accesses under every seed, under none, or under every seed but 0.
        ///
        /// A kernel whose blocks wait for each other needs the switches. A test of a kernel without such waits is
        /// faster without them.
        ///
        /// ```
        /// use tilewright::{Device, Preemption, SimulatorOptions};
        ///
        /// let options = SimulatorOptions::default().with_seed(7);
        /// let device = Device::simulator_with(options.with_preemption(Preemption::Never));
        /// # assert_eq!(device.reduce_sum(&device.upload(&[1_u32; 100]).unwrap()).unwrap(), 100);
        /// ```
        with_preemption(preemption: Preemption) => preemption = preemption;

        /// Lets atomic loads return values other than the newest, or only the newest.
        ///
        /// A kernel that fails only with this option lacks a fence, or has one of too narrow a scope. If blocks run one
        /// by one, a load may also return a value that is stored later. The kernel then runs up to three times, and all
        /// runs but one are undone.
        with_weak_memory(weak_memory: bool) => weak_memory = weak_memory;

        /// Starts blocks in the order of their index, or in an order that the seed determines.
        with_blocks_in_order(blocks_in_order: bool) => blocks_in_order = blocks_in_order;

        /// Sets the number of threads in a warp.
        with_warp_width(warp_width: u32) => warp_width = warp_width;

        /// Runs blocks on several CPU threads at once, or one after another.
        with_parallel_blocks(parallel_blocks: bool) => parallel_blocks = parallel_blocks;

        /// Sets the number of multiprocessors.
        with_multiprocessors(multiprocessors: u32) => multiprocessors = multiprocessors;

        /// Turns the memory checks on or off. Without them the simulator is several times faster.
        with_checks(checks: bool) => checks = checks;

        /// Counts every launch, or only those within [`Device::with_report`](crate::Device::with_report).
        with_counters(counters: bool) => counters = counters;

        /// Sets how many distinct findings end a launch; with 1 it ends with the first.
        with_finding_limit(finding_limit: usize) => finding_limit = finding_limit;
    }

    /// Adds a suppression.
    ///
    /// When dropped, the device reports each suppression that has suppressed nothing, if it has launched the
    /// suppression's kernel. The report goes to standard error.
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
    ///     // SAFETY: the element is there: the caller's contract. Whichever thread wins the race is right.
    ///     unsafe { any.store(0, thread::thread_idx_x()) };
    /// }
    /// // SAFETY: there are no images that could differ from the kernel.
    /// static KERNELS: ModuleSource = unsafe { ModuleSource::new("elect", &[]) };
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let known = Suppression::new("elect", "any thread may win").of_kind(DefectKind::DataRace);
    /// let options = SimulatorOptions::default().with_suppression(known.clone());
    /// let device = Device::simulator_with(options);
    /// let mut any = device.zeros::<u32>(1)?;
    /// // SAFETY: the element is there.
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

    setters! {
        /// Runs other code in place of kernels' functions, such as their PTX.
        with_bodies(bodies: KernelBodies) => bodies = Some(bodies);

        /// Sets the size of device memory, in bytes.
        with_memory_bytes(memory_bytes: u64) => memory_bytes = memory_bytes;

        /// Sets the size of each simulated thread's stack, in bytes: 16 KiB to 64 MiB.
        ///
        /// A stack overflow is reported and the process continues, as long as the kernel is code for a GPU. A kernel
        /// that calls the C library, for example to allocate host memory, may overflow while the library holds a lock;
        /// then the process ends with a message.
        ///
        /// ```
        /// use tilewright::{Device, SimulatorOptions};
        ///
        /// let device = Device::simulator_with(SimulatorOptions::default().with_stack_bytes(2 << 20));
        /// ```
        with_stack_bytes(stack_bytes: usize) => stack_bytes = stack_bytes;

        /// Sets the time limit of each block; `None` for no limit.
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
        /// The limit is on the processor time of a block since one of its threads last started or exited. So a slow or
        /// busy machine stops no healthy kernel. A block whose threads only yield may wait as long as another block is
        /// working. On systems other than Linux, the limit is on elapsed time, and a loop without a checked access, a
        /// barrier or another instruction is not stopped.
        ///
        /// If a kernel is stopped while it holds a lock of the host, such as a `Mutex`, the lock stays locked: kernels
        /// must not use locks. If a kernel waits for the host when its time is up, for such a lock or for input, it
        /// cannot be stopped. Two seconds later the process ends with a message that says so. Without a limit, the
        /// kernel waits.
        with_time_limit(time_limit: impl Into<Option<Duration>>) => time_limit = time_limit.into();
    }

    /// Simulates a named device: its limits, warp width, multiprocessors and memory size.
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
