//! Where the builder runs, and what it tells the cargo that runs it.

use std::env;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process;

use crate::error::BuildError;

/// Where this process runs: in a build script or elsewhere.
pub(crate) struct Surroundings {
    /// What relative paths are relative to.
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

    pub(crate) fn absolute(&self, path: &Path) -> PathBuf {
        self.base.join(path)
    }

    pub(crate) fn announce_change(&self, path: &Path) {
        // A path that does not exist would make cargo run the script every time.
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

/// Ends a build script with an error, which cargo shows as its own: without the script's output and
/// the word "panicked".
pub fn exit_with_error(error: &impl Display) -> ! {
    for line in error.to_string().lines() {
        println!("cargo::error={line}");
    }
    // cargo has the errors already, and would add the script's output to a failure.
    process::exit(0);
}
