//! Finds the compiler and the LLVM tools that turn Rust into PTX.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

use crate::compile::process::{clean_environment, run_for_output};
use crate::error::{BuildError, RejectedToolchain};

/// Names a folder with `bin/rustc` and `bin/cargo`; nothing else is searched when it is set.
pub(crate) const TOOLCHAIN_VARIABLE: &str = "CUDA_BUILDER_TOOLCHAIN";
/// Names the folder of `llvm-link`, `opt` and `llc`.
pub(crate) const LLVM_VARIABLE: &str = "CUDA_BUILDER_LLVM";

/// The name of the GPU target in rustc.
pub(crate) const TARGET: &str = "nvptx64-nvidia-cuda";

const INSTALL_RUST: &str = "install Rust with rustup, or Debian's rustc-web and cargo-web, or set \
                            CUDA_BUILDER_TOOLCHAIN to the folder that has bin/rustc and bin/cargo";

const LLVM_TOOLS: [&str; 3] = ["llvm-link", "opt", "llc"];

/// A Rust compiler and LLVM tools of the same LLVM version, which together compile for the GPU.
#[derive(Clone, Debug)]
pub struct Toolchain {
    pub(crate) cargo: PathBuf,
    pub(crate) rustc: PathBuf,
    pub(crate) sysroot: PathBuf,
    llvm: PathBuf,
    rustc_version: String,
    llvm_version: String,
    /// The whole output of `rustc -vV`.
    rustc_description: String,
}

impl Toolchain {
    /// Searches for a device toolchain.
    ///
    /// 1. If the environment variable `CUDA_BUILDER_TOOLCHAIN` names a folder: its `bin/rustc` and `bin/cargo`, and
    ///    nothing else.
    /// 2. The active toolchain: that of the calling cargo, or else the `rustc` in the `PATH`.
    /// 3. `/usr/bin/rustc` and `/usr/bin/cargo`.
    ///
    /// It must have the sources of `core`. The LLVM tools are those in `CUDA_BUILDER_LLVM`, or else in the toolchain
    /// itself, or else in `/usr/lib/llvm-N/bin`, where N is the major version of rustc's LLVM.
    ///
    /// # Errors
    ///
    /// [`BuildError::NoToolchain`] with the searched places. If `CUDA_BUILDER_TOOLCHAIN` is set, the error says what
    /// is wrong with that toolchain.
    pub fn find() -> Result<Toolchain, BuildError> {
        Search::from_environment().find()
    }

    /// The path of one of the LLVM tools.
    pub(crate) fn llvm_tool(&self, name: &str) -> PathBuf {
        self.llvm.join(name)
    }

    /// A line that changes with the compiler. A distribution may patch a compiler without a new version.
    pub(crate) fn fingerprint(&self) -> String {
        let file = fs::metadata(&self.rustc);
        let changed = file.and_then(|it| it.modified()).ok();
        let changed = changed.and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        let description = self.rustc_description.replace('\n', ", ");
        format!("{} {changed:?} {description}", self.rustc.display())
    }

    /// The release of the compiler, such as `1.96.0`.
    #[must_use]
    pub fn rustc_version(&self) -> &str {
        &self.rustc_version
    }

    /// The LLVM version of the compiler, such as `22.1.8`.
    #[must_use]
    pub fn llvm_version(&self) -> &str {
        &self.llvm_version
    }
}

impl fmt::Display for Toolchain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "rustc {} ({}) with LLVM {} ({})",
            self.rustc_version,
            self.rustc.display(),
            self.llvm_version,
            self.llvm.display()
        )
    }
}

/// The places of a search for a toolchain.
struct Search {
    /// `CUDA_BUILDER_TOOLCHAIN`.
    chosen_toolchain: Option<PathBuf>,
    /// `CUDA_BUILDER_LLVM`.
    chosen_llvm: Option<PathBuf>,
    /// The compiler of the calling cargo, which may be rustup's proxy.
    active_rustc: OsString,
    /// The system's own toolchain.
    system: PathBuf,
}

