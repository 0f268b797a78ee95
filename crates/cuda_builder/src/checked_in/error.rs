//! Errors of checked-in PTX.

use std::io;
use std::path::PathBuf;

use crate::error::BuildError;

/// The reason why checked-in PTX cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckedInError {
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },

    /// The manifest was not made by `write`.
    #[error("{path}: line {line} is no line of a PTX manifest: `{text}`")]
    Malformed {
        /// The manifest.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The line.
        text: String,
    },

    /// A source has changed since the PTX was built.
    #[error("{source_path} has changed since the PTX in {folder} was built: build it again")]
    StaleSource {
        /// The folder of the PTX.
        folder: PathBuf,
        /// The source, as the manifest names it.
        source_path: String,
    },

    /// `Cargo.lock` has another version of a package that is compiled into the modules.
    #[error(
        "the PTX in {folder} was built with {package} {version}, which Cargo.lock does not have: \
         build it again"
    )]
    StalePackage {
        /// The folder of the PTX.
        folder: PathBuf,
        /// The package's name.
        package: String,
        /// The version in the modules.
        version: String,
    },

    /// The kernels are to have panic locations or line information, which the PTX lacks.
    #[error(
        "the PTX in {folder} was built without places of panics and without lines of the source"
    )]
    NoDebugging {
        /// The folder of the PTX.
        folder: PathBuf,
    },

    /// The archive of the modules is not the one that was written with the manifest.
    #[error("{path} has changed since it was built: build it again")]
    ChangedArchive {
        /// The archive.
        path: PathBuf,
    },
}

/// The reason why [`images`](super::images) returns no images.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImagesError {
    /// The checked-in PTX cannot be read, or has changed.
    #[error(transparent)]
    CheckedIn(#[from] CheckedInError),

    /// The kernels differ from the checked-in PTX, and do not compile.
    #[error(transparent)]
    Build(#[from] BuildError),

    /// The kernels differ from the checked-in PTX, and this machine has no device toolchain.
    #[error("{stale}\n{error}")]
    NoToolchain {
        /// The difference.
        stale: Box<CheckedInError>,
        /// The searched toolchains.
        error: Box<BuildError>,
    },
    /// The kernels differ from the checked-in PTX, and this build of the crate cannot compile.
    #[error(
        "{stale}\nonly the feature `compile` of tilewright-cuda-builder compiles kernels where they are used"
    )]
    NotCompiled {
        /// The difference.
        stale: Box<CheckedInError>,
    },
}
