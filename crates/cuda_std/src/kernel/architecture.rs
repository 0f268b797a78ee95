//! GPU architectures.

use core::fmt;

/// A target architecture of GPU code, such as `sm_80`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Architecture {
    /// Compute capability without the point: 80 for 8.0, 120 for 12.0.
    number: u32,
    /// An `a` target, whose instructions no other architecture has.
    specific: bool,
}

impl Architecture {
    /// Reads names like `sm_80` and `sm_90a`.
    #[must_use]
    pub const fn parse(name: &str) -> Option<Self> {
        let Some((b"sm_", rest)) = name.as_bytes().split_at_checked(3) else {
            return None;
        };
        let (digits, specific) = match rest {
            [digits @ .., b'a'] => (digits, true),
            digits => (digits, false),
        };
        if digits.is_empty() || digits.len() > 4 {
            return None;
        }
        let (mut number, mut index) = (0, 0);
        while index < digits.len() {
            if !digits[index].is_ascii_digit() {
                return None;
            }
            number = number * 10 + (digits[index] - b'0') as u32;
            index += 1;
        }
        Some(Self { number, specific })
    }

    /// Whether a device of this compute capability, as (major, minor), runs the code. Code for one
    /// architecture runs on every later one, except for the `a` targets (PTX ISA 9.0, `.target`).
    #[must_use]
    pub const fn runs_on(self, (major, minor): (u32, u32)) -> bool {
        let device = major * 10 + minor;
        if self.specific {
            self.number == device
        } else {
            self.number <= device
        }
    }
}

impl fmt::Display for Architecture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let suffix = if self.specific { "a" } else { "" };
        write!(formatter, "sm_{}{suffix}", self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(name: &str) -> Architecture {
        Architecture::parse(name).unwrap()
    }

    #[test]
    fn plain_targets_run_on_later_devices_and_specific_ones_on_their_own() {
        assert!(parse("sm_75").runs_on((9, 0)));
        assert!(parse("sm_90").runs_on((9, 0)));
        assert!(parse("sm_90a").runs_on((9, 0)));
        assert!(parse("sm_80").runs_on((12, 0)));
        assert!(!parse("sm_80").runs_on((7, 5)));
        assert!(!parse("sm_90a").runs_on((10, 0)));
        assert!(!parse("sm_90a").runs_on((8, 9)));
    }

    #[test]
    fn the_best_is_the_latest_and_most_specific() {
        let mut architectures = ["sm_90a", "sm_75", "sm_120", "sm_90", "sm_80"].map(parse);
        architectures.sort();
        let sorted = ["sm_75", "sm_80", "sm_90", "sm_90a", "sm_120"].map(parse);
        assert_eq!(architectures, sorted);
    }

    #[test]
    fn other_names_are_no_architectures() {
        for name in ["", "sm_", "sm_a", "compute_80", "sm_100f", "sm_+80", "80"] {
            assert_eq!(Architecture::parse(name), None, "{name}");
        }
    }

    #[test]
    fn names_are_written_as_they_are_read() {
        for name in ["sm_75", "sm_90a", "sm_120"] {
            assert_eq!(parse(name).to_string(), name);
        }
    }
}
