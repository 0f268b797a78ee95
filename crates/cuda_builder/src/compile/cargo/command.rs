//! The command lines and the flags of the inner cargo.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::messages::Messages;
use crate::arch::Arch;
use crate::builder::Debugging;
use crate::compile::process::{clean_environment, run_for_output};
use crate::compile::toolchain::Toolchain;
use crate::error::BuildError;

/// Cargo's own settings. It passes a profile's settings to rustc before the flags, so [`rustc_flags`] override
/// settings of single packages that would reach the kernels.
const PROFILE: [&str; 2] = [
    "profile.release.lto=\"off\"",
    "profile.release.strip=\"none\"",
];

/// The flags of every crate for the GPU, whatever the workspace's profiles say. The IR is not optimised until the
/// builder has rewritten it: before that, LLVM would move barriers that are not yet marked convergent.
///
/// One of rustc's own passes must not run: jump threading. It copies calls into the branches around them, and two
/// copies of a shuffle or a barrier in two branches no longer meet.
const RUSTC_FLAGS: [&str; 8] = [
    "-Cno-prepopulate-passes",
    "-Zmir-enable-passes=-JumpThreading",
    "-Cpanic=abort",
    "-Csymbol-mangling-version=v0",
    "-Copt-level=3",
    // One object per crate: items stay in the order of the source.
    "-Ccodegen-units=1",
    "-Coverflow-checks=off",
    "-Cdebug-assertions=off",
];

/// The flags of `core` and of the kernels, except the architecture's and those that remap paths.
pub(super) fn rustc_flags(debugging: Debugging) -> Vec<String> {
    let mut flags: Vec<String> = RUSTC_FLAGS.map(str::to_owned).into();
    let lines = match debugging.line_information {
        // Enough for LLVM's `.loc` and `.file`, without debugger tables.
        true => "line-directives-only",
        false => "0",
    };
    flags.push(format!("-Cdebuginfo={lines}"));
    flags
}

pub(super) fn with_device_profile(command: &mut Command) {
    for setting in PROFILE {
        command.args(["--config", setting]);
    }
    // This cargo variable has precedence over profiles.
    command.env("CARGO_INCREMENTAL", "0");
}

/// Keeps this machine's folders out of panic messages and symbol names.
pub(super) fn remapped_paths(toolchain: &Toolchain, workspace: Option<&Path>) -> Vec<String> {
    let sources = toolchain.sysroot.join("lib/rustlib/src/rust");
    let workspace = workspace.map(|folder| (folder.to_owned(), "/workspace"));
    let cargo_home = cargo_home().map(|folder| (folder, "/cargo"));
    let remapped = workspace
        .into_iter()
        .chain([(sources, "/rust")])
        .chain(cargo_home);
    remapped
        .map(|(from, to)| format!("--remap-path-prefix={}={to}", from.display()))
        .collect()
}

/// The compiler's errors, or cargo's own message.
pub(super) fn compile_failed(
    package: &Path,
    arch: Arch,
    messages: &Messages,
    stderr: &[u8],
) -> BuildError {
    let errors = messages.errors();
    BuildError::CompileFailed {
        kernel_crate: package.to_owned(),
        arch,
        diagnostics: if errors.is_empty() {
            String::from_utf8_lossy(stderr).into_owned()
        } else {
            errors
        },
    }
}

/// The root of the kernel crate's workspace, which may be its own folder.
pub(crate) fn workspace_root(
    toolchain: &Toolchain,
    kernel_crate: &Path,
) -> Result<PathBuf, BuildError> {
    let mut command = cargo_command(toolchain, kernel_crate);
    command.args(["locate-project", "--workspace", "--message-format", "plain"]);
    let manifest = run_for_output(&mut command)?;
    let root = Path::new(manifest.trim_end()).parent();
    Ok(root.unwrap_or(kernel_crate).to_owned())
}

pub(super) fn cargo_command(toolchain: &Toolchain, folder: &Path) -> Command {
    let mut command = Command::new(&toolchain.cargo);
    clean_environment(&mut command);
    command
        .current_dir(folder)
        .env("RUSTC", &toolchain.rustc)
        // The GPU target's ABI and `-Zbuild-std` are unstable; this makes a stable compiler accept them.
        .env("RUSTC_BOOTSTRAP", "1");
    command
}

fn cargo_home() -> Option<PathBuf> {
    let default = || env::home_dir().map(|home| home.join(".cargo"));
    env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(default)
}
