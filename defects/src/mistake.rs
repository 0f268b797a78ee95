//! Launches a kernel with a mistake, and simulates it until the mistake is found.

use simt::{Defect, DefectKind};
use tilewright::{Device, ErrorKind, LaunchConfig, Result, SimulatorOptions};

/// A mistake: a kernel that makes it, and its twin.
#[derive(Clone, Copy, Debug)]
pub struct Mistake {
    /// The name of the kernel.
    pub name: &'static str,
    /// The mistake, in a table's words.
    pub text: &'static str,
    /// The simulator's reports, which may depend on the schedule.
    pub kinds: &'static [DefectKind],
    /// Words that some schedule's report contains.
    pub words: &'static str,
    /// The source: a GitHub thread, a paper or a benchmark; empty if invented.
    pub source: &'static str,
    /// Blocks, of one cluster if there are clusters, and threads per block.
    pub(crate) shape: (u32, u32),
    pub(crate) shared_bytes: u32,
    pub(crate) launch: Launch,
}

/// Launches the kernel, or its twin, and waits.
pub(crate) type Launch = fn(&Device, bool, LaunchConfig) -> Result<()>;

impl Mistake {
    /// Launches the kernel, or its twin, and waits for it. On a GPU the kernel may hang, and make the device unusable
    /// for the process.
    ///
    /// # Errors
    /// [`ErrorKind::KernelDefect`] on the simulator; on a GPU what the driver reports.
    pub fn launch(&self, device: &Device, is_twin: bool) -> Result<()> {
        let (blocks, threads) = self.shape;
        let config = LaunchConfig::new(blocks, threads).with_dynamic_shared(self.shared_bytes);
        (self.launch)(device, is_twin, config)
    }

    /// The simulator's finding in the kernel, or in its twin, under this schedule.
    ///
    /// # Errors
    /// Errors that the kernel does not cause.
    pub fn simulate(&self, seed: u64, is_twin: bool) -> Result<Option<Box<Defect>>> {
        self.simulate_blocks(seed, false, is_twin)
    }

    /// [`simulate`](Self::simulate) with blocks one by one or in parallel.
    ///
    /// # Errors
    /// Errors that the kernel does not cause.
    pub fn simulate_blocks(
        &self,
        seed: u64,
        in_parallel: bool,
        is_twin: bool,
    ) -> Result<Option<Box<Defect>>> {
        let options = SimulatorOptions::default().with_parallel_blocks(in_parallel);
        self.simulate_with(options, seed, is_twin)
    }

    /// [`simulate`](Self::simulate) on a device with these options.
    ///
    /// # Errors
    /// Errors that the kernel does not cause.
    pub fn simulate_with(
        &self,
        options: SimulatorOptions,
        seed: u64,
        is_twin: bool,
    ) -> Result<Option<Box<Defect>>> {
        let options = options.with_seed(seed).with_finding_limit(1);
        match self.launch(&Device::simulator_with(options), is_twin) {
            Ok(()) => Ok(None),
            Err(error) => match error.kind() {
                ErrorKind::KernelDefect(defect) => Ok(Some(defect.clone())),
                _ => Err(error),
            },
        }
    }

    /// The first report with the [`words`](Self::words) among [`SCHEDULES`]
    /// schedules.
    ///
    /// # Errors
    /// As for [`simulate`](Self::simulate).
    pub fn report(&self) -> Result<Option<Box<Defect>>> {
        for seed in 0..SCHEDULES {
            let found = self.simulate(seed, false)?;
            let found = found.filter(|defect| defect.to_string().contains(self.words));
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }
}

/// Number of schedules, one of which must find the mistake. Independent of `TILEWRIGHT_SEEDS`, because the page shows
/// the first report among them.
pub const SCHEDULES: u64 = 32;
