//! The settings of a build.

use std::path::{Path, PathBuf};

use crate::arch::Arch;
use crate::surroundings::Surroundings;

/// Enough to unroll an 8 x 8 x 16 block of multiply-adds completely; LLVM's default of 300 is not.
const UNROLL_THRESHOLD: u32 = 3000;

/// Compiles a crate of kernels to PTX.
///
/// There is one module for each architecture, or [one for each kernel](Self::one_module_per_kernel) and architecture.
/// Relative paths are relative to `CARGO_MANIFEST_DIR` in a build script, and to the current folder elsewhere.
#[derive(Clone, Debug)]
pub struct CudaBuilder {
    pub(crate) kernel_crate: PathBuf,
    pub(crate) archs: Vec<Arch>,
    /// Those of `archs` for which only the kernels that state them are compiled.
    pub(crate) where_stated: Vec<Arch>,
    pub(crate) target_dir: Option<PathBuf>,
    pub(crate) core_dir: Option<PathBuf>,
    pub(crate) unroll_threshold: u32,
    pub(crate) one_module_per_kernel: bool,
    pub(crate) debugging: Debugging,
}

/// Aids for debugging that are compiled in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Debugging {
    /// Panics tell the host where they happened.
    pub(crate) panic_locations: bool,
    /// The PTX has the source lines.
    pub(crate) line_information: bool,
}

impl CudaBuilder {
    /// A build of the kernel crate in the folder `kernel_crate`, for `sm_80` if no architecture is added.
    pub fn new(kernel_crate: impl Into<PathBuf>) -> CudaBuilder {
        CudaBuilder {
            kernel_crate: kernel_crate.into(),
            archs: Vec::new(),
            where_stated: Vec::new(),
            target_dir: None,
            core_dir: None,
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

    /// Adds an architecture for only those kernels that state it: `#[kernel(arch = "sm_90a")]`.
    ///
    /// The other kernels have images for the architectures of [`arch`](Self::arch).
    #[must_use]
    pub fn arch_where_stated(mut self, arch: Arch) -> CudaBuilder {
        self.archs.push(arch);
        self.where_stated.push(arch);
        self
    }

    /// Gives each kernel a module of its own, so that a program contains only the PTX of the kernels that it names.
    ///
    /// The driver compiles only the modules that the program loads. A kernel's code is the same as in one module for
    /// the crate, because kernels are split after optimisation. Constant data and shared memory go to each module
    /// that uses them. A static that kernels or the host write (`global_array!`, `constant_array!`, atomics) can be
    /// used by one kernel only, because each module has its own copy:
    /// [`BuildError::SharedStatic`](crate::BuildError::SharedStatic) names a static that two kernels share. A static
    /// that no kernel uses is in no module.
    #[must_use]
    pub fn one_module_per_kernel(mut self) -> CudaBuilder {
        self.one_module_per_kernel = true;
        self
    }

    /// Sets the folder for everything that is built.
    ///
    /// The default is a folder for each kernel crate in `cuda_builder` of `OUT_DIR` in a build script, and in
    /// `target/cuda_builder` elsewhere. Only [`core`](Self::core_dir) has another place by default.
    #[must_use]
    pub fn target_dir(mut self, folder: impl Into<PathBuf>) -> CudaBuilder {
        self.target_dir = Some(folder.into());
        self
    }

    /// Sets the folder of `core` for the GPU, which several builds can share. It takes most of the time of a first build.
    ///
    /// The default is `core` in the [`target_dir`](Self::target_dir). Without one, it is `cuda_builder` in the profile's
    /// folder, such as `target/debug`, which all build scripts of a target folder share, and
    /// `target/cuda_builder/core` outside of build scripts.
    #[must_use]
    pub fn core_dir(mut self, folder: impl Into<PathBuf>) -> CudaBuilder {
        self.core_dir = Some(folder.into());
        self
    }

    /// Sets the largest size of an unrolled loop, in LLVM's units of instruction cost. The default is 3000.
    #[must_use]
    pub fn unroll_threshold(mut self, cost: u32) -> CudaBuilder {
        self.unroll_threshold = cost;
        self
    }

    /// Whether a kernel that panics tells the host where; off by default.
    ///
    /// This is for kernels on `cuda_std`. The host library's error then has the file, the line and the message of an
    /// `assert!`, with the kernel, the block and the thread. A message with values is reported by its place alone,
    /// because nothing formats it on a GPU. Without this option, a panic ends the launch and nothing else is known.
    ///
    /// It costs instructions, registers and local memory in every kernel that can panic, and 0.5 MB of page-locked
    /// memory for each module. So use it to find a mistake, not in a release. The simulator always reports the place.
    #[must_use]
    pub fn panic_locations(mut self, wanted: bool) -> CudaBuilder {
        self.debugging.panic_locations = wanted;
        self
    }

    /// Whether the PTX has the source line of each instruction, for Nsight Compute and `cuobjdump -g`.
    ///
    /// They then show Rust beside the machine code. The code stays the same; the PTX is several times as long.
    ///
    /// In file names, `/workspace` is the root of the workspace, `/rust` the sources of `core`, and `/cargo` cargo's
    /// home, so that the PTX does not name this machine's folders. Only path dependencies outside the workspace keep
    /// their paths.
    #[must_use]
    pub fn line_information(mut self, wanted: bool) -> CudaBuilder {
        self.debugging.line_information = wanted;
        self
    }

    /// The folder for everything that is built.
    pub(crate) fn target_folder(&self, surroundings: &Surroundings) -> PathBuf {
        match &self.target_dir {
            Some(folder) => surroundings.absolute(folder),
            // One for each crate, because a build script can build several.
            None => surroundings
                .default_target_dir()
                .join(name_of(&self.kernel_crate)),
        }
    }

    /// Whether there is a kernel crate: a published package has none.
    pub(crate) fn has_kernel_crate(&self, surroundings: &Surroundings) -> bool {
        let folder = surroundings.absolute(&self.kernel_crate);
        folder.join("Cargo.toml").is_file()
    }

    /// Whether any debugging aid is on.
    pub(crate) fn has_debugging(&self) -> bool {
        self.debugging.panic_locations || self.debugging.line_information
    }
}

/// A path as the name of one folder. If other characters stand for some of it, a hash tells it from other paths.
fn name_of(path: &Path) -> String {
    let path = path.to_string_lossy();
    let part = |c: char| {
        if c.is_alphanumeric() || c == '-' {
            c
        } else {
            '_'
        }
    };
    let name: String = path.chars().map(part).collect();
    if name == path {
        return name;
    }
    let hash = source_hash::sha256(path.as_bytes());
    format!("{name}-{}", &hash[..8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_kernel_crate_has_its_own_folder_in_a_build_script() {
        let surroundings = Surroundings {
            base: "/workspace".into(),
            out_dir: Some("/target/debug/build/a-1/out".into()),
        };
        let folder = |path: &str| CudaBuilder::new(path).target_folder(&surroundings);
        let out = Path::new("/target/debug/build/a-1/out/cuda_builder");
        assert_eq!(folder("kernels"), out.join("kernels"));
        let outside = folder("../kernels");
        assert!(
            outside
                .to_string_lossy()
                .contains("/cuda_builder/___kernels-")
        );
        let paths = [
            "../kernels",
            "___kernels",
            "kernels/fast",
            "kernels_fast",
            "a b",
            "a_b",
        ];
        let folders: BTreeSet<PathBuf> = paths.into_iter().map(folder).collect();
        assert_eq!(folders.len(), paths.len());
    }
}
