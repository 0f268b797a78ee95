//! Target and dependencies, from the compiler's arguments: a macro has no other source for them.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use std::path::Path;
use std::sync::OnceLock;
use std::{env, fs};

/// The arguments of this process, including those in response files.
fn arguments() -> impl Iterator<Item = String> {
    env::args().flat_map(|argument| match argument.strip_prefix('@') {
        Some(file) => match fs::read_to_string(file) {
            Ok(text) => text.lines().map(str::to_owned).collect(),
            Err(_) => vec![argument],
        },
        None => vec![argument],
    })
}

/// The path of the device library, from the compiler's list of crates. A path that begins with a plain name could
/// resolve to a module or an import of the kernel's crate.
pub fn device_library() -> TokenStream {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    match LIBRARY.get_or_init(|| Library::of(arguments())) {
        Library::Crate(name) => {
            let name = format_ident!("{name}");
            quote! { ::#name }
        }
        Library::Reexported(name) => {
            let name = format_ident!("{name}");
            quote! { ::#name::cuda_std }
        }
        Library::Itself => quote! { crate },
        Library::InScope => quote! { cuda_std },
    }
}

/// [`device_library`] for code to which errors and the simulator's reports refer as `span`.
pub fn device_library_at(span: Span) -> TokenStream {
    let tokens = device_library().into_iter();
    tokens
        .map(|mut token| {
            token.set_span(span);
            token
        })
        .collect()
}

/// How a crate reaches the device library.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Library {
    /// A dependency of this name.
    Crate(String),
    /// A re-export of `tilewright`, a dependency of this name.
    Reexported(String),
    /// The crate is the device library.
    Itself,
    /// Whatever is in scope: for editors, whose expansions do not run.
    InScope,
}

impl Library {
    fn of(arguments: impl Iterator<Item = String>) -> Self {
        let arguments: Vec<_> = arguments.collect();
        let externs = || externs(&arguments);
        let named =
            |krate: &str| externs().find_map(|(name, of)| (of == krate).then(|| name.to_owned()));
        let is_itself = || {
            let mut pairs = arguments.windows(2);
            pairs.any(|pair| pair[0] == "--crate-name" && pair[1] == "cuda_std")
        };
        if let Some(name) = named("cuda_std") {
            Self::Crate(name)
        } else if let Some(name) = named("tilewright") {
            Self::Reexported(name)
        } else if Target::of(arguments.iter().cloned()) == Target::Unknown {
            Self::InScope
        } else if is_itself() && !is_rustdoc(&arguments) {
            Self::Itself
        } else {
            Self::Crate("cuda_std".to_owned())
        }
    }
}

/// The crates in the compiler's arguments: each one's name here, and its own.
///
/// `--extern priv:short=deps/libtilewright-0123.rlib` gives `tilewright` the name `short`.
fn externs(arguments: &[String]) -> impl Iterator<Item = (&str, &str)> {
    let after = |index: usize| match arguments[index].strip_prefix("--extern") {
        Some("") => arguments.get(index + 1).map(String::as_str),
        Some(rest) => rest.strip_prefix('='),
        None => None,
    };
    (0..arguments.len()).filter_map(after).map(|value| {
        let value = value.split_once(':').map_or(value, |(options, named)| {
            // The path after the name may also have a colon.
            if options.contains('=') { value } else { named }
        });
        match value.split_once('=') {
            Some((name, path)) => (name, crate_of_file(path).unwrap_or(name)),
            None => (value, value),
        }
    })
}

/// `tilewright` of `deps/libtilewright-0123.rlib`.
fn crate_of_file(path: &str) -> Option<&str> {
    let stem = Path::new(path).file_stem()?.to_str()?;
    let name = stem.strip_prefix("lib").unwrap_or(stem);
    Some(name.split_once('-').map_or(name, |(name, _)| name))
}

fn is_rustdoc(arguments: &[String]) -> bool {
    let compiler = arguments.first().map(Path::new).and_then(Path::file_stem);
    compiler.is_some_and(|name| name == "rustdoc")
}

/// The target of a compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Gpu,
    Host,
    /// Unknown: the process is an editor's macro server, not a compiler.
    Unknown,
}

impl Target {
    /// The running compiler's target.
    pub fn of_compiler() -> Self {
        Self::of(arguments())
    }

    /// The target in the arguments of a compiler, which always have the crate's name, and a target
    /// unless it is the host.
    pub fn of(mut arguments: impl Iterator<Item = String>) -> Self {
        let mut target = Self::Unknown;
        while let Some(argument) = arguments.next() {
            let triple = match argument.as_str() {
                "--crate-name" if target == Self::Unknown => {
                    target = Self::Host;
                    continue;
                }
                "--target" => arguments.next(),
                other => other.strip_prefix("--target=").map(str::to_owned),
            };
            if triple.is_some_and(|triple| triple.starts_with("nvptx64")) {
                return Self::Gpu;
            }
        }
        target
    }

    /// Whether GPU-only code may be needed.
    pub fn may_be_gpu(self) -> bool {
        self != Self::Host
    }

