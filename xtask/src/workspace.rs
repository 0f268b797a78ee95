//! Shared parts of all commands.

use std::error::Error;
use std::path::{Path, PathBuf};

/// The result of a command; the error is one line.
pub type Result<T = (), E = Box<dyn Error>> = std::result::Result<T, E>;

/// The root of the workspace in which this program was built.
pub fn workspace_root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask).to_owned()
}
