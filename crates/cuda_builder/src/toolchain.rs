//! Finds the compiler and the LLVM tools that turn Rust into PTX.

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::{clean_environment, run_for_output};
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
    pub(crate) core: Core,
    llvm: PathBuf,
    rustc_version: String,
    llvm_version: String,
}

/// Where the GPU's `core` crate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Core {
    /// Compiled from the sources in the sysroot, with the flags of the kernels.
    Sources,
    /// The one that rustup installs with the target.
    Prebuilt,
}

impl Toolchain {
    /// Searches for a device toolchain.
    ///
    /// 1. Where the environment variable `CUDA_BUILDER_TOOLCHAIN` names a folder, its `bin/rustc`
    ///    and `bin/cargo`, and nothing else.
    /// 2. The active toolchain: the one of the calling cargo, else the `rustc` in the `PATH`.
    /// 3. `/usr/bin/rustc` and `/usr/bin/cargo`.
    ///
    /// It must have the sources of `core` or the nvptx64 target. The LLVM tools are those in
    /// `CUDA_BUILDER_LLVM`, else in the toolchain itself, else in `/usr/lib/llvm-N/bin` where N is
    /// the major version of rustc's LLVM.
    ///
    /// # Errors
    ///
    /// [`BuildError::NoToolchain`] with what was searched; when `CUDA_BUILDER_TOOLCHAIN` is set,
    /// what is wrong with that toolchain.
    pub fn find() -> Result<Toolchain, BuildError> {
        if let Some(folder) = env::var_os(TOOLCHAIN_VARIABLE) {
            return Toolchain::in_folder(Path::new(&folder));
        }
        let mut rejected = Vec::new();
        match active_sysroot().and_then(|sysroot| Toolchain::in_folder(&sysroot)) {
            Ok(toolchain) => return Ok(toolchain),
            Err(error) => rejected.push(reject("the active Rust toolchain", &error)),
        }
        match Toolchain::in_folder(Path::new("/usr")) {
            Ok(toolchain) => Ok(toolchain),
            Err(error) => {
                rejected.push(reject("/usr/bin", &error));
                Err(BuildError::NoToolchain { rejected })
            }
        }
    }

    /// The toolchain with `bin/rustc` and `bin/cargo` in `folder`.
    fn in_folder(folder: &Path) -> Result<Toolchain, BuildError> {
        let bin = [folder.join("bin")];
        let rustc = find_tool("rustc", &bin, INSTALL_RUST)?;
        let cargo = find_tool("cargo", &bin, INSTALL_RUST)?;
        let sysroot = sysroot_of(rustc.as_os_str())?;
        let core = core_in(&sysroot)?;
        let version = RustcVersion::of(&rustc)?;
        let llvm = find_llvm(&sysroot, &version, &rustc)?;
        Ok(Toolchain {
            cargo,
            rustc,
            sysroot,
            core,
            llvm,
            rustc_version: version.release,
            llvm_version: version.llvm,
        })
    }

