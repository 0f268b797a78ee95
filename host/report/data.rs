//! Costs of launches, as the simulator counts them.

use crate::launch::LaunchConfig;
use cuda_std::kernel::LaunchBounds;
use simt::occupancy::{BlockResources, Occupancy};
use simt::{Counts, Dim3, Profile};

/// Launches on the simulator, with the cost of each line of their kernels.
///
/// The crate `tilewright-report` turns it into a table for the terminal, JSON, or an HTML page with the kernels'
/// source and the costs beside it.
///
/// # Serialization
///
/// With the feature `serde` it implements `Serialize`: the name of the `profile`, and in `kernels` an object for each
/// kernel and launch shape, as in [`by_kernel`](Self::by_kernel).
///
/// | field of a kernel | value |
/// |---|---|
/// | `kernel`, `launches` | the kernel's name, the number of launches |
/// | `grid`, `block` | the extents, `[x, y, z]` |
/// | `shared_bytes`, `registers` | static and dynamic bytes of a block, registers of a thread |
/// | `registers_from` | the source of the registers: see [`set_registers_from`](Self::set_registers_from) |
/// | `occupancy`, `blocks_per_multiprocessor`, `occupancy_limiter` | a share from 0 to 1, a number, the resource that limits the blocks; null without registers |
/// | `sectors_read`, `sectors_written` | distinct 32-byte sectors of global memory |
/// | `roofline` | the fields of [`Roofline`](crate::Roofline) |
/// | `estimated_seconds` | the time of one launch, as [`KernelReport::estimated_seconds`] estimates it, or null |
/// | `instruction_mix` | the counted instructions of warps, the most frequent first: `operation`, `instructions`, `share` from 0 to 1 |
/// | `advice` | [`Advice`](crate::Advice): its variant's name in snake case as `kind`, and the variant's fields |
/// | `total` | all requests |
/// | `lines` | the requests by place in the source: `file`, `line`, `column`, `operation`, `tally` |
/// | `source_lines` | the same by line: `file`, `line`, `instructions` of warps, and of [`LineEstimate`](crate::LineEstimate) `estimated_share`, `estimated_seconds` and `bound`, or null |
///
/// `total` and `tally` have the fields of [`Tally`](crate::Tally), and `branch_efficiency` and
/// `arithmetic_intensity`. `global` also has `sector_efficiency` and `line_efficiency`, `shared` also has
/// `bank_conflicts`. Efficiencies are from 0 to 1, times in seconds. A field without a value, such as the efficiency
/// of no requests, is null.
///
/// ```
/// use tilewright::Device;
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let x = device.upload(&[1.0_f32; 4096])?;
/// let (_, report) = device.with_report(|| device.reduce_sum(&x))?;
/// for kernel in report.by_kernel() {
///     println!("{}: {:?}", kernel.kernel, kernel.advice());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LaunchReport {
    /// The device that the simulated one stands for. Times and occupancy are for this device.
    pub profile: Profile,
    /// The launches, in order.
    pub launches: Vec<KernelReport>,
}

/// One launch of a kernel, or the sum of several equal ones.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KernelReport {
    /// The kernel's name.
    pub kernel: String,
    /// The number of launches.
    pub launches: u64,
    /// The size of the grid, in blocks.
    pub grid: Dim3,
    /// The size of a block, in threads.
    pub block: Dim3,
    /// Dynamic shared memory of each block, in bytes.
    pub dynamic_shared_bytes: u32,
    /// Registers of each thread. Only the compiler of the device's code knows them: `None` before
    /// [`LaunchReport::set_registers`].
    pub registers: Option<u32>,
    /// The source of the registers: see [`LaunchReport::set_registers_from`].
    pub registers_from: Option<String>,
    /// The costs of all launches, added.
    pub counts: Counts,
    /// The device that the simulated one stands for.
    pub profile: Profile,
}

impl LaunchReport {
    /// Adds up the launches: one entry for each kernel and launch shape, in order of first launch.
    #[must_use]
    pub fn by_kernel(&self) -> Vec<KernelReport> {
        let mut kernels: Vec<KernelReport> = Vec::new();
        for launch in &self.launches {
            match kernels.iter_mut().find(|kernel| kernel.is_alike(launch)) {
                Some(kernel) => kernel.add(launch),
                None => kernels.push(launch.clone()),
            }
        }
        kernels
    }

