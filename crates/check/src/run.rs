//! Runs a launch under its schedules.

use crate::arguments::{Buffers, encoded};
use crate::buffer::Buffer;
use crate::error::CheckError;
use crate::launch::Launch;
use crate::limits::{bound, product};
use crate::memory::Memory;
use crate::report::{Findings, Output, Report};
use ptx::{BoundKind, Kernel, Module, Program, Sources};
use simt::{Defect, Dim3, Options, Profile};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

impl Launch {
    /// Runs the kernel under each schedule, on new buffers each time.
    ///
    /// # Errors
    /// [`CheckError`] if the kernel cannot be run. The report has its mistakes.
    pub fn run(&self) -> Result<Report, CheckError> {
        let module: Module = self.ptx.parse()?;
        let profile = self.profile.unwrap_or_else(|| profile_of(&module));
        let seeds = self.seeds()?;
        self.check_limits(&module, profile)?;
        let initial = self.initial()?;
        let sources = Sources::of(&module);
        let mut findings = Findings::new(&sources, &self.file);
        let mut report = Report::new(self);
        for seed in seeds {
            let run = self.run_one(&module, profile, seed, &initial)?;
            let is_first = seed == self.first_seed;
            if is_first || run.result.is_ok() {
                report.check_expected(self, seed, &run.outputs);
            }
            match run.result {
                Ok(done) if is_first => report.counts = done.counts,
                Ok(_) => {}
                Err(defect) => findings.add(*defect),
            }
            match is_first {
                true => {
                    report.outputs = run.outputs;
                    report.printed = run.printed;
                }
                false => report.compare(seed, &run.outputs),
            }
        }
        report.findings = findings.list();
        report.allow_differences(self);
        Ok(report)
    }

    /// The numbers of the schedules. Without one, nothing would be checked.
    fn seeds(&self) -> Result<RangeInclusive<u64>, CheckError> {
        let further = self.schedules.checked_sub(1);
        let last = further.and_then(|it| self.first_seed.checked_add(it));
        last.map(|last| self.first_seed..=last)
            .ok_or(CheckError::Schedules {
                first_seed: self.first_seed,
                schedules: self.schedules,
            })
    }

    /// The buffers at the start.
    fn initial(&self) -> Result<BTreeMap<&str, Initial>, CheckError> {
        let buffers = self.buffers.iter();
        let bytes = buffers.map(|(name, buffer)| Ok((name.as_str(), checked(name, buffer)?)));
        bytes.collect()
    }

    fn run_one(
        &self,
        module: &Module,
        profile: Profile,
        seed: u64,
        initial: &BTreeMap<&str, Initial>,
    ) -> Result<Run, CheckError> {
        let kernel = self.kernel(module)?;
        let mut buffers = Buffers::new();
        for (name, buffer) in &self.buffers {
            let (bytes, contents) = &initial[name.as_str()];
            let memory = Memory::new(name, *bytes, contents.as_deref())?;
            buffers.insert(name.clone(), (memory, buffer.element));
        }
        let arguments = self.encoded(module, &kernel, &buffers)?;
        let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
        let options = self.options(profile, seed);
        let launch = simt::Launch {
            kernel: &self.entry,
            grid: extent(self.grid),
            block: extent(self.block),
            cluster: extent(self.cluster_of(module)),
            thread_registers: registers(module, &self.entry),
            dynamic_shared_bytes: self.shared_bytes,
            options: &options,
        };
        // SAFETY:
        // 1. The buffers live longer than the launch, and are accessed through `simt`.
        // 2. `options` refuses memory that is not registered, and has all checks.
        // 3. `kernel` has refused kernels that sample textures.
        let body = unsafe { kernel.body(&arguments)? };
        let result = match self.is_cooperative {
            true => simt::run_cooperative(&launch, &body),
            false => simt::run(&launch, &body),
        };
        let outputs = buffers.iter().map(|(name, (memory, element))| Output {
            name: name.clone(),
            element: *element,
            bytes: memory.contents(),
        });
        Ok(Run {
            result,
            outputs: outputs.collect(),
            printed: options.output.take(),
        })
    }

