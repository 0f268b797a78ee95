//! What a library with kernels must not contain, found when the library is compiled for the host.
//!
//! A kernel crate is compiled twice. For a GPU it has `core` alone; for a host the device library
//! links the standard library, whose methods of floats a `no_std` crate then has too. Without a
//! check such code is right in the simulator and does not compile for the GPU. So the first
//! `#[kernel]` of a library reads the library's sources, and its error lists what it finds.
//!
//! Kernels of programs, tests and documentation run on the simulator alone, and are not checked.
//! Neither are other build systems' calls of the compiler that do not look like cargo's.

mod files;
mod scan;
mod tokens;

use std::path::PathBuf;
use std::sync::Once;

/// What is wrong with the sources of the library that is compiled, for the first caller.
pub fn first_report() -> Option<String> {
    static FIRST: Once = Once::new();
    let mut report = None;
    FIRST.call_once(|| {
        let findings = library_root(std::env::args()).map(findings);
        report = findings.filter(|it| !it.is_empty());
    });
    report
}

/// Whether the compiler's arguments are those of a library, for a host and without tests.
pub fn is_library() -> bool {
    library_root(std::env::args()).is_some()
}

/// The file of the crate root.
fn library_root(mut arguments: impl Iterator<Item = String>) -> Option<PathBuf> {
    let (mut root, mut is_library) = (None, false);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--test" => return None,
            "--crate-type" => is_library |= matches!(arguments.next()?.as_str(), "lib" | "rlib"),
            "--target" if arguments.next()?.starts_with("nvptx64") => return None,
            path if path.ends_with(".rs") => root = Some(PathBuf::from(path)),
            _ => {}
        }
    }
    root.filter(|_| is_library)
}

/// A line for each finding.
fn findings(root: PathBuf) -> String {
    let files = files::files_of_crate(root);
    let mut lines = Vec::new();
    if let Some((path, root)) = files.first()
        && !files::is_no_std(root)
    {
        lines.push(format!(
            "{}:1:1: a library with kernels is compiled for the GPU, which has no standard library: \
             write `#![no_std]` in its first line, and move what needs `std` to the crate that \
             launches the kernels",
            path.display()
        ));
    }
    let own_methods = scan::own_methods(files.iter().map(|(_, tokens)| tokens));
    for (path, tokens) in &files {
        for finding in scan::findings(tokens, &own_methods) {
            let (line, column) = finding.place;
            lines.push(format!(
                "{}:{line}:{column}: {}",
                path.display(),
                finding.message
            ));
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root_of(arguments: &str) -> Option<PathBuf> {
        library_root(arguments.split(' ').map(str::to_owned))
    }

    #[test]
    fn libraries_for_a_host_are_checked() {
        let library = "rustc --crate-name k --edition=2024 kernels/lib.rs --crate-type lib";
        assert_eq!(root_of(library), Some(PathBuf::from("kernels/lib.rs")));
        assert_eq!(
            root_of("rustc --crate-name p src/main.rs --crate-type bin"),
            None
        );
        assert_eq!(root_of("rustc --crate-name t tests/t.rs --test"), None);
        assert_eq!(root_of("rustdoc --test src/lib.rs --crate-type lib"), None);
        assert_eq!(
            root_of(&format!("{library} --target nvptx64-nvidia-cuda")),
            None
        );
        assert_eq!(root_of("rust-analyzer-proc-macro-srv"), None);
    }
}
