//! Output and panics of a module's kernels, in memory that host and device share.

use super::compile::Compiled;
use super::context::{Current, Stream};
use super::driver::{Failure, call};
use super::memory::{allocate_pinned, free_pinned};
use super::statics::find_global;
use super::streams::Streams;
use crate::kernel_output::print_line;
use crate::locks::lock;
use crate::module_source::ModuleId;
use crate::stream_set::StreamNumber;
use crate::uses::Uses;
use cuda_std::output::{PanicReport, Records, Ring, SYMBOL};
use std::collections::BTreeMap;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// The output of the kernels of all modules of a device.
#[derive(Debug, Default)]
pub struct Outputs {
    /// Whether any module's kernels print. If none do, nothing is locked.
    are_there: AtomicBool,
    modules: Mutex<BTreeMap<ModuleId, ModuleOutput>>,
}

impl Outputs {
    /// Allocates memory for the records of a compiled module, if its kernels print or record their panics.
    pub fn attach(
        &self,
        id: ModuleId,
        compiled: &Compiled,
        current: &Current<'_>,
    ) -> Result<(), Failure> {
        if compiled.image.contains(SYMBOL) {
            let output = ModuleOutput::attach(compiled, current)?;
            lock(&self.modules).insert(id, output);
            self.are_there.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Tells the device which kernel `stream` launches next, if the kernels of its module print. While the result
    /// lives, no other thread does this.
    pub fn announce(
        &self,
        module: ModuleId,
        kernel: &'static str,
        stream: &AnnouncedStream<'_>,
        current: &Current<'_>,
    ) -> Result<Option<MutexGuard<'_, BTreeMap<ModuleId, ModuleOutput>>>, Failure> {
        if !self.are_there.load(Ordering::Acquire) {
            return Ok(None);
        }
        let mut modules = lock(&self.modules);
        let Some(output) = modules.get_mut(&module) else {
            return Ok(None);
        };
        output.announce(kernel, stream, current)?;
        Ok(Some(modules))
    }

    /// Whether kernels of the module print.
    pub fn has(&self, module: ModuleId) -> bool {
        self.are_there.load(Ordering::Acquire) && lock(&self.modules).contains_key(&module)
    }

    /// Prints the complete lines; with `no_more`, no kernel writes any more.
    pub fn print(&self, no_more: bool) {
        if self.are_there.load(Ordering::Acquire) {
            let mut modules = lock(&self.modules);
            let lines: Vec<String> = modules
                .values_mut()
                .flat_map(|it| it.lines(no_more))
                .collect();
            drop(modules);
            // Unlocked: another thread may have locked standard output and wait for the modules.
            lines.iter().for_each(|line| print_line(line));
        }
    }

    /// The first panic of any module, in words.
    pub fn panic(&self) -> Option<String> {
        lock(&self.modules).values().find_map(ModuleOutput::panic)
    }

    /// Frees the memory.
    ///
    /// # Safety
    /// 1. No kernel runs or is launched any more.
    pub unsafe fn free(&self, current: &Current<'_>) {
        for (_, output) in std::mem::take(&mut *lock(&self.modules)) {
            // SAFETY: nothing uses the memory any more: no kernel runs or is launched, by the caller's contract, and
            // the records go with `output`.
            let _ = unsafe { free_pinned(output.memory, current) };
        }
    }
}

/// The stream of a launch, among those of its device.
#[derive(Clone, Copy, Debug)]
pub struct AnnouncedStream<'a> {
    pub number: StreamNumber,
    pub stream: &'a Stream,
    pub streams: &'a Streams,
}

/// The records of one module, whose kernels print or record their panics.
#[derive(Debug)]
pub struct ModuleOutput {
    memory: NonNull<u8>,
    records: Records,
    /// The address of the module's static.
    ring: u64,
    /// The launched kernels, by the numbers that the device has for them.
    kernels: Vec<&'static str>,
    /// The number of the last launched kernel.
    running: Option<usize>,
    /// The streams whose kernels read that number.
    uses: Uses,
    /// The number of lost lines that were reported.
    lost: u32,
}

// SAFETY: the memory is the driver's, and any thread may free it.
unsafe impl Send for ModuleOutput {}

