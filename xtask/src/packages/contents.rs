//! The required contents of every published package.

use crate::workspace::{Result, workspace_root};
use std::fs;
use std::path::{Path, PathBuf};

const FILES: [&str; 3] = ["README.md", "LICENSE-MIT", "LICENSE-APACHE"];

/// Required keys of a package's manifest, and their values if common to all.
const KEYS: [(&str, Option<&str>); 7] = [
    ("description", None),
    ("keywords", None),
    ("categories", None),
    ("repository", Some(env!("CARGO_PKG_REPOSITORY"))),
    ("license", Some(env!("CARGO_PKG_LICENSE"))),
    ("rust-version", Some(env!("CARGO_PKG_RUST_VERSION"))),
    ("readme", Some("README.md")),
];

/// Checks each unpacked package.
pub fn check(packages: &[(String, PathBuf)]) -> Result {
    for (name, folder) in packages {
        let missing = missing(folder)?;
        if !missing.is_empty() {
            return Err(format!("the package {name} lacks {}", missing.join(", ")).into());
        }
    }
    Ok(())
}

fn missing(folder: &Path) -> Result<Vec<String>> {
    let manifest = fs::read_to_string(folder.join("Cargo.toml"))?;
    let files = FILES.iter().filter(|it| !folder.join(it).is_file());
    let keys = KEYS.iter().filter(|(key, value)| {
        let start = match value {
            Some(value) => format!("{key} = \"{value}\""),
            None => format!("{key} = "),
        };
        !manifest.lines().any(|line| line.starts_with(&start))
    });
    let keys = keys.map(|(key, value)| format!("{key} = {}", value.unwrap_or("..")));
    Ok(files.map(|it| (*it).to_owned()).chain(keys).collect())
}

/// Checks that the repository's Rust version is at least the oldest that the packages support.
pub fn check_rust_version() -> Result {
    let toolchain = fs::read_to_string(workspace_root().join("rust-toolchain.toml"))?;
    is_promised(&toolchain, env!("CARGO_PKG_RUST_VERSION"))
}

/// Checks the channel of `toolchain`, a `rust-toolchain.toml`, against the oldest version.
fn is_promised(toolchain: &str, oldest: &str) -> Result {
    let mut lines = toolchain.lines();
    let channel = lines.find_map(|line| line.strip_prefix("channel = \"")?.strip_suffix('"'));
    let channel = channel.ok_or("rust-toolchain.toml names no channel")?;
    if release(channel)? < release(oldest)? {
        let message = format!("rust-toolchain.toml has {channel}, the packages promise {oldest}");
        return Err(message.into());
    }
    Ok(())
}

/// The two numbers of a version such as `1.88` or `1.95.0`.
fn release(version: &str) -> Result<(u32, u32)> {
    let mut numbers = version.split('.').map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Ok((major, minor)),
        _ => Err(format!("`{version}` is no version of Rust").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_package_lacks_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["README.md", "LICENSE-MIT"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        let manifest = format!(
            "[package]\nname = \"a\"\ndescription = \"A.\"\nkeywords = []\ncategories = []\n\
             readme = \"README.md\"\nlicense = \"MIT\"\nrepository = {:?}\nrust-version = {:?}\n",
            env!("CARGO_PKG_REPOSITORY"),
            env!("CARGO_PKG_RUST_VERSION"),
        );
        fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
        assert_eq!(
            missing(folder.path()).unwrap(),
            ["LICENSE-APACHE", "license = MIT OR Apache-2.0"]
        );
    }

    #[test]
    fn the_repository_is_built_with_a_version_that_it_promises() {
        check_rust_version().unwrap();
        let channel = |name: &str| format!("[toolchain]\nchannel = \"{name}\"\ncomponents = []\n");
        for newer in ["1.88.0", "1.95.0", "1.100.0", "2.0.0"] {
            is_promised(&channel(newer), "1.88").unwrap();
        }
        for other in ["1.87.0", "1.9.0", "stable", "1"] {
            is_promised(&channel(other), "1.88").unwrap_err();
        }
        is_promised("[toolchain]\n", "1.88").unwrap_err();
    }
}
