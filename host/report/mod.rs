//! What launches on the simulator cost: counters line by line, and the bottleneck they point at.

mod html;
mod json;
mod recorder;
mod roofline;
mod source;
mod table;

pub(crate) use recorder::LaunchRecorder;
pub use roofline::{Bottleneck, Roofline};

use crate::backend::LaunchRequest;
use crate::device::Device;
use crate::error::{Error, Result};
use cuda_std::kernel::LaunchBounds;
use simt::occupancy::{BlockResources, Occupancy};
use simt::{Counts, Dim3, Profile};

/// The launches of some work on the simulator, with what each line of their kernels costs.
///
/// `Display` is a table for the terminal, [`to_json`](Self::to_json) is for programs, and
/// [`to_html`](Self::to_html) a page with the kernels' source and the costs beside it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LaunchReport {
    /// The device that the simulated one stands for: times and occupancy are reckoned for it.
    pub profile: Profile,
    /// The launches, in their order.
    pub launches: Vec<KernelReport>,
}

/// One launch of a kernel, or the sum of equal ones.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct KernelReport {
    /// The kernel's name.
    pub kernel: String,
    /// How many launches these are.
    pub launches: u64,
    /// The extent of the grid, in blocks.
    pub grid: Dim3,
    /// The extent of a block, in threads.
    pub block: Dim3,
    /// Dynamic shared memory of each block, in bytes.
    pub dynamic_shared_bytes: u32,
    /// Registers of each thread: at first, the most that the kernel's launch bounds leave it; see
    /// [`LaunchReport::set_registers`].
    pub registers: u32,
    /// What the launches cost together.
    pub counts: Counts,
    /// The device that the simulated one stands for.
    pub profile: Profile,
}

impl Device {
    /// Runs `body` and reports what the launches on this device cost meanwhile.
    ///
    /// Only the simulator counts. Launches that other threads make on the device meanwhile are in
    /// the report, too. A launch that is counted takes several times as long.
    ///
    /// ```
    /// use tilewright::{Device, Operation};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[1.0_f32; 4096])?;
    /// let (sum, report) = device.with_report(|| device.reduce_sum(&x))?;
    /// assert_eq!(sum, 4096.0);
    /// let loads = report.launches[0].counts.of(Operation::GlobalLoad);
    /// assert_eq!(loads.global.sector_efficiency(), Some(1.0));
    /// println!("{report}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NoCounters`] on a device that is not simulated, and those of `body`.
    pub fn with_report<R>(&self, body: impl FnOnce() -> Result<R>) -> Result<(R, LaunchReport)> {
        let recording = self.recorder("with_report")?.begin();
        let result = body()?;
        Ok((result, recording.finish()))
    }

    /// What the launches on this device have cost since the last call, or since it was opened, if
    /// it counts every launch: [`SimulatorOptions::with_counters`](crate::SimulatorOptions).
    ///
    /// Of each launch some kilobytes are kept until then.
    ///
    /// ```
    /// use tilewright::{Device, SimulatorOptions};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator_with(SimulatorOptions::default().with_counters(true));
    /// device.reduce_sum(&device.upload(&[1.0_f32; 4096])?)?;
    /// let report = device.launch_report()?;
    /// assert_eq!(report.launches[0].kernel, "reduce_sum_f32");
    /// println!("{report}");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::NoCounters`] on a device that is not simulated, [`Error::CountersOff`] on a
    /// simulator that does not count every launch.
    pub fn launch_report(&self) -> Result<LaunchReport> {
        self.recorder("launch_report")?.take_all()
    }

    fn recorder(&self, operation: &'static str) -> Result<&LaunchRecorder> {
        self.backend().recorder().ok_or_else(|| Error::NoCounters {
            operation,
            device: self.name().to_owned(),
        })
    }
}

impl LaunchReport {
    /// The launches summed up: one entry for each kernel and shape of launch, in the order of the
    /// first ones.
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

    /// Sets the registers of each kernel for which `registers_of` its name knows them, as `ptxas
    /// --verbose` prints them. They decide the occupancy.
    pub fn set_registers(&mut self, registers_of: impl Fn(&str) -> Option<u32>) {
        for launch in &mut self.launches {
            if let Some(registers) = registers_of(&launch.kernel) {
                launch.registers = registers;
            }
        }
    }
}

impl KernelReport {
    fn of_launch(request: &LaunchRequest<'_>, counts: Counts, profile: Profile) -> Self {
        Self {
            kernel: request.entry.kernel.to_owned(),
            launches: 1,
            grid: request.config.grid,
            block: request.config.block,
            dynamic_shared_bytes: request.config.dynamic_shared_bytes,
            registers: most_registers(&request.bounds, request.config.block, profile),
            counts,
            profile,
        }
    }

    /// Whether `other` is of the same kernel, launched in the same way.
    fn is_alike(&self, other: &Self) -> bool {
        let shape = |report: &Self| (report.grid, report.block, report.dynamic_shared_bytes);
        self.kernel == other.kernel && shape(self) == shape(other)
    }

    fn add(&mut self, other: &Self) {
        self.launches += other.launches;
        self.counts.add(&other.counts);
    }

    /// Threads of a block.
    fn block_threads(&self) -> u32 {
        u32::try_from(self.block.count()).unwrap_or(u32::MAX)
    }

    /// Static and dynamic shared memory of a block, in bytes.
    #[must_use]
    pub fn shared_bytes(&self) -> u32 {
        let fixed = u32::try_from(self.counts.static_shared_bytes).unwrap_or(u32::MAX);
        fixed.saturating_add(self.dynamic_shared_bytes)
    }

    /// How much of a multiprocessor of the profile's device the launch fills.
    #[must_use]
    pub fn occupancy(&self) -> Occupancy {
        self.profile.datasheet().limits.occupancy(&BlockResources {
            threads: self.block_threads(),
            registers_per_thread: self.registers,
            shared_bytes: self.shared_bytes(),
        })
    }

    /// What bounds the launch on the profile's device, as far as the counters tell.
    #[must_use]
    pub fn roofline(&self) -> Roofline {
        Roofline::of(self)
    }
}

/// The most registers with which the blocks that the bounds ask for still fit; ptxas takes as many
/// or fewer.
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