impl Search {
    fn from_environment() -> Search {
        Search {
            chosen_toolchain: env::var_os(TOOLCHAIN_VARIABLE).map(PathBuf::from),
            chosen_llvm: env::var_os(LLVM_VARIABLE).map(PathBuf::from),
            active_rustc: env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()),
            system: PathBuf::from("/usr"),
        }
    }

    fn find(&self) -> Result<Toolchain, BuildError> {
        if let Some(folder) = &self.chosen_toolchain {
            return self.toolchain_in(folder);
        }
        let mut rejected = Vec::new();
        let mut reject = |place: String, error: BuildError| {
            let reason = error.to_string();
            rejected.push(RejectedToolchain { place, reason });
        };
        match self.active_toolchain() {
            Ok(toolchain) => return Ok(toolchain),
            Err(error) => reject("the active Rust toolchain".to_owned(), error),
        }
        match self.toolchain_in(&self.system) {
            Ok(toolchain) => return Ok(toolchain),
            Err(error) => reject(self.system.display().to_string(), error),
        }
        Err(BuildError::NoToolchain { rejected })
    }

    fn active_toolchain(&self) -> Result<Toolchain, BuildError> {
        // The environment is left unchanged: rustup's proxy reads the active toolchain from it.
        let sysroot = sysroot_of(Command::new(&self.active_rustc))?;
        self.toolchain_in(&sysroot)
    }

    /// The toolchain with `bin/rustc` and `bin/cargo` in `folder`.
    fn toolchain_in(&self, folder: &Path) -> Result<Toolchain, BuildError> {
        let bin = [folder.join("bin")];
        let rustc = find_tool("rustc", &bin, INSTALL_RUST)?;
        let cargo = find_tool("cargo", &bin, INSTALL_RUST)?;
        let sysroot = sysroot_of(clean_command(&rustc))?;
        check_core_sources(&sysroot)?;
        let version = RustcVersion::of(&rustc)?;
        let llvm = self.llvm(&sysroot, &version)?;
        check_llvm_versions(&llvm, &version, &rustc)?;
        Ok(Toolchain {
            cargo,
            rustc,
            sysroot,
            llvm,
            rustc_version: version.release,
            llvm_version: version.llvm,
            rustc_description: version.description,
        })
    }

    /// The first folder that has all LLVM tools.
    fn llvm(&self, sysroot: &Path, version: &RustcVersion) -> Result<PathBuf, BuildError> {
        let major = major(&version.llvm);
        let folders = match &self.chosen_llvm {
            Some(folder) => vec![folder.clone()],
            None => vec![
                sysroot.join("lib/rustlib").join(&version.host).join("bin"),
                PathBuf::from(format!("/usr/lib/llvm-{major}/bin")),
            ],
        };
        let is_complete =
            |folder: &&PathBuf| LLVM_TOOLS.iter().all(|tool| folder.join(tool).is_file());
        if let Some(folder) = folders.iter().find(is_complete) {
            return Ok(folder.clone());
        }
        Err(BuildError::MissingTool {
            tool: LLVM_TOOLS.join("`, `"),
            looked_in: folders,
            install: format!(
                "install `rustup component add llvm-tools`, or Debian's llvm-{major}, or set \
                 {LLVM_VARIABLE} to the folder that has them"
            ),
        })
    }
}

fn clean_command(program: &Path) -> Command {
    let mut command = Command::new(program);
    clean_environment(&mut command);
    command
}

fn sysroot_of(mut rustc: Command) -> Result<PathBuf, BuildError> {
    rustc.args(["--print", "sysroot"]);
    Ok(PathBuf::from(run_for_output(&mut rustc)?.trim_end()))
}

fn find_tool(tool: &str, folders: &[PathBuf], install: &str) -> Result<PathBuf, BuildError> {
    folders
        .iter()
        .map(|folder| folder.join(format!("{tool}{}", env::consts::EXE_SUFFIX)))
        .find(|path| path.is_file())
        .ok_or_else(|| BuildError::MissingTool {
            tool: tool.to_owned(),
            looked_in: folders.to_vec(),
            install: install.to_owned(),
        })
}

fn check_core_sources(sysroot: &Path) -> Result<(), BuildError> {
    let library = sysroot.join("lib/rustlib/src/rust/library");
    if library.join("core/Cargo.toml").is_file() {
        return Ok(());
    }
    Err(BuildError::MissingCoreSources {
        sysroot: sysroot.to_owned(),
    })
}

fn check_llvm_versions(
    folder: &Path,
    version: &RustcVersion,
    rustc: &Path,
) -> Result<(), BuildError> {
    for tool in LLVM_TOOLS.map(|tool| folder.join(tool)) {
        let tool_llvm = llvm_version_of(&tool)?;
        if major(&tool_llvm) != major(&version.llvm) {
            return Err(BuildError::LlvmVersionMismatch {
                rustc: rustc.to_owned(),
                rustc_llvm: version.llvm.clone(),
                tool,
                tool_llvm,
            });
        }
    }
    Ok(())
}

fn llvm_version_of(tool: &Path) -> Result<String, BuildError> {
    let text = run_for_output(Command::new(tool).arg("--version"))?;
    Ok(parse_llvm_version(&text).unwrap_or("(unknown)").to_owned())
}

/// Extracts `22.1.8` from `Debian LLVM version 22.1.8` or `LLVM version 22.1.2-rust-1.95.0-stable`.
fn parse_llvm_version(text: &str) -> Option<&str> {
    let (_, version) = text.split_once("LLVM version ")?;
    version
        .split(|c: char| c.is_whitespace() || c == '-')
        .next()
}

fn major(version: &str) -> &str {
    version.split('.').next().unwrap_or(version)
}

/// The output of `rustc -vV`.
struct RustcVersion {
    host: String,
    release: String,
    llvm: String,
    /// The whole text.
    description: String,
}

impl RustcVersion {
    fn of(rustc: &Path) -> Result<RustcVersion, BuildError> {
        let text = run_for_output(clean_command(rustc).arg("-vV"))?;
        Ok(RustcVersion {
            host: version_field(&text, "host: "),
            release: version_field(&text, "release: "),
            llvm: version_field(&text, "LLVM version: "),
            description: text,
        })
    }
}

fn version_field(text: &str, name: &str) -> String {
    text.lines()
        .find_map(|line| line.strip_prefix(name))
        .unwrap_or("(unknown)")
        .to_owned()
}

#[cfg(test)]
mod tests;
