//! What a build script says of the modules that it wants.

use std::path::PathBuf;

use crate::arch::Arch;
use crate::surroundings::Surroundings;

/// Unrolls an 8 x 8 x 16 block of multiply-adds completely; LLVM's own default of 300 does not.
const UNROLL_THRESHOLD: u32 = 3000;

/// Compiles a crate of kernels to PTX: one module for each architecture, or
/// [one for each kernel](Self::one_module_per_kernel) and architecture.
///
/// Relative paths are relative to `CARGO_MANIFEST_DIR` in a build script, and to the current
/// folder elsewhere.
#[derive(Clone, Debug)]
pub struct CudaBuilder {
    pub(crate) kernel_crate: PathBuf,
    pub(crate) archs: Vec<Arch>,
    /// Those of `archs` for which only the kernels are compiled that state them.
    pub(crate) where_stated: Vec<Arch>,
    pub(crate) copy_to: Option<PathBuf>,
    pub(crate) target_dir: Option<PathBuf>,
    pub(crate) unroll_threshold: u32,
    pub(crate) one_module_per_kernel: bool,
    pub(crate) debugging: Debugging,
}

/// What is compiled in for the search of a mistake.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Debugging {
    /// Panics tell the host their places.
    pub(crate) panic_locations: bool,
    /// The PTX has lines of the source.
    pub(crate) line_information: bool,
}

impl CudaBuilder {
    /// Builds the kernel crate in the folder `kernel_crate`, for `sm_80` where no architecture is
    /// added.
    pub fn new(kernel_crate: impl Into<PathBuf>) -> CudaBuilder {
        CudaBuilder {
            kernel_crate: kernel_crate.into(),
            archs: Vec::new(),
            where_stated: Vec::new(),
            copy_to: None,
            target_dir: None,
            unroll_threshold: UNROLL_THRESHOLD,
            one_module_per_kernel: false,
            debugging: Debugging::default(),
        }
    }

    /// Adds an architecture to build for.
    #[must_use]
    pub fn arch(mut self, arch: Arch) -> CudaBuilder {
        self.archs.push(arch);
        self
    }

    /// Adds an architecture for those kernels alone that state it: `#[kernel(arch = "sm_90a")]`. The
    /// others have images for the architectures of [`arch`](Self::arch).
    #[must_use]
    pub fn arch_where_stated(mut self, arch: Arch) -> CudaBuilder {
        self.archs.push(arch);
        self.where_stated.push(arch);
        self
    }

    /// Gives each kernel a module to itself. A program then contains the PTX of the kernels that
    /// it names, and the driver compiles those that it loads.
    ///
    /// A kernel's code is the same as in one module for the crate: the module is split after
    /// optimisation. Constant data and shared memory go to each module that uses them. A static
    /// that kernels or the host write (`global_array!`, `constant_array!`, atomics) can be used by
    /// one kernel only, because each module has its own copy:
    /// [`BuildError::SharedStatic`](crate::BuildError::SharedStatic) names what two kernels share. A
    /// static that no kernel uses is in no module.
    #[must_use]
    pub fn one_module_per_kernel(mut self) -> CudaBuilder {
        self.one_module_per_kernel = true;
        self
    }

    /// Writes each module to `folder` too, as `<module>.<arch>.ptx`, where the module has the name
    /// of the crate or of its one kernel.
    #[must_use]
    pub fn copy_to(mut self, folder: impl Into<PathBuf>) -> CudaBuilder {
        self.copy_to = Some(folder.into());
        self
    }

    /// The folder for everything that is built. The default is `cuda_builder` in `OUT_DIR` in a
    /// build script, and `target/cuda_builder` elsewhere.
    #[must_use]
    pub fn target_dir(mut self, folder: impl Into<PathBuf>) -> CudaBuilder {
        self.target_dir = Some(folder.into());
        self
    }

    /// How large, in LLVM's units of instruction cost, a loop may become when it is unrolled. The
    /// default is 3000.
    #[must_use]
    pub fn unroll_threshold(mut self, cost: u32) -> CudaBuilder {
        self.unroll_threshold = cost;
        self
    }

    /// Whether a kernel that panics tells the host where, for kernels on `cuda_std`. The host library's
    /// error then has the file, the line and the message of an `assert!`, with the kernel, the block and
    /// the thread; a message with values is told by its place alone, as nothing on a GPU formats it.
    /// Without, which is the default, a panic ends the launch and no more is known.
    ///
    /// It costs instructions, registers and local memory in every kernel that can panic, and 0.5 MB of
    /// page-locked memory for each module: it is for finding a mistake, not for a release. The simulator tells the place in any case.
    #[must_use]
    pub fn panic_locations(mut self, wanted: bool) -> CudaBuilder {
        self.debugging.panic_locations = wanted;
        self
    }

    /// Whether the PTX says which line of the source each instruction is of, so that Nsight Compute
    /// and `cuobjdump -g` show Rust beside the machine code. The code stays the same; the PTX is
    /// several times as long.
    ///
    /// In the names of files `/workspace` is the root of the workspace, `/rust` the sources of `core`
    /// and `/cargo` cargo's home, so that the PTX does not name this machine's folders. Only path
    /// dependencies outside of the workspace keep theirs.
    #[must_use]
    pub fn line_information(mut self, wanted: bool) -> CudaBuilder {
        self.debugging.line_information = wanted;
        self
    }

    /// Whether there is a kernel crate: a published package has none.
    pub(crate) fn has_kernel_crate(&self, surroundings: &Surroundings) -> bool {
        let folder = surroundings.absolute(&self.kernel_crate);
        folder.join("Cargo.toml").is_file()
    }

    /// Whether the modules are to have what helps to find mistakes.
    pub(crate) fn has_debugging(&self) -> bool {
        self.debugging.panic_locations || self.debugging.line_information
    }
}
