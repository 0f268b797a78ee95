//! A kernel with a mistake, launched, and simulated until the mistake is found.

use simt::{Defect, DefectKind};
use tilewright::{Device, ErrorKind, LaunchConfig, Result, SimulatorOptions};

/// A mistake: a kernel that makes it, and its twin.
#[derive(Clone, Copy, Debug)]
pub struct Mistake {
    /// The name of the kernel.
    pub name: &'static str,
    /// What is wrong, as a table has it.
    pub text: &'static str,
    /// What the simulator reports, which may depend on the schedule.
    pub kinds: &'static [DefectKind],
    /// Words of the report under some schedule.
    pub words: &'static str,
    /// Where it comes from: a thread of GitHub, a paper, a benchmark; empty where it was made up.
    pub source: &'static str,
    /// Blocks, of one cluster where there are clusters, and threads of each.
    pub(crate) shape: (u32, u32),
    pub(crate) shared_bytes: u32,
    pub(crate) launch: Launch,
}

/// Launches the kernel, or its twin, and waits.
pub(crate) type Launch = fn(&Device, bool, LaunchConfig) -> Result<()>;

impl Mistake {
    /// Launches the kernel, or its twin, and waits for it. On a GPU the kernel may hang, and leave the
    /// device unusable for the process.
    ///
    /// # Errors
    /// [`ErrorKind::KernelDefect`] on the simulator; on a GPU what the driver reports.
    pub fn launch(&self, device: &Device, is_twin: bool) -> Result<()> {
        let (blocks, threads) = self.shape;
        let config = LaunchConfig::new(blocks, threads).with_dynamic_shared(self.shared_bytes);
        (self.launch)(device, is_twin, config)
    }

    /// What the simulator finds in the kernel, or in its twin, under this schedule.
    ///
    /// # Errors
    /// What does not come from the kernel.
    pub fn simulate(&self, seed: u64, is_twin: bool) -> Result<Option<Box<Defect>>> {
        self.simulate_blocks(seed, false, is_twin)
    }

    /// The same with blocks one by one or in parallel.
    ///
    /// # Errors
    /// What does not come from the kernel.
    pub fn simulate_blocks(
        &self,
        seed: u64,
        in_parallel: bool,
        is_twin: bool,
    ) -> Result<Option<Box<Defect>>> {
        let options = SimulatorOptions::default()
            .with_seed(seed)
            .with_finding_limit(1)
            .with_parallel_blocks(in_parallel);
        match self.launch(&Device::simulator_with(options), is_twin) {
            Ok(()) => Ok(None),
            Err(error) => match error.kind() {
                ErrorKind::KernelDefect(defect) => Ok(Some(defect.clone())),
                _ => Err(error),
            },
        }
    }

    /// The first report with the [`words`](Self::words), among some schedules.
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

/// Schedules under one of which a mistake must be found. They are fixed, whatever `TILEWRIGHT_SEEDS` says: the
/// page has the first report among them.
pub const SCHEDULES: u64 = 32;
