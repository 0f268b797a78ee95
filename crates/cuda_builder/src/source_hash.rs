//! A fingerprint of kernel sources that is the same on every machine.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// Returns the SHA-256, in lower-case hexadecimal, of everything PTX is built from in the given
/// folders: the relative paths and contents of all `.rs` files, `.ll` files and `Cargo.toml`s.
///
/// It does not depend on where the folders lie, on the order the file system lists them in, nor
/// on line endings (CRLF counts as LF). Folders named `target` and hidden ones are skipped, and
/// symbolic links are not followed. The order of `kernel_crate_dirs` matters; an entry may also
/// be a single file.
///
/// # Errors
///
/// When a folder or file cannot be read, or a file's path is not UTF-8.
pub fn source_hash(kernel_crate_dirs: &[&Path]) -> io::Result<String> {
    let mut hasher = Sha256::new();
    for (index, root) in kernel_crate_dirs.iter().enumerate() {
        for (name, path) in sources_below(root)? {
            hash_framed(&mut hasher, &(index as u64).to_le_bytes());
            hash_framed(&mut hasher, name.as_bytes());
            let content = fs::read(&path).map_err(|error| at_path(&path, &error))?;
            hash_framed(&mut hasher, &with_unix_newlines(&content));
        }
    }
    let mut text = String::with_capacity(64);
    for byte in hasher.finalize() {
        write!(text, "{byte:02x}").expect("writing to a String cannot fail");
    }
    Ok(text)
}

/// Lengths keep two different lists of files from giving the same byte stream.
fn hash_framed(hasher: &mut Sha256, bytes: &[u8]) {
    hasher.update((bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

/// The sources under `root` as (relative name with `/`, path), sorted by name.
fn sources_below(root: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut sources = Vec::new();
    if root.is_file() {
        let name = utf8_name(root.file_name().unwrap_or_default(), root)?;
        sources.push((name, root.to_owned()));
    } else {
        collect_sources(root, "", &mut sources)?;
        sources.sort();
    }
    Ok(sources)
}

fn collect_sources(
    folder: &Path,
    prefix: &str,
    sources: &mut Vec<(String, PathBuf)>,
) -> io::Result<()> {
    for entry in fs::read_dir(folder).map_err(|error| at_path(folder, &error))? {
        let entry = entry?;
        let path = entry.path();
        let file_type = entry.file_type()?;
        let name = utf8_name(&entry.file_name(), &path)?;
        let relative = format!("{prefix}{name}");
        if file_type.is_dir() && name != "target" && !name.starts_with('.') {
            collect_sources(&path, &format!("{relative}/"), sources)?;
        } else if file_type.is_file() && is_source(&name) {
            sources.push((relative, path));
        }
    }
    Ok(())
}

fn is_source(name: &str) -> bool {
    name == "Cargo.toml"
        || matches!(
            Path::new(name).extension().and_then(|text| text.to_str()),
            Some("rs" | "ll")
        )
}

fn utf8_name(name: &std::ffi::OsStr, path: &Path) -> io::Result<String> {
    name.to_str().map(str::to_owned).ok_or_else(|| {
        let reason = format!("{}: the name is not UTF-8", path.display());
        io::Error::new(io::ErrorKind::InvalidData, reason)
    })
}

fn at_path(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn with_unix_newlines(content: &[u8]) -> Vec<u8> {
    let followed_by_newline = |index: usize| content.get(index + 1) == Some(&b'\n');
    content
        .iter()
        .enumerate()
        .filter(|&(index, &byte)| byte != b'\r' || !followed_by_newline(index))
        .map(|(_, &byte)| byte)
        .collect()
}
