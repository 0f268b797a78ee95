//! Why a kernel was not run.

use crate::npy::NpyError;
use std::path::PathBuf;
use thiserror::Error;

/// The reason why a kernel was not run. Findings are not errors: [`Report`](crate::Report) has them.
#[derive(Clone, PartialEq, Debug, Error)]
#[non_exhaustive]
pub enum CheckError {
    /// A file that cannot be read or written.
    #[error("{}: {message}", path.display())]
    File {
        /// Its path.
        path: PathBuf,
        /// What the system says.
        message: String,
    },
    /// An invalid launch file.
    #[error("{0}")]
    Toml(String),
    /// A text that is not PTX.
    #[error(transparent)]
    Read(#[from] ptx::ReadError),
    /// A kernel that cannot be run, with the lines of its instructions that are not supported.
    #[error(transparent)]
    Program(#[from] ptx::ProgramError),
    /// The module has no such kernel.
    #[error("there is no kernel `{name}`: the module has {}", listed(kernels))]
    NoKernel {
        /// The requested name.
        name: String,
        /// The kernels that it has.
        kernels: Vec<String>,
    },
    /// Arguments that do not match the kernel's parameters.
    #[error(transparent)]
    Arguments(#[from] ptx::ArgumentError),
    /// An argument that does not fit its parameter.
    #[error("argument {number}: {message}")]
    Argument {
        /// Its number, from 0.
        number: usize,
        /// What is wrong.
        message: String,
    },
    /// A buffer that cannot be made.
    #[error("buffer `{name}`: {message}")]
    Buffer {
        /// Its name.
        name: String,
        /// What is wrong.
        message: String,
    },
    /// A number that its type does not have.
    #[error(
        "{0} is no {1}: integers are written without a point, and lie in the range of their type"
    )]
    Number(f64, &'static str),
    /// A block that the kernel's bounds exclude.
    #[error("a block of {block:?} threads, but the kernel has the bound `{bound}`")]
    Block {
        /// Threads by dimension.
        block: [u32; 3],
        /// The bound, as in the PTX.
        bound: String,
    },
    /// An empty grid, block or cluster.
    #[error("the {what} is zero {of}, {extent:?}: each dimension is at least 1")]
    Empty {
        /// Which it is.
        what: &'static str,
        /// Its units: `threads` or `blocks`.
        of: &'static str,
        /// The extent by dimension.
        extent: [u32; 3],
    },
    /// A cluster that the kernel's bounds or the device exclude.
    #[error("a cluster of {cluster:?} blocks, but {reason}")]
    Cluster {
        /// Blocks by dimension.
        cluster: [u32; 3],
        /// The bound or device that excludes it.
        reason: String,
    },
    /// Variables that do not fit into any device's constant memory.
    #[error("the module has {0} bytes of constant memory: at most 65536 are loaded")]
    ConstantMemory(u64),
    /// An invalid range of random numbers.
    #[error("random numbers of type {element} from {least:?} to {most:?}: {reason}")]
    Range {
        /// The type of the numbers.
        element: &'static str,
        /// The smallest number.
        least: f64,
        /// The end of the range.
        most: f64,
        /// Why there are none.
        reason: &'static str,
    },
    /// No schedules, or more than there are seeds.
    #[error(
        "{schedules} schedules from seed {first_seed} on: there is at least one, and seeds have 64 bits"
    )]
    Schedules {
        /// The first one.
        first_seed: u64,
        /// How many.
        schedules: u64,
    },
    /// An array file that cannot be used.
    #[error(transparent)]
    Npy(#[from] NpyError),
    /// A kernel that samples textures, which launch files cannot make.
    #[error("the kernel samples textures")]
    Textures,
    /// The host has no memory left.
    #[error("the host has no memory left")]
    OutOfMemory,
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "none".to_owned(),
        names => names.join(", "),
    }
}