    /// The path of one of the LLVM tools.
    pub(crate) fn llvm_tool(&self, name: &str) -> PathBuf {
        self.llvm.join(name)
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

fn reject(place: &str, error: &BuildError) -> RejectedToolchain {
    RejectedToolchain {
        place: place.to_owned(),
        reason: error.to_string(),
    }
}

/// The sysroot of the calling cargo's compiler, which rustup may have chosen.
fn active_sysroot() -> Result<PathBuf, BuildError> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    // The environment stays as it is: rustup's proxy reads the active toolchain from it.
    let mut command = Command::new(rustc);
    command.args(["--print", "sysroot"]);
    Ok(PathBuf::from(run_for_output(&mut command)?.trim_end()))
}

fn sysroot_of(rustc: &OsStr) -> Result<PathBuf, BuildError> {
    let mut command = Command::new(rustc);
    clean_environment(&mut command);
    command.args(["--print", "sysroot"]);
    Ok(PathBuf::from(run_for_output(&mut command)?.trim_end()))
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

fn core_in(sysroot: &Path) -> Result<Core, BuildError> {
    let rustlib = sysroot.join("lib/rustlib");
    // Sources come first: a `core` built from them has the flags of the kernels.
    if rustlib.join("src/rust/library/core/Cargo.toml").is_file() {
        Ok(Core::Sources)
    } else if rustlib.join(TARGET).join("lib").is_dir() {
        Ok(Core::Prebuilt)
    } else {
        Err(BuildError::MissingCore {
            sysroot: sysroot.to_owned(),
        })
    }
}

/// The folder of LLVM tools whose major version is that of rustc.
fn find_llvm(sysroot: &Path, version: &RustcVersion, rustc: &Path) -> Result<PathBuf, BuildError> {
    let folders = match env::var_os(LLVM_VARIABLE) {
        Some(folder) => vec![PathBuf::from(folder)],
        None => vec![
            sysroot.join("lib/rustlib").join(&version.host).join("bin"),
            PathBuf::from(format!("/usr/lib/llvm-{}/bin", major(&version.llvm))),
        ],
    };
    let install = format!(
        "install it with `rustup component add llvm-tools`, or Debian's llvm-{}, or set \
         {LLVM_VARIABLE} to its folder",
        major(&version.llvm)
    );
    let first = find_tool(LLVM_TOOLS[0], &folders, &install)?;
    let folder = first.parent().unwrap_or(Path::new("")).to_owned();
    for tool in LLVM_TOOLS {
        let tool = find_tool(tool, std::slice::from_ref(&folder), &install)?;
        check_llvm_version(tool, version, rustc)?;
    }
    Ok(folder)
}

fn check_llvm_version(
    tool: PathBuf,
    version: &RustcVersion,
    rustc: &Path,
) -> Result<(), BuildError> {
    let tool_llvm = llvm_version_of(&tool)?;
    if major(&tool_llvm) == major(&version.llvm) {
        return Ok(());
    }
    Err(BuildError::LlvmVersionMismatch {
        rustc: rustc.to_owned(),
        rustc_llvm: version.llvm.clone(),
        tool,
        tool_llvm,
    })
}

fn llvm_version_of(tool: &Path) -> Result<String, BuildError> {
    let text = run_for_output(Command::new(tool).arg("--version"))?;
    Ok(parse_llvm_version(&text).unwrap_or("(unknown)").to_owned())
}

/// Takes `22.1.8` out of `Debian LLVM version 22.1.8` or `LLVM version 22.1.2-rust-1.95.0-stable`.
fn parse_llvm_version(text: &str) -> Option<&str> {
    let (_, version) = text.split_once("LLVM version ")?;
    version
        .split(|c: char| c.is_whitespace() || c == '-')
        .next()
}

fn major(version: &str) -> &str {
    version.split('.').next().unwrap_or(version)
}

/// What `rustc -vV` says.
struct RustcVersion {
    host: String,
    release: String,
    llvm: String,
}

impl RustcVersion {
    fn of(rustc: &Path) -> Result<RustcVersion, BuildError> {
        let mut command = Command::new(rustc);
        clean_environment(&mut command);
        command.arg("-vV");
        let text = run_for_output(&mut command)?;
        Ok(RustcVersion {
            host: version_field(&text, "host: "),
            release: version_field(&text, "release: "),
            llvm: version_field(&text, "LLVM version: "),
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
mod tests {
    use super::*;

    #[test]
    fn reads_llvm_versions() {
        let debian = "Debian LLVM version 22.1.8\n  Optimized build.\n";
        assert_eq!(parse_llvm_version(debian), Some("22.1.8"));
        let rustup = "LLVM (http://llvm.org/):\n  LLVM version 22.1.2-rust-1.95.0-stable\n";
        assert_eq!(parse_llvm_version(rustup), Some("22.1.2"));
        assert_eq!(major("22.1.8"), "22");
    }

    #[test]
    fn reads_rustc_version_fields() {
        let text = "rustc 1.96.0\nhost: x86_64-unknown-linux-gnu\nLLVM version: 22.1.8\n";
        assert_eq!(version_field(text, "host: "), "x86_64-unknown-linux-gnu");
        assert_eq!(version_field(text, "LLVM version: "), "22.1.8");
        assert_eq!(version_field(text, "release: "), "(unknown)");
    }
}
