//! Libraries loaded at run time.

use crate::common::Result;
use libloading::Library;

/// Opens the first of these libraries that the loader finds.
pub fn open_library(names: &[&str]) -> Result<Library> {
    let mut reasons = Vec::new();
    for name in names {
        // SAFETY: the initialisation of the library has no requirements.
        match unsafe { Library::new(*name) } {
            Ok(library) => return Ok(library),
            Err(error) => reasons.push(error.to_string()),
        }
    }
    Err(reasons.join("; ").into())
}