    /// Sets the registers of each kernel for which `registers_of` returns a number.
    ///
    /// `registers_of` takes the kernel's name. `ptxas --verbose` prints the registers, which the occupancy depends
    /// on.
    pub fn set_registers(&mut self, registers_of: impl Fn(&str) -> Option<u32>) {
        self.set_registers_with(None, registers_of);
    }

    /// [`set_registers`](Self::set_registers) with the source of the registers, such as `ptxas 13.0.88`.
    ///
    /// Reports show the source, because another version may find other registers.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[1.0_f32; 4096])?;
    /// let (_, mut report) = device.with_report(|| device.reduce_sum(&x))?;
    /// report.set_registers_from("ptxas 13.0.88", |_| Some(32));
    /// assert_eq!(report.launches[0].registers_from.as_deref(), Some("ptxas 13.0.88"));
    /// assert!(report.launches[0].occupancy().is_some());
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_registers_from(&mut self, origin: &str, registers_of: impl Fn(&str) -> Option<u32>) {
        self.set_registers_with(Some(origin), registers_of);
    }

    fn set_registers_with(
        &mut self,
        origin: Option<&str>,
        registers_of: impl Fn(&str) -> Option<u32>,
    ) {
        for launch in &mut self.launches {
            if let Some(registers) = registers_of(&launch.kernel) {
                launch.registers = Some(registers);
                launch.registers_from = origin.map(str::to_owned);
            }
        }
    }
}

impl KernelReport {
    /// The report of one launch.
    pub(crate) fn of_launch(
        kernel: &str,
        config: LaunchConfig,
        counts: Counts,
        profile: Profile,
    ) -> Self {
        Self {
            kernel: kernel.to_owned(),
            launches: 1,
            grid: config.grid,
            block: config.block,
            dynamic_shared_bytes: config.dynamic_shared_bytes,
            registers: None,
            registers_from: None,
            counts,
            profile,
        }
    }

    /// Whether `other` is of the same kernel with the same launch shape.
    fn is_alike(&self, other: &Self) -> bool {
        let shape = |report: &Self| (report.grid, report.block, report.dynamic_shared_bytes);
        self.kernel == other.kernel && shape(self) == shape(other)
    }

    fn add(&mut self, other: &Self) {
        self.launches += other.launches;
        self.counts.add(&other.counts);
    }

    /// The number of threads in a block.
    pub(super) fn block_threads(&self) -> u32 {
        u32::try_from(self.block.count()).unwrap_or(u32::MAX)
    }

    /// Static and dynamic shared memory of a block, in bytes.
    #[must_use]
    pub fn shared_bytes(&self) -> u32 {
        let fixed = u32::try_from(self.counts.static_shared_bytes).unwrap_or(u32::MAX);
        fixed.saturating_add(self.dynamic_shared_bytes)
    }

    /// The occupancy of a multiprocessor of the profile's device; `None` if the registers are unknown.
    #[must_use]
    pub fn occupancy(&self) -> Option<Occupancy> {
        self.registers.map(|it| self.occupancy_with(it))
    }

    /// The highest occupancy that threads, shared memory and, if known, registers allow.
    pub(super) fn highest_occupancy(&self) -> Occupancy {
        self.occupancy_with(self.registers.unwrap_or(1))
    }

    fn occupancy_with(&self, registers_per_thread: u32) -> Occupancy {
        self.profile.datasheet().limits.occupancy(&BlockResources {
            threads: self.block_threads(),
            registers_per_thread,
            shared_bytes: self.shared_bytes(),
        })
    }
}

/// The largest number of registers of a thread with which the blocks that the bounds require fit into a
/// multiprocessor; ptxas uses at most that many.
pub(crate) fn most_registers(bounds: &LaunchBounds, block: Dim3, profile: Profile) -> u32 {
    let limits = profile.datasheet().limits;
    let threads = bounds.max_threads.map_or(block.count(), u64::from);
    let warps = threads.div_ceil(u64::from(limits.warp_lanes)).max(1);
    let warps = warps * u64::from(bounds.min_blocks.unwrap_or(1));
    let of_warp = u64::from(limits.registers) / warps;
    let unit = u64::from(limits.register_unit);
    let of_thread = of_warp / unit * unit / u64::from(limits.warp_lanes);
    let most = u64::from(bounds.max_registers.unwrap_or(limits.registers_per_thread));
    // At most `registers_per_thread`, which is a u32.
    of_thread
        .min(most)
        .min(u64::from(limits.registers_per_thread)) as u32
}
