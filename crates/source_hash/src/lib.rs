//! A fingerprint of Rust sources that is the same on every machine.
//!
//! It is also the same in a published package as in the repository that it was packed from.
//!
//! tilewright's PTX is compiled before publication. It is launched with the kernels' descriptors, which are compiled
//! with the program. Both must come from the same sources. So each crate that kernels are made of has its fingerprint
//! as a constant ([`export`]), and the manifest beside the PTX has the fingerprints of the sources that the PTX was
//! compiled from.
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! let hash = source_hash::source_hash("src".as_ref())?;
//! assert_eq!(hash.len(), 64);
//! # Ok(())
//! # }
//! ```

use hmac_sha256::Hash;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The SHA-256 of the paths and contents of a package's `.rs` and `.ll` files, in lower-case hexadecimal.
///
/// `source` is the package's folder, or a single file. Paths are relative to it.
///
/// The hash does not depend on the folder's location, on the order in which the file system lists it, or on line
/// endings (CRLF counts as LF). Packages inside the folder, `target` and hidden folders are skipped, and symbolic
/// links are not followed. A folder's `Cargo.toml` is not included, because cargo rewrites it in a published package.
///
/// # Errors
/// A folder or a file cannot be read, or a name is not UTF-8.
pub fn source_hash(source: &Path) -> io::Result<String> {
    let mut hasher = Hash::new();
    for (name, path) in sources_of(source)? {
        let content = fs::read(&path).map_err(|error| at_path(&path, &error))?;
        hash_framed(&mut hasher, name.as_bytes());
        hash_framed(&mut hasher, &with_unix_newlines(&content));
    }
    Ok(hexadecimal(hasher.finalize()))
}

/// The SHA-256 of some bytes, in lower-case hexadecimal.
///
/// ```
/// let hash = source_hash::sha256(b"abc");
/// assert_eq!(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
/// ```
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(Hash::hash(bytes))
}

fn hexadecimal(digest: [u8; 32]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Gives the crate the variable `SOURCE_HASH` from a build script: the [`source_hash`] of its folder `source`.
///
/// `source` is relative to the package. Cargo runs the script again when one of the files changes.
///
/// # Errors
/// Those of [`source_hash`].
pub fn export(source: &str) -> io::Result<()> {
    let source = Path::new(source);
    for (_, path) in sources_of(source)? {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    println!("cargo::rustc-env=SOURCE_HASH={}", source_hash(source)?);
    Ok(())
}

/// Lengths keep two different lists of files from giving the same bytes.
fn hash_framed(hasher: &mut Hash, bytes: &[u8]) {
    hasher.update((bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

/// The files that are included, as (relative name with `/`, path), sorted by name.
fn sources_of(source: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut sources = Vec::new();
    if source.is_file() {
        let name = utf8_name(source.file_name().unwrap_or_default(), source)?;
        sources.push((name, source.to_owned()));
    } else {
        collect_sources(source, "", &mut sources)?;
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
        if file_type.is_dir() && is_of_the_package(&name, &path) {
            collect_sources(&path, &format!("{relative}/"), sources)?;
        } else if file_type.is_file() && is_source(&name) {
            sources.push((relative, path));
        }
    }
    Ok(())
}

/// Whether a folder's files belong to the package around it, as cargo sees it.
fn is_of_the_package(name: &str, path: &Path) -> bool {
    name != "target" && !name.starts_with('.') && !path.join("Cargo.toml").exists()
}

fn is_source(name: &str) -> bool {
    let extension = Path::new(name).extension().and_then(|text| text.to_str());
    matches!(extension, Some("rs" | "ll"))
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
    use tempfile::TempDir;

    fn write(root: &Path, files: &[(&str, &str)]) {
        for (path, content) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
    }

    fn folder(files: &[(&str, &str)]) -> TempDir {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), files);
        root
    }

    fn hash(root: &TempDir) -> String {
        source_hash(root.path()).unwrap()
    }

    const FILES: [(&str, &str); 4] = [
        ("Cargo.toml", "[package]\n"),
        ("src/lib.rs", "mod a;\n"),
        ("src/a.rs", ""),
        ("prelude.ll", "; text\n"),
    ];

    #[test]
    fn place_line_ends_and_other_files_do_not_matter() {
        let mut files = FILES.to_vec();
        files[1].1 = "mod a;\r\n";
        files.extend([("target/x.rs", "x"), (".git/x.rs", "x"), ("README.md", "x")]);
        assert_eq!(hash(&folder(&FILES)), hash(&folder(&files)));
    }

    #[test]
    fn what_packing_changes_does_not_matter() {
        let packed = [
            ("Cargo.toml", "# Rewritten by cargo.\n[package]\n"),
            ("Cargo.toml.orig", "[package]\n"),
            ("Cargo.lock", "version = 4\n"),
            (".cargo_vcs_info.json", "{}"),
            FILES[1],
            FILES[2],
            FILES[3],
        ];
        assert_eq!(hash(&folder(&FILES)), hash(&folder(&packed)));
    }

    #[test]
    fn a_package_inside_does_not_matter() {
        let root = folder(&FILES);
        let before = hash(&root);
        write(
            root.path(),
            &[("ladder/Cargo.toml", ""), ("ladder/lib.rs", "mod b;\n")],
        );
        assert_eq!(hash(&root), before);
        fs::remove_file(root.path().join("ladder/Cargo.toml")).unwrap();
        assert_ne!(hash(&root), before);
    }

    #[test]
    fn contents_and_names_matter() {
        let root = folder(&FILES);
        let before = hash(&root);
        fs::rename(root.path().join("src/a.rs"), root.path().join("src/b.rs")).unwrap();
        let renamed = hash(&root);
        assert_ne!(renamed, before);
        write(root.path(), &[("src/lib.rs", "mod b;\n")]);
        assert_ne!(hash(&root), renamed);
    }

    #[test]
    fn the_hash_is_fixed() {
        let root = folder(&[("lib.rs", "one\r\ntwo\rthree\n")]);
        // sha256 of "lib.rs" and "one\ntwo\rthree\n", each after its length.
        let mut bytes = Vec::new();
        for part in [&b"lib.rs"[..], b"one\ntwo\rthree\n"] {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part);
        }
        let expected = sha256(&bytes);
        assert_eq!(hash(&root), expected);
        assert_eq!(source_hash(&root.path().join("lib.rs")).unwrap(), expected);
    }

    #[test]
    fn an_unreadable_folder_is_named() {
        let error = source_hash(Path::new("no/such/folder")).unwrap_err();
        assert!(error.to_string().starts_with("no/such/folder: "), "{error}");
    }
}