    /// Whether host-only code may be needed.
    pub fn may_be_host(self) -> bool {
        self != Self::Gpu
    }
}

/// Whether `cfg(doc)` may be set. It is not when a compiler builds a program.
pub fn may_set_doc() -> bool {
    may_set_doc_in(arguments())
}

fn may_set_doc_in(arguments: impl Iterator<Item = String>) -> bool {
    let arguments: Vec<_> = arguments.collect();
    let compiler = arguments.first().map(Path::new).and_then(Path::file_stem);
    compiler.is_none_or(|name| name == "rustdoc")
        || arguments.iter().any(|it| it == "doc" || it == "--cfg=doc")
        || Target::of(arguments.into_iter()) == Target::Unknown
}

/// Whether kernels are compiled with the crates that launch them, rather than with their own.
///
/// They are if the compiler runs without optimisation, as in cargo's development profile: neither `-C opt-level=1`, as
/// one word or two, nor `-O`. They also are in a program of tests, which nothing depends on.
pub fn leaves_kernels_to_launches() -> bool {
    leaves_kernels_to_launches_in(arguments())
}

fn leaves_kernels_to_launches_in(arguments: impl Iterator<Item = String>) -> bool {
    let arguments: Vec<_> = arguments.collect();
    let is_of_tests = arguments.iter().any(|argument| argument == "--test");
    let is_unoptimised = arguments.iter().all(|argument| match argument.as_str() {
        "-O" => false,
        option => {
            let level = option.trim_start_matches("-C").strip_prefix("opt-level=");
            level.is_none_or(|level| level == "0")
        }
    });
    is_of_tests || is_unoptimised
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(arguments: &str) -> impl Iterator<Item = String> {
        arguments.split(' ').map(str::to_owned)
    }

    #[test]
    fn the_device_library_is_a_crate_that_the_compiler_was_given() {
        let library = |arguments: &str| Library::of(words(arguments));
        let named = |name: &str| Library::Crate(name.to_owned());
        let rustc = "rustc --crate-name k lib.rs";
        let direct = format!("{rustc} --extern cuda_std=/t/libcuda_std-12ab.rmeta");
        assert_eq!(library(&direct), named("cuda_std"));
        let both = format!("{rustc} --extern tilewright=/t/libtilewright-3.rlib --extern=cuda_std");
        assert_eq!(library(&both), named("cuda_std"));
        let renamed = format!("{rustc} --extern priv,noprelude:tw=C:/t/libtilewright-3.rlib");
        assert_eq!(library(&renamed), Library::Reexported("tw".to_owned()));
        assert_eq!(
            library("rustc --crate-name cuda_std lib.rs"),
            Library::Itself
        );
        assert_eq!(
            library("rustdoc --crate-name cuda_std lib.rs"),
            named("cuda_std")
        );
        assert_eq!(library(rustc), named("cuda_std"));
        assert_eq!(library("rust-analyzer-proc-macro-srv"), Library::InScope);
    }

    #[test]
    fn the_arguments_say_whether_kernels_are_compiled_with_their_crate() {
        let leaves = |arguments: &str| leaves_kernels_to_launches_in(words(arguments));
        assert!(leaves("rustc lib.rs -C debuginfo=2"));
        assert!(leaves("rustc lib.rs -C opt-level=0"));
        assert!(!leaves("rustc lib.rs -C opt-level=1"));
        assert!(!leaves("rustc lib.rs -Copt-level=s"));
        assert!(!leaves("rustc -O lib.rs"));
        assert!(leaves("rustc -O --test lib.rs"));
    }

    #[test]
    fn documentation_is_told_from_programs() {
        let may = |arguments: &str| may_set_doc_in(words(arguments));
        assert!(!may("/bin/rustc --crate-name k lib.rs"));
        assert!(!may(
            "clippy-driver rustc --crate-name k --cfg docsrs lib.rs"
        ));
        assert!(may("/bin/rustdoc --crate-name k lib.rs"));
        assert!(may("rustc --crate-name k --cfg doc lib.rs"));
        assert!(may("rustc --crate-name k --cfg=doc lib.rs"));
        assert!(may("rust-analyzer-proc-macro-srv"));
    }

    #[test]
    fn the_arguments_say_for_what_a_crate_is_compiled() {
        let target = |arguments: &str| Target::of(words(arguments));
        assert_eq!(target("rustc --crate-name k lib.rs"), Target::Host);
        assert_eq!(
            target("rustdoc --crate-name k --target x86_64-unknown-linux-gnu"),
            Target::Host
        );
        let gpu = "rustc --crate-name k lib.rs --target";
        assert_eq!(target(&format!("{gpu} nvptx64-nvidia-cuda")), Target::Gpu);
        assert_eq!(target(&format!("{gpu}=nvptx64-nvidia-cuda")), Target::Gpu);
        let before = "rustc --target nvptx64-nvidia-cuda --crate-name k";
        assert_eq!(target(before), Target::Gpu);
        assert_eq!(target("rust-analyzer-proc-macro-srv"), Target::Unknown);
    }
}
