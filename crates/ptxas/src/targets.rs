//! Which PTX is assembled for which GPU.

/// The architectures of the checked-in PTX, the oldest first.
pub const ARCHITECTURES: [&str; 3] = ["sm_75", "sm_80", "sm_90a"];

/// The targets of a GPU of this compute capability: with the instructions that it alone has, and without.
pub(crate) fn targets_of((major, minor): (u32, u32)) -> [String; 2] {
    [format!("sm_{major}{minor}a"), format!("sm_{major}{minor}")]
}

/// The architectures whose PTX is assembled for a target such as `sm_86`, the nearest first: those that are no
/// newer, but for those with instructions of their own, as `sm_90a`, which are assembled for themselves alone
/// (PTX ISA 9.0, `.target`).
pub(crate) fn architectures_of(target: &str) -> impl Iterator<Item = &'static str> {
    let is_for = move |arch: &&str| match is_specific(arch) || is_specific(target) {
        true => *arch == target,
        false => number(arch) <= number(target),
    };
    ARCHITECTURES.into_iter().rev().filter(is_for)
}

/// Whether a name is of an architecture whose instructions no other one has.
fn is_specific(name: &str) -> bool {
    name.ends_with('a')
}

/// The number in a name; `None` where there is none.
fn number(name: &str) -> Option<u32> {
    name.strip_prefix("sm_")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_takes_older_architectures_but_for_those_of_their_own_instructions() {
        for (target, architectures) in [
            ("sm_75", &["sm_75"][..]),
            ("sm_80", &["sm_80", "sm_75"]),
            ("sm_90", &["sm_80", "sm_75"]),
            ("sm_90a", &["sm_90a"]),
            ("sm_120", &["sm_80", "sm_75"]),
            ("sm_120a", &[]),
            ("none", &[]),
        ] {
            let found: Vec<_> = architectures_of(target).collect();
            assert_eq!(found, architectures, "{target}");
        }
    }
}
