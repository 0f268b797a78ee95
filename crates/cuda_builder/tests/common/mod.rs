//! Writes the fixture crates to a workspace of their own, and builds them.

#![allow(dead_code, reason = "no test file uses all of it")]

use std::fs;
use std::path::{Path, PathBuf};

use cuda_builder::{BuildError, CudaBuilder, Toolchain};

const CRATES: [&str; 5] = ["kernels", "device", "broken", "undefined", "shared"];

/// A copy of the fixtures under `CARGO_TARGET_TMPDIR`.
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Writes the workspace to the folder `name`. Unchanged crates are not rewritten, so that a second run of the
    /// tests compiles nothing.
    pub fn new(name: &str) -> Workspace {
        Self::with_profiles(name, "")
    }

    /// As [`new`](Self::new), with `profiles` in the manifest of the workspace.
    pub fn with_profiles(name: &str, profiles: &str) -> Workspace {
        let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let members = CRATES.map(|name| format!("{name:?}")).join(", ");
        write(
            &root.join("Cargo.toml"),
            &format!("[workspace]\nresolver = \"3\"\nmembers = [{members}]\n{profiles}"),
        );
        for name in CRATES {
            let source = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/fixtures")
                .join(name);
            let source = fs::read_to_string(source.join("lib.rs")).unwrap();
            write(&root.join(name).join("lib.rs"), &source);
            write(&root.join(name).join("Cargo.toml"), &manifest(name));
        }
        Workspace { root }
    }

    /// A builder for one of the fixture crates, with the `core` of all tests.
    pub fn builder(&self, kernel_crate: &str) -> CudaBuilder {
        let builder = CudaBuilder::new(self.root.join(kernel_crate));
        let builder = builder.target_dir(self.root.join("out"));
        builder.core_dir(core_dir())
    }

    /// The folder of the workspace.
    pub fn root(&self) -> &Path {
        &self.root
    }
}

/// The folder of the tests' `core`.
pub fn core_dir() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("core")
}

fn manifest(name: &str) -> String {
    let dependencies = match name {
        "kernels" => "[dependencies]\nfixture-device = { path = \"../device\" }\n",
        _ => "",
    };
    format!(
        "[package]\nname = \"fixture-{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
         [lib]\npath = \"lib.rs\"\n{dependencies}"
    )
}

fn write(path: &Path, content: &str) {
    if fs::read_to_string(path).is_ok_and(|present| present == content) {
        return;
    }
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Whether this machine can compile for the GPU; prints a message if it cannot.
pub fn has_toolchain() -> bool {
    match Toolchain::find() {
        Ok(toolchain) => {
            eprintln!("device toolchain: {toolchain}");
            true
        }
        Err(error) if error.is_missing_toolchain() => {
            skip(&error);
            false
        }
        Err(error) => panic!("{error}"),
    }
}

fn skip(error: &BuildError) {
    use std::io::Write;
    // Directly to the terminal: the test harness hides the output of a passing test.
    let _ = writeln!(std::io::stderr(), "skipped: no device toolchain ({error})");
}
