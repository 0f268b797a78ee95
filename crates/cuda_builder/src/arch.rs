//! The GPU architectures that kernels are compiled for.

use std::fmt;
use std::str::FromStr;

/// Every value of the `cuda_arch_at_least` cfg that kernel code may test for.
pub(crate) const CFG_VALUES: [&str; 4] = ["75", "80", "90", "90a"];

/// A GPU architecture, as `ptxas` and LLVM name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Arch {
    /// Turing, compute capability 7.5.
    Sm75,
    /// Ampere, compute capability 8.0: `cp.async`, bf16 and tf32 matrix instructions.
    Sm80,
    /// Hopper, compute capability 9.0: clusters, TMA.
    Sm90,
    /// Hopper with the instructions that later architectures do not have, such as `wgmma`.
    /// PTX for it runs on compute capability 9.0 only.
    Sm90a,
}

impl Arch {
    /// Every architecture this crate knows, oldest first.
    pub const ALL: [Arch; 4] = [Arch::Sm75, Arch::Sm80, Arch::Sm90, Arch::Sm90a];

    /// The name LLVM and PTX use, such as `sm_80`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Arch::Sm75 => "sm_75",
            Arch::Sm80 => "sm_80",
            Arch::Sm90 => "sm_90",
            Arch::Sm90a => "sm_90a",
        }
    }

    /// The compute capability as (major, minor), such as `(8, 0)`.
    #[must_use]
    pub const fn compute_capability(self) -> (u32, u32) {
        match self {
            Arch::Sm75 => (7, 5),
            Arch::Sm80 => (8, 0),
            Arch::Sm90 | Arch::Sm90a => (9, 0),
        }
    }

    /// The values that `cfg(cuda_arch_at_least = "..")` has on this architecture.
    pub(crate) fn cfg_values(self) -> &'static [&'static str] {
        match self {
            Arch::Sm75 => &CFG_VALUES[..1],
            Arch::Sm80 => &CFG_VALUES[..2],
            Arch::Sm90 => &CFG_VALUES[..3],
            Arch::Sm90a => &CFG_VALUES[..4],
        }
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The text is not the name of an architecture this crate knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown GPU architecture `{0}`: expected one of sm_75, sm_80, sm_90, sm_90a")]
pub struct ParseArchError(String);

impl FromStr for Arch {
    type Err = ParseArchError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Arch::ALL
            .into_iter()
            .find(|arch| arch.name() == text)
            .ok_or_else(|| ParseArchError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for arch in Arch::ALL {
            assert_eq!(arch.to_string().parse(), Ok(arch));
        }
        assert!("sm_81".parse::<Arch>().is_err());
        assert!("80".parse::<Arch>().is_err());
    }

    #[test]
    fn each_architecture_has_the_cfgs_of_its_predecessors() {
        assert_eq!(Arch::Sm75.cfg_values(), ["75"]);
        assert_eq!(Arch::Sm80.cfg_values(), ["75", "80"]);
        assert_eq!(Arch::Sm90.cfg_values(), ["75", "80", "90"]);
        assert_eq!(Arch::Sm90a.cfg_values(), ["75", "80", "90", "90a"]);
    }
}
