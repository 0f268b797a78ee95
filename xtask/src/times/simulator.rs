//! Build times of programs and tests on the simulator, in packages outside the repository.

use super::waiting::{Line, cargo, median_after_edits, timed, with_kernel};
use crate::workspace::Result;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The README's first program, from `cargo new` to its sum, without downloads.
pub fn first_program(root: &Path) -> Result<[Line; 4]> {
    let parent = TempDir::new()?;
    let folder = parent.path().join("first_sum");
    let (_, new) = timed(|| cargo(parent.path(), &["new", "--quiet", "first_sum"]))?;
    let manifest = folder.join("Cargo.toml");
    let dependency = format!("tilewright = {{ path = {root:?} }}\n");
    fs::write(&manifest, fs::read_to_string(&manifest)? + &dependency)?;
    let program = first_rust_block(&fs::read_to_string(root.join("README.md"))?)?;
    fs::write(folder.join("src/main.rs"), &program)?;
    // The repository's versions, which are probably already downloaded.
    fs::copy(root.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    cargo(&folder, &["fetch"])?;
    let (_, first) = timed(|| cargo(&folder, &["run"]))?;
    let (_, unchanged) = timed(|| cargo(&folder, &["run"]))?;
    let edited = median_after_edits(
        |number| {
            Ok(fs::write(
                folder.join("src/main.rs"),
                format!("{program}// {number}\n"),
            )?)
        },
        || cargo(&folder, &["run"]),
    )?;
    Ok([
        ("`cargo new`", new),
        ("`cargo run`, the first", first),
        ("`cargo run`, nothing has changed", unchanged),
        ("`cargo run`, the program was edited", edited),
    ])
}

/// The first block of Rust on a page.
fn first_rust_block(page: &str) -> Result<String> {
    let mut parts = page.split("```rust\n").skip(1);
    let block = parts.next().and_then(|rest| rest.split_once("```"));
    let (block, _) = block.ok_or("the page has no Rust")?;
    Ok(block.to_owned())
}

/// The tests of a copy of examples/custom_kernel, which run its kernels under several schedules.
pub fn tests_of_kernels(root: &Path) -> Result<[Line; 3]> {
    let folder = TempDir::new()?;
    let example = root.join("examples/custom_kernel");
    for part in ["", "kernels", "src", "tests", "benches"] {
        copy_files(&example.join(part), &folder.path().join(part))?;
    }
    for manifest in ["Cargo.toml", "kernels/Cargo.toml"] {
        let path = folder.path().join(manifest);
        fs::write(&path, with_paths_from(&fs::read_to_string(&path)?, root))?;
    }
    let tests = || cargo(folder.path(), &["test", "--test", "simulator"]);
    cargo(folder.path(), &["fetch"])?;
    let (_, first) = timed(tests)?;
    let (_, unchanged) = timed(tests)?;
    let kernels = folder.path().join("kernels/lib.rs");
    let source = fs::read_to_string(&kernels)?;
    let edited = median_after_edits(
        |number| Ok(fs::write(&kernels, with_kernel(&source, number))?),
        tests,
    )?;
    Ok([
        ("`cargo test --test simulator`, the first", first),
        (
            "`cargo test --test simulator`, nothing has changed",
            unchanged,
        ),
        ("`cargo test --test simulator`, a kernel was added", edited),
    ])
}

/// A manifest whose paths to the repository, two or three folders up, begin with `root`.
fn with_paths_from(manifest: &str, root: &Path) -> String {
    let root = root.display();
    let manifest = manifest.replace("\"../../../", &format!("\"{root}/"));
    let manifest = manifest.replace("\"../../", &format!("\"{root}/"));
    manifest.replace("\"../..\"", &format!("\"{root}\""))
}

/// Copies the files of a folder, without its folders.
fn copy_files(from: &Path, to: &Path) -> Result {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_out_of_the_example_lead_into_the_repository() {
        let manifest = "a = { path = \"../..\" }\nb = { path = \"../../crates/b\" }\n\
                        c = { path = \"../../../crates/c\" }\nd = { path = \"kernels\" }\n";
        assert_eq!(
            with_paths_from(manifest, Path::new("/r")),
            "a = { path = \"/r\" }\nb = { path = \"/r/crates/b\" }\n\
             c = { path = \"/r/crates/c\" }\nd = { path = \"kernels\" }\n"
        );
    }

    #[test]
    fn the_first_program_is_the_first_block_of_rust() {
        let page = "Text.\n\n```toml\na\n```\n\n```rust\nfn main() {}\n```\n\n```rust\nb\n```\n";
        assert_eq!(first_rust_block(page).unwrap(), "fn main() {}\n");
        assert!(first_rust_block("```toml\na\n```\n").is_err());
    }
}