    fn kernel(&self, module: &Module) -> Result<Kernel, CheckError> {
        let kernels = module.kernels().map(|it| it.name.to_string());
        let kernels: Vec<String> = kernels.collect();
        if !kernels.contains(&self.entry) {
            let name = self.entry.clone();
            return Err(CheckError::NoKernel { name, kernels });
        }
        let program = Program::new(module, &self.entry)?.in_file(&self.file);
        if program.samples_textures() {
            return Err(CheckError::Textures);
        }
        let kernel = Kernel::new(program).map_err(|_| CheckError::OutOfMemory)?;
        Ok(kernel.with_equal_writes(!self.is_strict))
    }

    fn options(&self, profile: Profile, seed: u64) -> Options {
        Options {
            seed,
            parallel_blocks: false,
            checks: true,
            registered_memory_only: true,
            profile,
            time_limit: Some(self.time_limit),
            output: Arc::default(),
            counters: self.counters && seed == self.first_seed,
            ..Options::default()
        }
    }

    fn encoded(
        &self,
        module: &Module,
        kernel: &Kernel,
        buffers: &Buffers,
    ) -> Result<Vec<Vec<u8>>, CheckError> {
        let mut kernels = module.kernels();
        let function = kernels.find(|it| it.name.as_ref() == self.entry);
        let declared = function.map_or(&[][..], |it| &it.signature.parameters);
        let sizes = kernel.program().parameters().map(|(_, _, bytes)| bytes);
        let parameters: Vec<_> = declared.iter().zip(sizes).collect();
        // The kernel compares the numbers of arguments and parameters.
        let arguments = self.arguments.iter().enumerate().map(|(number, argument)| {
            let Some((parameter, bytes)) = parameters.get(number).copied() else {
                return Ok(Vec::new());
            };
            encoded(argument, parameter, bytes, buffers)
                .map_err(|message| CheckError::Argument { number, message })
        });
        arguments.collect()
    }
}

/// A buffer at the start: its bytes in number, and what they are unless they are uninitialised.
type Initial = (usize, Option<Vec<u8>>);

/// One schedule.
struct Run {
    result: Result<simt::Report, Box<Defect>>,
    outputs: Vec<Output>,
    printed: Vec<String>,
}

/// Registers of a multiprocessor, and the most of a thread.
const REGISTERS: u64 = 65_536;
const MOST_REGISTERS: u64 = 255;

/// Registers of each thread, if the kernel bounds them.
fn registers(module: &Module, entry: &str) -> Option<u32> {
    let numbers = |wanted| bound(module, entry, wanted).map(product);
    if let Some(most) = numbers(BoundKind::MaxRegisters) {
        return u32::try_from(most).ok();
    }
    let threads = numbers(BoundKind::RequiredThreads).or(numbers(BoundKind::MaxThreads))?;
    let blocks = numbers(BoundKind::MinBlocks).unwrap_or(1);
    let of_each = REGISTERS.checked_div(threads.checked_mul(blocks)?)?;
    u32::try_from((of_each / 8 * 8).min(MOST_REGISTERS)).ok()
}

fn checked(name: &str, buffer: &Buffer) -> Result<Initial, CheckError> {
    let error = |message| CheckError::Buffer {
        name: name.to_owned(),
        message,
    };
    let size = buffer.length.checked_mul(buffer.element.bytes());
    let size = size.ok_or_else(|| error("it has more bytes than memory".to_owned()))?;
    if let Some(expected) = &buffer.expected {
        expected.check(buffer.length).map_err(error)?;
    }
    let bytes = buffer.bytes().map_err(|it| error(it.to_string()))?;
    match &bytes {
        Some(bytes) if bytes.len() != size => {
            let message = format!("{} bytes for {size} bytes of elements", bytes.len());
            Err(error(message))
        }
        _ => Ok((size, bytes)),
    }
}

fn extent([x, y, z]: [u32; 3]) -> Dim3 {
    Dim3::new(x, y, z)
}

/// The device of a module's `.target`.
fn profile_of(module: &Module) -> Profile {
    let target = module.target.first().map_or("", AsRef::as_ref);
    let digits = target.trim_start_matches("sm_");
    let digits = digits.trim_end_matches(|it: char| !it.is_ascii_digit());
    match digits.parse() {
        Ok(..80_u32) => Profile::T4,
        Ok(80..86) => Profile::A100,
        Ok(86) => Profile::Rtx3090,
        Ok(87..89) => Profile::Orin,
        Ok(89) => Profile::Rtx4090,
        Ok(100..120) => Profile::B200,
        Ok(120..) => Profile::Rtx5090,
        _ => Profile::H200,
    }
}
