//! The GPU architectures for which kernels can be compiled.

use std::fmt;
use std::str::FromStr;

/// All values of the cfg `cuda_arch_at_least`, which kernel code may test.
#[cfg(any(feature = "compile", test))]
pub(crate) const CFG_VALUES: [&str; 6] = ["75", "80", "90", "90a", "100", "120"];

/// A GPU architecture, with the name that `ptxas` and LLVM use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Arch {
    /// Turing, compute capability 7.5.
    Sm75,
    /// Ampere, compute capability 8.0: `cp.async`, bf16 and tf32 matrix instructions.
    Sm80,
    /// Hopper, compute capability 9.0: clusters, TMA.
    Sm90,
    /// Hopper with the instructions that later architectures lack, such as `wgmma`. Its PTX runs on compute
    /// capability 9.0 only.
    Sm90a,
    /// Data-centre Blackwell, compute capability 10.0.
    Sm100,
    /// Workstation Blackwell, compute capability 12.0.
    Sm120,
}

impl Arch {
    /// All architectures that this crate knows, oldest first.
    pub const ALL: [Arch; 6] = [
        Arch::Sm75,
        Arch::Sm80,
        Arch::Sm90,
        Arch::Sm90a,
        Arch::Sm100,
        Arch::Sm120,
    ];

    /// The name that LLVM and PTX use, such as `sm_80`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Arch::Sm75 => "sm_75",
            Arch::Sm80 => "sm_80",
            Arch::Sm90 => "sm_90",
            Arch::Sm90a => "sm_90a",
            Arch::Sm100 => "sm_100",
            Arch::Sm120 => "sm_120",
        }
    }

    /// The compute capability as (major, minor), such as `(8, 0)`.
    #[must_use]
    pub const fn compute_capability(self) -> (u32, u32) {
        match self {
            Arch::Sm75 => (7, 5),
            Arch::Sm80 => (8, 0),
            Arch::Sm90 | Arch::Sm90a => (9, 0),
            Arch::Sm100 => (10, 0),
            Arch::Sm120 => (12, 0),
        }
    }

    /// The PTX version that LLVM must write, if its default for the architecture is older than 7.0.
    ///
    /// All supported drivers read 7.0 (CUDA 11.0). From 6.4 on, functions that do not return are marked as such.
    #[cfg(feature = "compile")]
    pub(crate) const fn ptx_feature(self) -> Option<&'static str> {
        match self {
            Arch::Sm75 => Some("+ptx70"),
            _ => None,
        }
    }

    /// Whether devices of this architecture run code compiled for `older`.
    #[cfg(any(feature = "compile", test))]
    pub(crate) fn runs(self, older: Self) -> bool {
        older == self || (older < self && older != Arch::Sm90a)
    }

    /// The values of `cfg(cuda_arch_at_least = "..")` that hold on this architecture. A value with an `a` holds on
    /// its own architecture alone, because no later one has its instructions.
    #[cfg(any(feature = "compile", test))]
    pub(crate) fn cfg_values(self) -> impl Iterator<Item = &'static str> {
        CFG_VALUES
            .into_iter()
            .zip(Arch::ALL)
            .filter(move |(_, arch)| self.runs(*arch))
            .map(|(value, _)| value)
    }
}

impl fmt::Display for Arch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The error for a text that is not the name of a known architecture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown GPU architecture `{0}`: expected one of sm_75, sm_80, sm_90, sm_90a, sm_100, sm_120"
)]
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
        let values = |arch: Arch| arch.cfg_values().collect::<Vec<_>>();
        assert_eq!(values(Arch::Sm75), ["75"]);
        assert_eq!(values(Arch::Sm80), ["75", "80"]);
        assert_eq!(values(Arch::Sm90), ["75", "80", "90"]);
        assert_eq!(values(Arch::Sm90a), ["75", "80", "90", "90a"]);
        assert_eq!(values(Arch::Sm100), ["75", "80", "90", "100"]);
        assert_eq!(values(Arch::Sm120), ["75", "80", "90", "100", "120"]);
    }
}
