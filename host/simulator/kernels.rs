//! Launches on a simulated device, and the static arrays that kernels see.

use super::Simulator;
use super::stream_check::{MemoryAccess, uses_of_launch};
use super::work::{Launch, Work};
use crate::backend::{Backend as _, DeviceKernels, LaunchRequest, ResidencyRequest, SymbolRequest};
use crate::error::{ErrorKind, Outcome};
use crate::kernel_output::Lines;
use crate::locks::lock_of_process;
use crate::module_source::{ModuleId, ModuleSource};
use crate::report::{KernelReport, most_registers};
use crate::residency::Residency;
use simt::{StaticMemory, ViewName};
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard};

impl Simulator {
    /// Locks the device, once all work submitted earlier is complete. In a forked child, a launch of the parent never
    /// completes.
    pub(super) fn statics(&self) -> Outcome<MutexGuard<'_, HashMap<ModuleId, Arc<StaticMemory>>>> {
        let statics = lock_of_process(&self.machine.statics, self.machine.process);
        statics.ok_or_else(|| ErrorKind::busy_at_fork(self.label()))
    }
}

/// The names of the views among the parameters of a launch, by address.
fn view_names(request: &LaunchRequest<'_>) -> Arc<[ViewName]> {
    let params = request.params.bytes().zip(request.views);
    let named = params.filter(|(_, name)| !name.is_empty());
    named
        .filter_map(|(bytes, name)| {
            let address = usize::from_ne_bytes(bytes.try_into().ok()?);
            Some(ViewName { address, name })
        })
        .collect()
}

impl DeviceKernels for Simulator {
    fn load(&self, _source: &'static ModuleSource) -> Outcome<()> {
        simt::refuse_host_call("load");
        Ok(())
    }

    fn warnings(&self, _source: &'static ModuleSource) -> Outcome<Vec<String>> {
        simt::refuse_host_call("compiler_warnings");
        Ok(Vec::new())
    }

    fn write_symbol(&self, symbol: &SymbolRequest, source: &[u8]) -> Outcome<()> {
        simt::refuse_host_call("write_symbol");
        // Asked before the lock is taken, because the answer may come from a launch of this device.
        let elsewhere = self.machine.bodies.as_ref();
        let elsewhere = elsewhere.and_then(|bodies| bodies.symbol(symbol));
        let mut statics = self.statics()?;
        if let Some(bytes) = elsewhere {
            for (byte, value) in bytes.zip(source) {
                // SAFETY: the byte is one of the array: the contract of `KernelBodies::with_symbols`.
                unsafe { simt::store_relaxed(byte, *value) };
            }
            return Ok(());
        }
        let memory = statics.entry(symbol.module.id()).or_default();
        memory.write(symbol.initial, source);
        Ok(())
    }

    fn read_symbol(&self, symbol: &SymbolRequest, destination: &mut [u8]) -> Outcome<()> {
        simt::refuse_host_call("read_symbol");
        // Asked before the lock is taken, because the answer may come from a launch of this device.
        let elsewhere = self.machine.bodies.as_ref();
        let elsewhere = elsewhere.and_then(|bodies| bodies.symbol(symbol));
        let mut statics = self.statics()?;
        if let Some(bytes) = elsewhere {
            for (byte, value) in bytes.zip(destination) {
                // SAFETY: the byte is one of the array: the contract of `KernelBodies::with_symbols`.
                *value = unsafe { simt::load_relaxed(byte) };
            }
            return Ok(());
        }
        let memory = statics.entry(symbol.module.id()).or_default();
        memory.read(symbol.initial, destination);
        Ok(())
    }

    fn residency(&self, request: &ResidencyRequest<'_>) -> Outcome<Residency> {
        Ok(Residency::simulated(
            &self.machine.profile.datasheet().limits,
            self.machine.properties.multiprocessors,
            most_registers(&request.bounds, request.config.block, self.machine.profile),
            request.config,
        ))
    }

    unsafe fn launch(&self, request: &LaunchRequest<'_>) -> Outcome<()> {
        // A kernel must not launch: it would wait for its own launch.
        simt::refuse_host_call("launch");
        let other = self.machine.bodies.as_ref();
        let other = other.and_then(|bodies| bodies.body(request));
        let launch = Launch {
            entry: request.entry,
            config: request.config,
            bounds: request.bounds,
            views: view_names(request),
            body: other.unwrap_or_else(|| (request.body)()),
        };
        let uses = || uses_of_launch(request);
        let launch = match self.record(launch, |launch| Work::Launch(launch, uses())) {
            Ok(()) => return Ok(()),
            Err(launch) => launch,
        };
        // SAFETY: the launch may run: the caller's contract.
        unsafe { self.run_launch(&launch, request.lines, uses) }
    }
}

impl Simulator {
    /// Runs a launch, which uses the memory `uses` and prints to `lines`.
    ///
    /// # Safety
    /// 1. The requirements of the backend's `launch`.
    pub(super) unsafe fn run_launch(
        &self,
        launched: &Launch,
        lines: &Lines,
        uses: impl FnOnce() -> Vec<MemoryAccess>,
    ) -> Outcome<()> {
        let (kernel, config, bounds) = (launched.entry.kernel, launched.config, &launched.bounds);
        let mut statics = self.statics()?;
        let memory = Arc::clone(statics.entry(launched.entry.module.id()).or_default());
        self.check_order(|| format!("a launch of `{kernel}`"), uses)?;
        let profile = self.machine.profile;
        let launch = simt::Launch {
            kernel,
            grid: config.grid,
            block: config.block,
            cluster: bounds.cluster.unwrap_or([1; 3]).into(),
            thread_registers: Some(most_registers(bounds, config.block, profile)),
            dynamic_shared_bytes: config.dynamic_shared_bytes as usize,
            options: &simt::Options {
                counters: self.machine.recorder.is_open(),
                statics: memory,
                output: lines.output(),
                views: Arc::clone(&launched.views),
                is_dependent: bounds.dependent_launch,
                ..self.machine.options.clone()
            },
        };
        let run = match bounds.cooperative {
            true => simt::run_cooperative,
            false => simt::run,
        };
        let report = run(&launch, &launched.body).map_err(ErrorKind::KernelDefect)?;
        if let Some(counts) = report.counts {
            let report = KernelReport::of_launch(kernel, config, *counts, profile);
            self.machine.recorder.add(report);
        }
        Ok(())
    }
}
