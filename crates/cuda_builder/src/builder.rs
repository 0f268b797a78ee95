//! The builder that a build script calls.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use crate::arch::Arch;
use crate::cargo::{
    Compilation, CompiledCrates, CoreLibrary, Debugging, LinkedPackage, workspace_root,
};
use crate::error::BuildError;
use crate::pipeline::{Module, Pipeline};
use crate::rust_file::{self, Image};
use crate::surroundings::{Surroundings, exit_with_error};
use crate::toolchain::Toolchain;

/// Unrolls an 8 x 8 x 16 block of multiply-adds completely; LLVM's own default of 300 does not.
const UNROLL_THRESHOLD: u32 = 3000;

/// Compiles a crate of kernels to PTX: one module for each architecture, or
/// [one for each kernel](Self::one_module_per_kernel) and architecture.
///
/// Relative paths are relative to `CARGO_MANIFEST_DIR` in a build script, and to the current
/// folder elsewhere.
#[derive(Clone, Debug)]
pub struct CudaBuilder {
    kernel_crate: PathBuf,
    archs: Vec<Arch>,
    /// Those of `archs` for which only the kernels are compiled that state them.
    where_stated: Vec<Arch>,
    copy_to: Option<PathBuf>,
    target_dir: Option<PathBuf>,
    unroll_threshold: u32,
    one_module_per_kernel: bool,
    debugging: Debugging,
}

/// What [`CudaBuilder::build`] made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Build {
    /// The modules, those for the oldest architecture first, each architecture's in the order of
    /// their names.
    pub modules: Vec<PtxModule>,
    /// A file for `include!`.
    ///
    /// With a module for the whole crate it is an expression of type `&[(&str, &str); N]`, which
    /// holds the name of each architecture, such as `"sm_80"`, and the text of its module. With
    /// [`one_module_per_kernel`](CudaBuilder::one_module_per_kernel) it is a list of items: for each
    /// kernel a constant of its name and of type `&[(&str, &str)]`.
    pub rust_file: PathBuf,
    /// The packages of registries that were compiled into the modules, sorted.
    pub linked: Vec<LinkedPackage>,
    /// What the modules were built with.
    pub toolchain: Toolchain,
}

