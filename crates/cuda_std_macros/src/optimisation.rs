//! Whether the compiler optimises the crate that a kernel stands in.

/// Whether the compiler runs without optimisation, as cargo has it for development.
///
/// Its arguments say so, or nothing else: `-C opt-level=1` as two words or one, or `-O`.
pub fn is_off() -> bool {
    is_off_in(std::env::args())
}

fn is_off_in(mut arguments: impl Iterator<Item = String>) -> bool {
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
    use super::is_off_in;

    #[test]
    fn the_arguments_say_it() {
        let is_off = |arguments: &str| is_off_in(arguments.split(' ').map(str::to_owned));
        assert!(is_off("rustc lib.rs -C debuginfo=2"));
        assert!(is_off("rustc lib.rs -C opt-level=0"));
        assert!(!is_off("rustc lib.rs -C opt-level=1"));
        assert!(!is_off("rustc lib.rs -Copt-level=s"));
        assert!(!is_off("rustc -O lib.rs"));
    }
}
