//! The process around a build, and messages to its cargo.

use std::env;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process;

use crate::error::BuildError;

/// The process of a build: a build script or another program.
pub(crate) struct Surroundings {
    /// The folder to which relative paths are relative.
    pub(crate) base: PathBuf,
    /// `OUT_DIR` of the build script.
    pub(crate) out_dir: Option<PathBuf>,
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

    /// The folder for all builds without one of their own.
    pub(crate) fn default_target_dir(&self) -> PathBuf {
        match &self.out_dir {
            Some(out_dir) => out_dir.join("cuda_builder"),
            None => self.base.join("target/cuda_builder"),
        }
    }

    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        self.base.join(path)
    }

    pub(crate) fn announce_change(&self, path: &Path) {
        // If the path did not exist, cargo would run the script every time.
        if path.exists() {
            self.tell_cargo(&format!("rerun-if-changed={}", path.display()));
        }
    }

    pub(crate) fn tell_cargo(&self, instruction: &str) {
        if self.out_dir.is_some() {
            println!("cargo::{instruction}");
        }
    }
}

/// Ends a build script with an error, which cargo shows as its own.
///
/// Cargo does not show the script's output or the word "panicked".
pub fn exit_with_error(error: &impl Display) -> ! {
    for line in error.to_string().lines() {
        println!("cargo::error={line}");
    }
    // With a failure, cargo would also show the script's output. It has the errors already.
    process::exit(0);
}
