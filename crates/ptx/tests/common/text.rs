//! The library's checked-in PTX.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use tilewright_ptxas::unpacked;

/// The folder of the library's checked-in PTX, unpacked.
static UNPACKED: LazyLock<PathBuf> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = unpacked(&root, "ptx").unwrap();
    files[0].with_file_name("")
});

/// The checked-in PTX of a kernel of the library for an architecture such as `sm_75`.
pub fn text(name: &str, arch: &str) -> Option<String> {
    std::fs::read_to_string(UNPACKED.join(format!("{name}.{arch}.ptx"))).ok()
}
