//! Finds code that a GPU does not support when a library with kernels is compiled for the host.
//!
//! A kernel crate is compiled twice. For a GPU it has only `core`. For a host the device library links the standard
//! library, whose float methods are then available even to a `no_std` crate: such code works in the simulator but
//! does not compile for the GPU. So each `#[kernel]` of a library is searched, and the first one also reads the
//! library's sources and searches the other functions.
//!
//! Kernels of programs, tests and documentation run only in the simulator, and are not checked. Packages from
//! registries were checked before they were published. Compiler calls that do not look like cargo's are not checked
//! either.

mod files;
mod scan;
mod tokens;

use crate::compiler::Target;
use proc_macro2::TokenStream;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Errors for code that a GPU does not support.
///
/// Those in the kernel `function` have its spans. The library's first kernel adds one error for all
/// code outside kernels, with locations as text.
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

/// The library being compiled.
struct Library {
    own_methods: BTreeSet<String>,
    /// A line for each finding outside kernels.
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

/// Whether the compiler builds a library for a host, without tests, and from local sources.
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
            // cargo passes it for packages from registries.
            "--test" | "--cap-lints" => return None,
            "--crate-type" => is_library |= matches!(arguments.next()?.as_str(), "lib" | "rlib"),
            path if path.ends_with(".rs") => root = Some(PathBuf::from(path)),
            _ => {}
        }
    }
    root.filter(|_| is_library)
}

/// A line for each finding outside kernels.
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
