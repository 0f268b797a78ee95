//! What a library with kernels must not contain, found when the library is compiled for the host.
//!
//! A kernel crate is compiled twice. For a GPU it has `core` alone; for a host the device library
//! links the standard library, whose methods of floats a `no_std` crate then has too. Without a
//! check such code is right in the simulator and does not compile for the GPU. So each `#[kernel]` of
//! a library is searched, and the first one reads the library's sources and lists what it finds in
//! the functions that are no kernels.
//!
//! Kernels of programs, tests and documentation run on the simulator alone, and are not checked.
//! Neither are packages of registries, which were checked before they were published, and other build
//! systems' calls of the compiler that do not look like cargo's.

mod files;
mod scan;
mod tokens;

use crate::compiler::Target;
use proc_macro2::TokenStream;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Errors for what the library has that a GPU does not: those in the kernel `function`, where they
/// stand, and for the library's first kernel all that is in no kernel, with its places as text.
pub fn errors(function: &TokenStream) -> Vec<syn::Error> {
    let Some(library) = Library::that_is_compiled() else {
        return Vec::new();
    };
    let findings = scan::findings(function, &library.own_methods).into_iter();
    let mut errors: Vec<_> = findings
        .map(|it| syn::Error::new(it.span, it.message))
        .collect();
    if !library.report.is_empty() && !library.is_reported.swap(true, Ordering::Relaxed) {
        let report = &library.report;
        let message = format!("this library does not compile for the GPU\n{report}");
        errors.push(syn::Error::new(proc_macro2::Span::call_site(), message));
    }
    errors
}

/// The library that the compiler runs for.
struct Library {
    own_methods: BTreeSet<String>,
    /// A line for each thing that a GPU does not have, and that is in no kernel.
    report: String,
    is_reported: AtomicBool,
}

impl Library {
    fn that_is_compiled() -> Option<&'static Self> {
        static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
        let library = LIBRARY.get_or_init(|| library_root(std::env::args()).map(Self::read));
        library.as_ref()
    }

    fn read(root: PathBuf) -> Self {
        let files = files::files_of_crate(root);
        let own_methods = scan::own_methods(files.iter().map(|(_, tokens)| tokens));
        Self {
            report: report(&files, &own_methods),
            own_methods,
            is_reported: AtomicBool::new(false),
        }
    }
}

/// Whether the compiler's arguments are those of a library, for a host and without tests, whose sources are at
/// hand to be changed.
pub fn is_library() -> bool {
    library_root(std::env::args()).is_some()
}

/// The file of the crate root.
fn library_root(arguments: impl Iterator<Item = String>) -> Option<PathBuf> {
    let arguments: Vec<_> = arguments.collect();
    if Target::of(arguments.iter().cloned()) == Target::Gpu {
        return None;
    }
    let (mut root, mut is_library) = (None, false);
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            // cargo's, for packages of registries.
            "--test" | "--cap-lints" => return None,
            "--crate-type" => is_library |= matches!(arguments.next()?.as_str(), "lib" | "rlib"),
            path if path.ends_with(".rs") => root = Some(PathBuf::from(path)),
            _ => {}
        }
    }
    root.filter(|_| is_library)
}

/// A line for each finding outside of kernels.
fn report(files: &[(PathBuf, TokenStream)], own_methods: &BTreeSet<String>) -> String {
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
    for (path, tokens) in files {
        for finding in scan::findings_outside_kernels(tokens, own_methods) {
            let start = finding.span.start();
            lines.push(format!(
                "{}:{}:{}: {}",
                path.display(),
                start.line,
                start.column + 1,
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
        assert_eq!(root_of(&format!("{library} --cap-lints allow")), None);
        assert_eq!(root_of("rustdoc --test src/lib.rs --crate-type lib"), None);
        assert_eq!(
            root_of(&format!("{library} --target nvptx64-nvidia-cuda")),
            None
        );
        assert_eq!(root_of("rust-analyzer-proc-macro-srv"), None);
    }
}