/// PTX for one architecture.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PtxModule {
    /// The name of the kernel crate, or of the kernel that has the module to itself.
    pub name: String,
    /// The oldest architecture that runs it.
    pub arch: Arch,
    /// The file of the PTX, in the folder given to [`CudaBuilder::copy_to`] where there is one.
    pub path: PathBuf,
    /// The names of the kernels, sorted.
    pub kernels: Vec<String>,
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
    /// A kernel's code is the same as in one module for the crate: kernels are taken apart after
    /// optimisation. Constant data and shared memory go to each module that uses them. A static
    /// that kernels or the host write (`global_array!`, `constant_array!`, atomics) can be used by
    /// one kernel only, because each module has its own copy: [`BuildError::SharedStatic`] names
    /// what two kernels share. A static that no kernel uses is in no module.
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

    /// Builds the modules.
    ///
    /// In a build script it also tells cargo when to run the script again: when a source of the
    /// kernel crate or of one of its path dependencies changes. The compiler's warnings about them
    /// become cargo's, once for all architectures.
    ///
    /// # Errors
    ///
    /// See [`BuildError`]; [`BuildError::is_missing_toolchain`] is the one that a build script with
    /// PTX at hand can recover from.
    pub fn build(&self) -> Result<Build, BuildError> {
        let surroundings = Surroundings::of_process()?;
        surroundings.announce_variables();
        let kernel_crate = surroundings.kernel_crate(&self.kernel_crate)?;
        surroundings.announce_change(&kernel_crate.join("Cargo.toml"));
        let toolchain = Toolchain::find()?;
        let target_dir = self.absolute_target_dir(&surroundings)?;
        let workspace = workspace_root(&toolchain, &kernel_crate)?;
        surroundings.announce_change(&workspace.join("Cargo.lock"));

        let core = CoreLibrary::build(&toolchain, self.debugging, &target_dir.join("core"))?;
        let crates_dir = target_dir.join("crates");
        let compilation = |arch| Compilation {
            toolchain: &toolchain,
            core: &core,
            kernel_crate: &kernel_crate,
            workspace: &workspace,
            arch,
            debugging: self.debugging,
            target_dir: &crates_dir,
        };
        let place = Place {
            toolchain: &toolchain,
            target_dir: &target_dir,
            ptx: match &self.copy_to {
                Some(folder) => surroundings.absolute(folder),
                None => target_dir.join("ptx"),
            },
        };
        let (crates, modules) = self.compile_all(|arch| compilation(arch).run(), &place)?;
        surroundings.announce_packages(crates.iter().flat_map(|it| &it.local_packages));
        surroundings.warn(crates.iter().flat_map(|it| &it.warnings));
        let linked: BTreeSet<_> = crates
            .into_iter()
            .flat_map(|it| it.linked_packages)
            .collect();
        let rust_file = target_dir.join("modules.rs");
        write_if_changed(&rust_file, &self.rust_text(&modules))?;
        Ok(Build {
            modules,
            rust_file,
            linked: linked.into_iter().collect(),
            toolchain,
        })
    }

    /// [`build`](Self::build) for a build script that cannot go on without the modules: an error is
    /// shown as cargo's own and ends the script.
    #[must_use]
    pub fn build_or_exit(&self) -> Build {
        self.build().unwrap_or_else(|error| exit_with_error(&error))
    }

    /// Whether there is a kernel crate: a published package has none.
    pub(crate) fn has_kernel_crate(&self, surroundings: &Surroundings) -> bool {
        let folder = surroundings.absolute(&self.kernel_crate);
        folder.join("Cargo.toml").is_file()
    }

    pub(crate) fn has_one_module_per_kernel(&self) -> bool {
        self.one_module_per_kernel
    }

    /// Whether the modules are to have what helps to find mistakes.
    pub(crate) fn has_debugging(&self) -> bool {
        self.debugging.panic_locations || self.debugging.line_information
    }

    fn absolute_target_dir(&self, surroundings: &Surroundings) -> Result<PathBuf, BuildError> {
        let folder = match &self.target_dir {
            Some(folder) => surroundings.absolute(folder),
            None => surroundings.default_target_dir(),
        };
        create_folder(&folder)?;
        Ok(folder)
    }

    fn sorted_archs(&self) -> Vec<Arch> {
        let mut archs = self.archs.clone();
        if archs.is_empty() {
            archs.push(Arch::Sm80);
        }
        archs.sort();
        archs.dedup();
        archs
    }

    /// Compiles the crate for one architecture after the other, as cargo locks its folder, and
    /// meanwhile turns what is compiled into PTX.
    fn compile_all(
        &self,
        compile: impl Fn(Arch) -> Result<CompiledCrates, BuildError>,
        place: &Place<'_>,
    ) -> Result<(Vec<CompiledCrates>, Vec<PtxModule>), BuildError> {
        create_folder(&place.ptx)?;
        thread::scope(|scope| {
            let mut running = Vec::new();
            for arch in self.sorted_archs() {
                let crates = compile(arch)?;
                running.push(scope.spawn(move || {
                    let modules = self.modules(arch, &crates, place)?;
                    Ok((crates, modules))
                }));
            }
            let mut all = (Vec::new(), Vec::new());
            for thread in running {
                let (crates, modules) = thread.join().expect("code generation returns errors")?;
                all.0.push(crates);
                all.1.extend(modules);
            }
            Ok(all)
        })
    }

    fn modules(
        &self,
        arch: Arch,
        crates: &CompiledCrates,
        place: &Place<'_>,
    ) -> Result<Vec<PtxModule>, BuildError> {
        let pipeline = Pipeline {
            toolchain: place.toolchain,
            arch,
            unroll_threshold: self.unroll_threshold,
            one_module_per_kernel: self.one_module_per_kernel,
            line_information: self.debugging.line_information,
            where_stated: self.where_stated.contains(&arch),
            work_dir: &place.target_dir.join(arch.name()),
        };
        let modules = pipeline.run(crates)?.into_iter();
        modules
            .map(|module| written_module(module, arch, &place.ptx))
            .collect()
    }

    fn rust_text(&self, modules: &[PtxModule]) -> String {
        let images: Vec<Image> = modules.iter().map(PtxModule::image).collect();
        if self.one_module_per_kernel {
            rust_file::constants(&images)
        } else {
            rust_file::expression(&images)
        }
    }
}

/// What turns bitcode into PTX, and where.
struct Place<'a> {
    toolchain: &'a Toolchain,
    target_dir: &'a Path,
    /// The folder of the modules.
    ptx: PathBuf,
}

impl PtxModule {
    fn image(&self) -> Image {
        Image {
            module: self.name.clone(),
            arch: self.arch.name().to_owned(),
            path: self.path.clone(),
        }
    }
}

fn written_module(module: Module, arch: Arch, folder: &Path) -> Result<PtxModule, BuildError> {
    let path = folder.join(format!("{}.{arch}.ptx", module.name));
    write_if_changed(&path, &module.ptx)?;
    Ok(PtxModule {
        name: module.name,
        arch,
        path,
        kernels: module.kernels,
    })
}

fn create_folder(folder: &Path) -> Result<(), BuildError> {
    fs::create_dir_all(folder).map_err(BuildError::io("create", folder))
}

/// Leaves an equal file alone, so that what depends on it is not built again.
fn write_if_changed(path: &Path, content: &str) -> Result<(), BuildError> {
    if fs::read(path).is_ok_and(|present| present == content.as_bytes()) {
        return Ok(());
    }
    fs::write(path, content).map_err(BuildError::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn architectures_are_sorted_and_default_to_sm_80() {
        let builder = CudaBuilder::new("kernels");
        assert_eq!(builder.sorted_archs(), [Arch::Sm80]);
        let builder = builder.arch(Arch::Sm90).arch(Arch::Sm75).arch(Arch::Sm90);
        assert_eq!(builder.sorted_archs(), [Arch::Sm75, Arch::Sm90]);
    }
}
