//! What the arguments of the compiler that runs the macro say. Nothing else tells a macro.

use std::env;
use std::path::Path;

/// For what a crate is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Gpu,
    Host,
    /// The process is no compiler, but an editor's server of macros.
    Unknown,
}

impl Target {
    /// That of the compiler that runs.
    pub fn of_compiler() -> Self {
        Self::of(env::args())
    }

    /// A compiler is told the crate's name, and a target unless it is the host.
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

    /// Whether what is for a GPU alone is of use.
    pub fn may_be_gpu(self) -> bool {
        self != Self::Host
    }

    /// Whether what is for a host alone is of use.
    pub fn may_be_host(self) -> bool {
        self != Self::Gpu
    }
}

/// Whether `cfg(doc)` may be set: not in what a compiler makes for a program.
pub fn may_set_doc() -> bool {
    may_set_doc_in(env::args())
}

fn may_set_doc_in(arguments: impl Iterator<Item = String>) -> bool {
    let arguments: Vec<_> = arguments.collect();
    let compiler = arguments.first().map(Path::new).and_then(Path::file_stem);
    compiler.is_none_or(|name| name == "rustdoc")
        || arguments.iter().any(|it| it == "doc" || it == "--cfg=doc")
        || Target::of(arguments.into_iter()) == Target::Unknown
}

/// Whether the compiler runs without optimisation, as cargo has it for development: not with
/// `-C opt-level=1`, as two words or one, nor with `-O`.
pub fn is_optimisation_off() -> bool {
    is_optimisation_off_in(env::args())
}

fn is_optimisation_off_in(mut arguments: impl Iterator<Item = String>) -> bool {
    arguments.all(|argument| match argument.as_str() {
        "-O" => false,
        option => {
            let level = option.trim_start_matches("-C").strip_prefix("opt-level=");
            level.is_none_or(|level| level == "0")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(arguments: &str) -> impl Iterator<Item = String> {
        arguments.split(' ').map(str::to_owned)
    }

    #[test]
    fn the_arguments_say_whether_the_code_is_optimised() {
        let is_off = |arguments: &str| is_optimisation_off_in(words(arguments));
        assert!(is_off("rustc lib.rs -C debuginfo=2"));
        assert!(is_off("rustc lib.rs -C opt-level=0"));
        assert!(!is_off("rustc lib.rs -C opt-level=1"));
        assert!(!is_off("rustc lib.rs -Copt-level=s"));
        assert!(!is_off("rustc -O lib.rs"));
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
