//! Where the builder runs, and what it tells the cargo that runs it.

use std::collections::BTreeSet;
use std::env;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

use crate::cargo::LocalPackage;
use crate::error::BuildError;
use crate::toolchain::{LLVM_VARIABLE, TOOLCHAIN_VARIABLE};

/// Where this process runs: in a build script or elsewhere.
pub(crate) struct Surroundings {
    /// What relative paths are relative to.
    base: PathBuf,
    /// `OUT_DIR` of the build script.
    out_dir: Option<PathBuf>,
}

impl Surroundings {
    pub(crate) fn of_process() -> Result<Surroundings, BuildError> {
        // cargo sets all three for build scripts, and only for them.
        let variables = ["OUT_DIR", "TARGET", "CARGO_MANIFEST_DIR"].map(env::var_os);
        if let [Some(out_dir), Some(_), Some(manifest_dir)] = variables {
            return Ok(Surroundings {
                base: manifest_dir.into(),
                out_dir: Some(out_dir.into()),
            });
        }
        let base = env::current_dir().map_err(BuildError::io("find", Path::new(".")))?;
        Ok(Surroundings {
            base,
            out_dir: None,
        })
    }

    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        self.base.join(path)
    }

    pub(crate) fn default_target_dir(&self) -> PathBuf {
        match &self.out_dir {
            Some(out_dir) => out_dir.join("cuda_builder"),
            None => self.base.join("target/cuda_builder"),
        }
    }

    /// The absolute folder of the kernel crate, without symbolic links, as cargo reports it.
    pub(crate) fn kernel_crate(&self, path: &Path) -> Result<PathBuf, BuildError> {
        let path = self.absolute(path);
        let not_a_crate = |reason: String| BuildError::NotAKernelCrate {
            path: path.clone(),
            reason,
        };
        let folder = fs::canonicalize(&path).map_err(|error| not_a_crate(error.to_string()))?;
        if !folder.join("Cargo.toml").is_file() {
            return Err(not_a_crate("it has no Cargo.toml".to_owned()));
        }
        Ok(folder)
    }

    pub(crate) fn announce_variables(&self) {
        for variable in [TOOLCHAIN_VARIABLE, LLVM_VARIABLE] {
            self.tell_cargo(&format!("rerun-if-env-changed={variable}"));
        }
    }

    pub(crate) fn announce_packages<'a>(
        &self,
        packages: impl IntoIterator<Item = &'a LocalPackage>,
    ) {
        for package in packages.into_iter().collect::<BTreeSet<_>>() {
            self.announce_change(&package.manifest);
            self.announce_change(&package.source_folder);
        }
    }

    /// Shows each of the compiler's warnings once.
    pub(crate) fn warn<'a>(&self, warnings: impl IntoIterator<Item = &'a String>) {
        for warning in warnings.into_iter().collect::<BTreeSet<_>>() {
            match self.out_dir {
                Some(_) => println!("cargo::warning={warning}"),
                None => eprintln!("warning: {warning}"),
            }
        }
    }

    pub(crate) fn announce_change(&self, path: &Path) {
        // A path that does not exist would make cargo run the script every time.
        if path.exists() {
            self.tell_cargo(&format!("rerun-if-changed={}", path.display()));
        }
    }

    fn tell_cargo(&self, instruction: &str) {
        if self.out_dir.is_some() {
            println!("cargo::{instruction}");
        }
    }
}

/// Ends a build script with an error, which cargo shows as its own: without the script's output and
/// the word "panicked".
pub fn exit_with_error(error: &impl Display) -> ! {
    for line in error.to_string().lines() {
        println!("cargo::error={line}");
    }
    // cargo has the errors already, and would add the script's output to a failure.
    process::exit(0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_manifest_is_no_kernel_crate() {
        let surroundings = Surroundings::of_process().unwrap();
        for path in ["src", "no/such/folder"] {
            let error = surroundings.kernel_crate(Path::new(path)).unwrap_err();
            assert!(
                matches!(error, BuildError::NotAKernelCrate { .. }),
                "{error}"
            );
            assert!(!error.is_missing_toolchain());
        }
    }
}
