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

#[cfg(test)]
mod tests {
    use super::*;

    /// A new folder with the given files.
    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let process = std::process::id();
        let root = std::env::temp_dir().join(format!("source_hash-{process}-{name}"));
        for (path, content) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        root
    }

    const FILES: [(&str, &str); 4] = [
        ("Cargo.toml", "[package]\n"),
        ("src/lib.rs", "mod a;\n"),
        ("src/a.rs", ""),
        ("prelude.ll", "; text\n"),
    ];

    #[test]
    fn place_line_ends_and_other_files_do_not_matter() {
        let plain = folder("plain", &FILES);
        let mut files = FILES.to_vec();
        files[1].1 = "mod a;\r\n";
        files.extend([("target/x.rs", "x"), (".git/x.rs", "x"), ("README.md", "x")]);
        let noisy = folder("noisy/deeper", &files);
        let expected = source_hash(&[&plain]).unwrap();
        assert_eq!(expected.len(), 64);
        assert_eq!(source_hash(&[&noisy]).unwrap(), expected);
        fs::remove_dir_all(plain).unwrap();
        fs::remove_dir_all(noisy).unwrap();
    }

    #[test]
    fn contents_names_and_folders_matter() {
        let root = folder("a", &FILES);
        let before = source_hash(&[&root]).unwrap();
        assert_ne!(source_hash(&[&root, &root]).unwrap(), before);
        let file = root.join("src/lib.rs");
        assert_ne!(source_hash(&[&root, &file]).unwrap(), before);
        fs::rename(root.join("src/a.rs"), root.join("src/b.rs")).unwrap();
        let renamed = source_hash(&[&root]).unwrap();
        assert_ne!(renamed, before);
        fs::write(&file, "mod b;\n").unwrap();
        assert_ne!(source_hash(&[&root]).unwrap(), renamed);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn the_hash_is_fixed() {
        let root = folder("fixed", &[("lib.rs", "one\r\ntwo\rthree\n")]);
        let hash = source_hash(&[&root]).unwrap();
        fs::remove_dir_all(root).unwrap();
        // sha256 of: index 0, "lib.rs", "one\ntwo\rthree\n", each behind its length.
        let mut bytes = Vec::new();
        for part in [&0_u64.to_le_bytes()[..], b"lib.rs", b"one\ntwo\rthree\n"] {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        let expected: String = Sha256::digest(bytes)
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(hash, expected);
    }

    #[test]
    fn an_unreadable_folder_is_named() {
        let error = source_hash(&[Path::new("no/such/folder")]).unwrap_err();
        assert!(error.to_string().starts_with("no/such/folder: "), "{error}");
    }
}
