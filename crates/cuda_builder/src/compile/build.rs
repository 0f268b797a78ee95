//! The build of a kernel crate's modules.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::thread;

use super::cargo::{Compilation, CompiledCrates, CoreLibrary, workspace_root};
use super::files::{create_folder, locked, write_if_changed};
use super::pipeline::{Module, Pipeline};
use super::repetitions::without_repetitions;
use super::toolchain::Toolchain;
use crate::arch::Arch;
use crate::builder::CudaBuilder;
use crate::checked_in::LinkedPackage;
use crate::error::BuildError;
use crate::rust_file::{self, Image};
use crate::surroundings::{Surroundings, exit_with_error};

/// The result of [`CudaBuilder::build`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Build {
    /// The modules, oldest architecture first, then by name. With
    /// [`one_module_per_kernel`](CudaBuilder::one_module_per_kernel), a kernel has no module for an architecture
    /// whose devices run an older architecture's module with the same code.
    pub modules: Vec<PtxModule>,
    /// A file for `include!`.
    ///
    /// With one module for the crate, it is an expression of type `&[(&str, &str); N]`: the name of each
    /// architecture, such as `"sm_80"`, and its PTX. With
    /// [`one_module_per_kernel`](CudaBuilder::one_module_per_kernel), it is a list of items: for each kernel a
    /// constant with its name, of type `&[(&str, &str)]`.
    pub rust_file: PathBuf,
    /// The packages from registries that were compiled into the modules, sorted.
    pub linked: Vec<LinkedPackage>,
    /// The toolchain that built the modules.
    pub toolchain: Toolchain,
}

/// PTX for one architecture.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PtxModule {
    /// The name of the kernel crate, or of the kernel if the module is for one kernel.
    pub name: String,
    /// The oldest architecture that runs it.
    pub arch: Arch,
    /// The PTX file, `<name>.<arch>.ptx`.
    pub path: PathBuf,
    /// The names of the kernels, sorted.
    pub kernels: Vec<String>,
}

impl CudaBuilder {
    /// Builds the modules.
    ///
    /// In a build script it also tells cargo to run the script again when a source of the kernel crate or of one of
    /// its path dependencies changes. The compiler's warnings about them become cargo's, once for all architectures.
    ///
    /// Builds in one [`target_dir`](Self::target_dir) wait for one another, and each replaces the modules of the last.
    ///
    /// # Errors
    ///
    /// See [`BuildError`]. A build script that has PTX can recover from [`BuildError::is_missing_toolchain`].
    pub fn build(&self) -> Result<Build, BuildError> {
        let surroundings = Surroundings::of_process()?;
        surroundings.announce_variables();
        let kernel_crate = surroundings.kernel_crate(&self.kernel_crate)?;
        surroundings.announce_change(&kernel_crate.join("Cargo.toml"));
        let toolchain = Toolchain::find()?;
        let target_dir = self.target_folder(&surroundings);
        let _lock = locked(&target_dir)?;
        let workspace = workspace_root(&toolchain, &kernel_crate)?;
        surroundings.announce_change(&workspace.join("Cargo.lock"));

        let core_dir = self.core_folder(&surroundings);
        let core = CoreLibrary::build(&toolchain, self.debugging, &core_dir)?;
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
            ptx: target_dir.join("ptx"),
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

    /// [`build`](Self::build) for a build script that needs the modules: cargo shows an error as its own, and the
    /// script ends.
    #[must_use]
    pub fn build_or_exit(&self) -> Build {
        self.build().unwrap_or_else(|error| exit_with_error(&error))
    }

    /// The folder of `core`.
    fn core_folder(&self, surroundings: &Surroundings) -> PathBuf {
        match (&self.core_dir, &self.target_dir) {
            (Some(folder), _) => surroundings.absolute(folder),
            (None, Some(folder)) => surroundings.absolute(folder).join("core"),
            (None, None) => surroundings.default_core_dir(),
        }
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

    /// Compiles the crate for one architecture after the other, because cargo locks its folder. Meanwhile it turns
    /// the compiled crates into PTX.
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
                    Ok((arch, crates, modules))
                }));
            }
            let (mut all, mut generated) = (Vec::new(), Vec::new());
            for thread in running {
                let (arch, crates, modules) =
                    thread.join().expect("code generation returns errors")?;
                all.push(crates);
                generated.extend(modules.into_iter().map(|module| (arch, module)));
            }
            if self.one_module_per_kernel {
                generated = without_repetitions(generated);
            }
            let modules = generated.into_iter();
            let modules = modules.map(|(arch, module)| written_module(module, arch, &place.ptx));
            Ok((all, modules.collect::<Result<_, _>>()?))
        })
    }

    fn modules(
        &self,
        arch: Arch,
        crates: &CompiledCrates,
        place: &Place<'_>,
    ) -> Result<Vec<Module>, BuildError> {
        let pipeline = Pipeline {
            toolchain: place.toolchain,
            arch,
            unroll_threshold: self.unroll_threshold,
            one_module_per_kernel: self.one_module_per_kernel,
            line_information: self.debugging.line_information,
            where_stated: self.where_stated.contains(&arch),
            work_dir: &place.target_dir.join(arch.name()),
        };
        pipeline.run(crates)
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

/// The toolchain that turns bitcode into PTX, and the folders.
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