impl ModuleOutput {
    fn attach(compiled: &Compiled, current: &Current<'_>) -> Result<Self, Failure> {
        let (ring, bytes) = find_global(compiled.module, SYMBOL, current)?;
        // The entry's signature is compared later, with a better message.
        if bytes < size_of::<Ring>() {
            return Err(Failure::NOT_FOUND);
        }
        let memory = allocate_pinned(Records::BYTES, current)?;
        if let Err(failure) = write_ring(ring, memory) {
            // SAFETY: a live allocation that nothing uses any more: it is new, and no kernel knows it.
            let _ = unsafe { free_pinned(memory, current) };
            return Err(failure);
        }
        Ok(Self {
            memory,
            // SAFETY: the allocation is aligned to a page, is zeroed, and lives as long as the module's kernels. Only
            // they have its address.
            records: unsafe { Records::new(memory) },
            ring,
            kernels: Vec::new(),
            running: None,
            uses: Uses::none(),
            lost: 0,
        })
    }

    /// Tells the device, in the order of its work, which kernel comes next.
    fn announce(
        &mut self,
        kernel: &'static str,
        AnnouncedStream {
            number: own,
            stream,
            streams,
        }: &AnnouncedStream<'_>,
        current: &Current<'_>,
    ) -> Result<(), Failure> {
        let wait = |others| streams.wait_for(others, stream, current);
        let known = self.kernels.iter().position(|known| *known == kernel);
        let number = known.unwrap_or(self.kernels.len());
        if known.is_none() {
            self.kernels.push(kernel);
        }
        if self.running == Some(number) {
            return self.uses.order_reads_by(*own, wait);
        }
        self.uses.order_writes_by(*own, true, wait)?;
        let place = self.ring + Ring::KERNEL_OFFSET as u64;
        // Passed by value, because the call may return before a copy has read its source. SAFETY: the module's static
        // has the 4 bytes, aligned, and only kernels of earlier launches read them, for which the stream waits.
        unsafe { call!(cuMemsetD32Async(place, number as u32, 1, stream.raw())) }?;
        self.running = Some(number);
        Ok(())
    }

    /// The complete lines. With `no_more`, no kernel writes any more.
    fn lines(&mut self, no_more: bool) -> Vec<String> {
        let mut lines = Vec::new();
        if self.records.drain(no_more, |line| lines.push(line)) == 0 || no_more {
            return lines;
        }
        if let Ok(lost) = read_lost(self.ring) {
            let more = lost.wrapping_sub(self.lost);
            if more > 0 {
                lines.push(format!(
                    "({more} more lines of kernels are lost: wait more often)"
                ));
            }
            self.lost = lost;
        }
        lines
    }

    /// The first panic of the module, in words.
    fn panic(&self) -> Option<String> {
        let PanicReport {
            kernel,
            place,
            message,
            block: [bx, by, bz],
            thread: [x, y, z],
        } = self.records.panic()?;
        let kernel = self.kernels.get(kernel as usize).unwrap_or(&"?");
        Some(format!(
            "kernel `{kernel}` panicked: {message}\n  at {place}\n  in thread ({x}, {y}, {z}) of block \
             ({bx}, {by}, {bz})"
        ))
    }
}

fn write_ring(ring: u64, memory: NonNull<u8>) -> Result<(), Failure> {
    let mut address = 0;
    let first = memory.as_ptr().cast();
    // SAFETY: `address` is valid for one address, and the allocation is live.
    unsafe { call!(cuMemHostGetDevicePointer_v2(&raw mut address, first, 0)) }?;
    let bytes = Ring::bytes_with_memory(address);
    // No kernel of the module was launched.
    // SAFETY: the static has the bytes.
    unsafe { call!(cuMemcpyHtoD_v2(ring, bytes.as_ptr().cast(), bytes.len())) }
}

/// The number of lines that did not fit. Not in the device's stream: the number only grows.
fn read_lost(ring: u64) -> Result<u32, Failure> {
    let mut lost = 0_u32;
    let (place, source) = (&raw mut lost, ring + Ring::LOST_OFFSET as u64);
    // SAFETY: `lost` and the module's static have the bytes.
    unsafe { call!(cuMemcpyDtoH_v2(place.cast(), source, size_of::<u32>())) }?;
    Ok(lost)
}
