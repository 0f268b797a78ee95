//! Questions of a build to its surroundings, and messages to them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::cargo::LocalPackage;
use super::toolchain::{LLVM_VARIABLE, TOOLCHAIN_VARIABLE};
use crate::error::BuildError;
use crate::surroundings::Surroundings;

impl Surroundings {
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

    /// One folder for all build scripts of a target folder and a profile.
    pub(crate) fn default_core_dir(&self) -> PathBuf {
        // `OUT_DIR` is somewhere in `build` of the profile's folder.
        let profile = self.out_dir.as_ref().and_then(|out_dir| {
            let mut folders = out_dir.ancestors();
            folders.find(|it| it.ends_with("build"))?.parent()
        });
        match profile {
            Some(folder) => folder.join("cuda_builder"),
            None => self.default_target_dir().join("core"),
        }
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_scripts_of_a_profile_share_core() {
        let of = |out_dir: &str| Surroundings {
            base: "/workspace".into(),
            out_dir: Some(out_dir.into()),
        };
        for out_dir in ["/target/debug/build/a-1/out", "/target/debug/build/b/2/out"] {
            let folder = of(out_dir).default_core_dir();
            assert_eq!(folder, Path::new("/target/debug/cuda_builder"));
        }
        assert_eq!(
            of("/elsewhere").default_core_dir(),
            Path::new("/elsewhere/cuda_builder/core")
        );
    }

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
