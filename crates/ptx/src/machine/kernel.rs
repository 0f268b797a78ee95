//! A program with its variables, and arguments.

use super::lines::Lines;
use super::storage::Storage;
use super::thread::Thread;
use super::variables::Variables;
use crate::decode::Program;
use simt::{Body, OutOfMemory};
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;

/// A program with its module's variables in memory, which all its launches share.
#[derive(Clone, Debug)]
pub struct Kernel {
    program: Arc<Program>,
    globals: Arc<[Arc<Storage>]>,
    /// The addresses of the variables in constant memory.
    constants: Arc<[Range<usize>]>,
    lines: Arc<Lines>,
    allows_equal_writes: bool,
}

/// Arguments that do not match the kernel's parameters.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ArgumentError {
    /// Another number of arguments.
    #[error("kernel `{kernel}` takes {expected} arguments, not {found}")]
    Count {
        /// The kernel's name.
        kernel: String,
        /// How many it takes.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// An argument of another size.
    #[error("parameter `{parameter}` has {expected} bytes, not {found}")]
    Size {
        /// The parameter's name.
        parameter: String,
        /// Its bytes.
        expected: usize,
        /// The bytes of the argument.
        found: usize,
    },
    /// The host has no memory left.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

impl Kernel {
    /// The program with variables of its own.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has none left.
    pub fn new(program: Program) -> Result<Self, OutOfMemory> {
        Self::with_variables(program, &Variables::default())
    }

    /// The program with variables that it shares with other kernels of its module.
    ///
    /// # Errors
    /// [`OutOfMemory`] if the host has none left.
    pub fn with_variables(program: Program, variables: &Variables) -> Result<Self, OutOfMemory> {
        let globals = variables.of(&program.globals)?;
        let with_memory = program.globals.iter().zip(globals.iter());
        let constants = with_memory.filter(|(global, _)| global.is_constant);
        let addresses = constants.map(|(_, memory)| {
            let start = memory.address();
            start..start + memory.bytes()
        });
        Ok(Self {
            constants: addresses.collect(),
            globals,
            lines: Arc::new(Lines::of(&program)),
            program: Arc::new(program),
            allows_equal_writes: false,
        })
    }

    /// Sets whether several threads may write the same value to one place by one instruction. The memory model calls it
    /// a race, but compilers do it, and devices then write the value.
    #[must_use]
    pub fn with_equal_writes(mut self, are_allowed: bool) -> Self {
        self.allows_equal_writes = are_allowed;
        self
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The code that the threads of a launch run, for [`simt::run`]. The arguments are the bytes of each parameter, an
    /// address as its eight bytes.
    ///
    /// # Errors
    /// [`ArgumentError`] if the arguments are not as many as the parameters, or have other sizes, or if the host has no
    /// memory left.
    ///
    /// # Safety
    /// 1. Until the launch has ended, the memory to which the arguments point is valid for reads, and where the kernel
    ///    writes, for writes; meanwhile other threads access it only through `simt`.
    /// 2. The kernel accesses no other global memory, or the launch has
    ///    [`registered_memory_only`](simt::Options::registered_memory_only) and
    ///    [`checks`](simt::Options::checks).
    /// 3. Every texture handle that it uses is the exposed address of a [`Texture`](simt::Texture) that outlives the
    ///    launch.
    ///
    /// ```
    /// use simt::{Contents, Launch, Options};
    /// use std::sync::atomic::{AtomicU32, Ordering};
    ///
    /// let module: ptx::Module = "
    ///     .version 7.0
    ///     .target sm_75
    ///     .address_size 64
    ///     .visible .entry numbers(.param .u64 to)
    ///     {
    ///         .reg .b32 %r<2>;
    ///         .reg .b64 %rd<4>;
    ///         ld.param.b64 %rd1, [to];
    ///         mov.u32 %r1, %tid.x;
    ///         mul.wide.u32 %rd2, %r1, 4;
    ///         add.s64 %rd3, %rd1, %rd2;
    ///         st.global.b32 [%rd3], %r1;
    ///         ret;
    ///     }
    /// ".parse()?;
    /// let kernel = ptx::Kernel::new(ptx::Program::new(&module, "numbers")?)?;
    /// static NUMBERS: [AtomicU32; 64] = [const { AtomicU32::new(0) }; 64];
    /// let address = NUMBERS.as_ptr().expose_provenance();
    /// // SAFETY: the memory is static, and of atomic words.
    /// unsafe { simt::register_allocation(address, 256, Contents::Initialised)? };
    /// let options = Options { registered_memory_only: true, ..Options::default() };
    /// let launch = Launch::new("numbers", 1, 64, &options);
    /// // SAFETY: the argument points to 64 words, one for each thread.
    /// let body = unsafe { kernel.body(&[&address.to_ne_bytes()])? };
    /// simt::run(&launch, &body)?;
    /// assert_eq!(NUMBERS[63].load(Ordering::Relaxed), 63);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn body(&self, arguments: &[&[u8]]) -> Result<Body, ArgumentError> {
        let parameters = self.laid_out(arguments)?;
        let parameters = Storage::new(parameters.len(), &parameters)?;
        let kernel = self.clone();
        Ok(Body::new(move || {
            let mut thread =
                Thread::start(&kernel.program, &kernel.globals, &parameters, &kernel.lines);
            thread.constants = &kernel.constants;
            thread.allows_equal_writes = kernel.allows_equal_writes;
            thread.run();
        }))
    }

    /// The arguments at the places of the parameters.
    fn laid_out(&self, arguments: &[&[u8]]) -> Result<Vec<u8>, ArgumentError> {
        let parameters = &self.program.parameters;
        if parameters.len() != arguments.len() {
            return Err(ArgumentError::Count {
                kernel: self.program.name.clone(),
                expected: parameters.len(),
                found: arguments.len(),
            });
        }
        let mut bytes = Vec::new();
        for (parameter, argument) in parameters.iter().zip(arguments) {
            if parameter.bytes != argument.len() {
                return Err(ArgumentError::Size {
                    parameter: parameter.name.clone(),
                    expected: parameter.bytes,
                    found: argument.len(),
                });
            }
            bytes.resize(parameter.offset, 0);
            bytes.extend_from_slice(argument);
        }
        Ok(bytes)
    }
}
