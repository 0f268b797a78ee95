//! Programs that the builder runs, in an environment without the outer build's settings.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::error::BuildError;

/// Cargo variables that the inner cargo keeps: where crates come from, and how to reach the user and the outer
/// cargo's job server.
const KEPT_CARGO_VARIABLES: [&str; 8] = [
    "CARGO_HOME",
    "CARGO_HTTP_",
    "CARGO_MAKEFLAGS",
    "CARGO_NET_",
    "CARGO_REGISTRIES_",
    "CARGO_REGISTRY_",
    "CARGO_SOURCE_",
    "CARGO_TERM_",
];

/// Variables besides `CARGO*`, `RUSTC*` and `RUSTDOC*` that configure the outer build.
const REMOVED_VARIABLES: [&str; 11] = [
    "RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
    "OUT_DIR",
    "TARGET",
    "HOST",
    "NUM_JOBS",
    "OPT_LEVEL",
    "PROFILE",
    "DEBUG",
    "RUST_RECURSION_COUNT",
    "__CARGO_DEFAULT_LIB_METADATA",
];

/// Hides the outer build from `command`: its flags, profile, compiler and target directory.
pub(crate) fn clean_environment(command: &mut Command) {
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(configures_outer_build) {
            command.env_remove(name);
        }
    }
    if let Some(value) = env::var_os("LD_LIBRARY_PATH") {
        command.env("LD_LIBRARY_PATH", without_rust_libraries(&value));
    }
}

fn configures_outer_build(name: &str) -> bool {
    let prefixes = ["CARGO", "RUSTC", "RUSTDOC", "DEP_"];
    let outer =
        REMOVED_VARIABLES.contains(&name) || prefixes.iter().any(|prefix| name.starts_with(prefix));
    outer && !is_kept(name)
}

fn is_kept(name: &str) -> bool {
    KEPT_CARGO_VARIABLES
        .iter()
        .any(|kept| name == *kept || (kept.ends_with('_') && name.starts_with(kept)))
}

/// The search path without the outer compiler's libraries, which rustup and cargo put first and which another
/// compiler must not load.
fn without_rust_libraries(search_path: &OsStr) -> std::ffi::OsString {
    let kept = env::split_paths(search_path).filter(|folder| !holds_rust_libraries(folder));
    env::join_paths(kept).unwrap_or_default()
}

fn holds_rust_libraries(folder: &Path) -> bool {
    folder.join("rustlib").is_dir()
        || folder
            .components()
            .any(|part| part.as_os_str() == "rustlib")
}

/// Runs a program that must succeed and returns its standard output.
pub(crate) fn run_for_output(command: &mut Command) -> Result<String, BuildError> {
    let output = start(command)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(BuildError::ToolFailed {
        tool: command.get_program().into(),
        status: output.status.to_string(),
        command: format!("{command:?}"),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Runs a program to its end, whatever its exit status.
pub(crate) fn start(command: &mut Command) -> Result<Output, BuildError> {
    let program = PathBuf::from(command.get_program());
    command
        .stdin(Stdio::null())
        .output()
        .map_err(BuildError::io("run", &program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outer_build_is_hidden_and_the_registry_is_not() {
        for name in [
            "CARGO",
            "CARGO_MANIFEST_DIR",
            "CARGO_TARGET_DIR",
            "CARGO_PROFILE_RELEASE_LTO",
        ] {
            assert!(configures_outer_build(name), "{name}");
        }
        for name in [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "RUSTC_WRAPPER",
            "RUSTUP_TOOLCHAIN",
        ] {
            assert!(configures_outer_build(name), "{name}");
        }
        for name in [
            "CARGO_HOME",
            "CARGO_NET_OFFLINE",
            "CARGO_REGISTRIES_X_INDEX",
            "PATH",
            "HOME",
        ] {
            assert!(!configures_outer_build(name), "{name}");
        }
        assert!(configures_outer_build("CARGO_HOMEPAGE"));
    }

    #[test]
    fn library_paths_of_rust_toolchains_are_dropped() {
        let path = OsStr::new("/opt/cuda/lib:/x/lib/rustlib/x86_64-unknown-linux-gnu/lib");
        assert_eq!(without_rust_libraries(path), "/opt/cuda/lib");
    }
}
