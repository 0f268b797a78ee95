//! Errors between Rust source and PTX, and their remedies.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::arch::Arch;

/// How to get a device toolchain: the end of the message if none is found.
const HOW_TO_INSTALL: &str = "\
install one of:
  rustup:  rustup component add rust-src llvm-tools (for the active toolchain)
  Debian:  apt-get install rustc-web cargo-web rust-web-src llvm-22 (LLVM's version as in `rustc -vV`)
or set CUDA_BUILDER_TOOLCHAIN to a folder with bin/rustc and bin/cargo, and CUDA_BUILDER_LLVM \
to the folder of llvm-link, opt and llc";

/// The reason why kernels could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// No searched place holds a complete device toolchain.
    #[error("no toolchain that compiles Rust for the GPU was found\n{}{HOW_TO_INSTALL}", list(.rejected))]
    NoToolchain {
        /// Each searched place, and what is wrong with it.
        rejected: Vec<RejectedToolchain>,
    },

    /// A program of the device toolchain is missing.
    #[error("could not find `{tool}` in {}; {install}", join_paths(.looked_in))]
    MissingTool {
        /// The name of the program.
        tool: String,
        /// The searched folders.
        looked_in: Vec<PathBuf>,
        /// What to install, or which environment variable to set.
        install: String,
    },

    /// The Rust toolchain lacks the sources of `core`, which is compiled with the kernels.
    #[error(
        "the Rust toolchain in {} lacks the sources of core (lib/rustlib/src/rust/library); \
         install them with `rustup component add rust-src`, or Debian's rust-web-src for \
         rustc-web (rust-src for rustc)",
        .sysroot.display()
    )]
    MissingCoreSources {
        /// The sysroot of the toolchain.
        sysroot: PathBuf,
    },

    /// LLVM's tools cannot read the bitcode of a rustc that has another LLVM version.
    #[error(
        "{} is of LLVM {tool_llvm}, but {} writes bitcode of LLVM {rustc_llvm}: both need the same \
         major version; install LLVM's tools of that version and set CUDA_BUILDER_LLVM to their \
         folder",
        .tool.display(), .rustc.display()
    )]
    LlvmVersionMismatch {
        /// The compiler.
        rustc: PathBuf,
        /// The LLVM version the compiler reports.
        rustc_llvm: String,
        /// The LLVM tool with another version.
        tool: PathBuf,
        /// The LLVM version the tool reports.
        tool_llvm: String,
    },

    /// The given path is not a kernel crate.
    #[error("{} is not a kernel crate: {reason}", .path.display())]
    NotAKernelCrate {
        /// The path given to [`CudaBuilder::new`](crate::CudaBuilder::new), made absolute.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },

    /// The kernel crate, or one of its dependencies, does not compile for the GPU.
    #[error("{} does not compile for {arch}:\n{diagnostics}", .kernel_crate.display())]
    CompileFailed {
        /// The folder of the kernel crate.
        kernel_crate: PathBuf,
        /// The architecture it was compiled for.
        arch: Arch,
        /// The output of cargo and rustc.
        diagnostics: String,
    },

    /// A kernel's annotation or signature cannot be used.
    #[error("kernel `{kernel}`: {reason}")]
    InvalidKernel {
        /// The kernel's name, or the whole annotation if it names none.
        kernel: String,
        /// What is wrong with it.
        reason: String,
    },

    /// The compiler wrote LLVM IR that this crate cannot read.
    #[error(
        "unexpected LLVM IR from the compiler: {reason}\n  {line}\n\
         tilewright-cuda-builder has to learn this form; another rustc version may avoid it"
    )]
    UnexpectedIr {
        /// What was expected.
        reason: String,
        /// The line of IR.
        line: String,
    },

    /// The kernels need functions or statics that do not exist on the GPU.
    #[error(
        "the kernels for {arch} use symbols that nothing defines: {}\n\
         each is an `extern` item without a body for the GPU; define it in the kernel crate or in \
         one of its dependencies, or remove its use",
        .symbols.join(", ")
    )]
    UndefinedSymbols {
        /// The architecture of the module.
        arch: Arch,
        /// The symbols, demangled.
        symbols: Vec<String>,
    },

    /// Two kernels that would get separate modules use the same static in global or constant memory. Each module would
    /// have a copy of it.
    #[error(
        "the kernels `{}` and `{}` both use the static `{symbol}`, and with one module per kernel \
         each would have its own copy: build the crate without `one_module_per_kernel`, or move \
         the kernels that share the static to a separate crate",
        .kernels[0], .kernels[1]
    )]
    SharedStatic {
        /// The static, demangled.
        symbol: String,
        /// Two of the kernels that use it.
        kernels: [String; 2],
    },

    /// A program of the device toolchain failed.
    #[error("{} failed ({status}):\n{command}\n{stderr}", .tool.display())]
    ToolFailed {
        /// The program.
        tool: PathBuf,
        /// Its exit status.
        status: String,
        /// The command line.
        command: String,
        /// Its standard error.
        stderr: String,
    },

    /// A file or folder could not be read or written, or a program could not be started.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// The action, such as "write".
        action: &'static str,
        /// The file, folder or program.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

impl BuildError {
    /// Whether this machine has no device toolchain at all, so that a build script may use existing PTX.
    ///
    /// A broken toolchain that `CUDA_BUILDER_TOOLCHAIN` names is not "missing": it was requested.
    #[must_use]
    pub fn is_missing_toolchain(&self) -> bool {
        matches!(self, BuildError::NoToolchain { .. })
    }

    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> BuildError {
        let path = path.to_owned();
        move |source| BuildError::Io {
            action,
            path,
            source,
        }
    }
}

/// A place that was searched for a device toolchain, and what was wrong with it.
#[derive(Debug)]
#[non_exhaustive]
pub struct RejectedToolchain {
    /// The place, in words.
    pub place: String,
    /// The reason why it cannot be used.
    pub reason: String,
}

impl fmt::Display for RejectedToolchain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.reason)
    }
}

fn list(rejected: &[RejectedToolchain]) -> String {
    rejected
        .iter()
        .map(|candidate| format!("  {candidate}\n"))
        .collect()
}

fn join_paths(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths
        .iter()
        .map(|path| path.display().to_string())
        .collect();
    paths.join(", ")
}
