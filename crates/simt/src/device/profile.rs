//! Devices by name, with the numbers of their datasheets.
//!
//! | device | source |
//! |---|---|
//! | T4 | "NVIDIA Turing GPU Architecture", appendix on the TU104; T4 datasheet |
//! | A100 | "NVIDIA A100 Tensor Core GPU Architecture", tables of the SXM4; 80 GB datasheet |
//! | RTX 3090 | "NVIDIA Ampere GA102 GPU Architecture", appendix |
//! | AGX Orin | "NVIDIA Jetson AGX Orin Series, Technical Brief" |
//! | RTX 4090 | "NVIDIA Ada GPU Architecture", appendix |
//! | H100 | "NVIDIA H100 Tensor Core GPU Architecture", tables of the SXM5; datasheet |
//! | H200 | the device itself (`cudaGetDeviceProperties`): 132 multiprocessors, 1980 MHz, 60 MiB of L2, a 6016-bit bus at 3201 MHz, which is 4.81 TB/s; peaks of the H100 |
//! | B200 | properties as pytorch/ao#4002 has them: 148 multiprocessors, 126.5 MiB of L2, 178 GiB, a 7680-bit bus at 3996 MHz, which is 7.67 TB/s; peaks of the HGX B200 datasheet |
//! | RTX 5090 | "NVIDIA RTX Blackwell GPU Architecture", appendix |

use super::occupancy::Limits;
use std::fmt;
use std::str::FromStr;

/// A real device that the simulated one models.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Profile {
    /// NVIDIA T4, compute capability 7.5.
    T4,
    /// NVIDIA A100 SXM with 80 GB, compute capability 8.0.
    A100,
    /// NVIDIA GeForce RTX 3090, compute capability 8.6.
    Rtx3090,
    /// NVIDIA Jetson AGX Orin with 64 GB, compute capability 8.7.
    Orin,
    /// NVIDIA GeForce RTX 4090, compute capability 8.9.
    Rtx4090,
    /// NVIDIA H100 SXM, compute capability 9.0.
    H100,
    /// NVIDIA H200 SXM, compute capability 9.0.
    #[default]
    H200,
    /// NVIDIA B200 SXM, compute capability 10.0.
    B200,
    /// NVIDIA GeForce RTX 5090, compute capability 12.0.
    Rtx5090,
    /// A fictitious device with warps of 64 lanes and round numbers.
    Wave64,
}

/// The numbers of a device: limits, memory, clock and peaks.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Datasheet {
    /// The product's name.
    pub name: &'static str,
    /// Major and minor number of the compute capability; none for a device that is not NVIDIA's.
    pub compute_capability: Option<(u32, u32)>,
    /// Resources of each multiprocessor.
    pub limits: Limits,
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// The second-level cache, in bytes.
    pub l2_bytes: u64,
    /// Device memory, in bytes.
    pub memory_bytes: u64,
    /// Bandwidth of the device memory, in GB/s (10^9 bytes).
    pub memory_bandwidth: f64,
    /// The boost clock of the multiprocessors, in GHz.
    pub clock: f64,
    /// Peak of f32 without tensor cores, in TFLOP/s (10^12 operations).
    pub f32_peak: f64,
    /// Peak of f64 without tensor cores, in TFLOP/s.
    pub f64_peak: f64,
}

impl Datasheet {
    /// Shared-memory bandwidth of the device, in passes of 32 banks per second: one per multiprocessor and clock.
    #[must_use]
    pub fn shared_passes_per_second(&self) -> f64 {
        f64::from(self.multiprocessors) * self.clock * 1e9
    }

    /// Warp instructions that the device issues per second.
    ///
    /// The scheduler of each [partition](Limits::partitions) issues one per clock.
    #[must_use]
    pub fn instructions_per_second(&self) -> f64 {
        let schedulers = self.multiprocessors * self.limits.partitions;
        f64::from(schedulers) * self.clock * 1e9
    }

    /// Bandwidth between the L2 cache and the multiprocessors, in GB/s.
    ///
    /// It is 64 bytes per multiprocessor and clock, as on NVIDIA's devices. The cache itself may deliver less.
    #[must_use]
    pub fn l2_bandwidth(&self) -> f64 {
        64.0 * f64::from(self.multiprocessors) * self.clock
    }
}

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

impl Profile {
    /// All profiles.
    pub const ALL: [Self; 10] = [
        Self::T4,
        Self::A100,
        Self::Rtx3090,
        Self::Orin,
        Self::Rtx4090,
        Self::H100,
        Self::H200,
        Self::B200,
        Self::Rtx5090,
        Self::Wave64,
    ];

    /// The profile's name, as [`FromStr`] takes it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::T4 => "t4",
            Self::A100 => "a100",
            Self::Rtx3090 => "rtx3090",
            Self::Orin => "orin",
            Self::Rtx4090 => "rtx4090",
            Self::H100 => "h100",
            Self::H200 => "h200",
            Self::B200 => "b200",
            Self::Rtx5090 => "rtx5090",
            Self::Wave64 => "wave64",
        }
    }

    /// The device's numbers, from its datasheet or its architecture's white paper.
    #[must_use]
    pub fn datasheet(self) -> Datasheet {
        // Multiprocessors, MiB of L2, GiB of memory; GB/s, GHz, TFLOP/s of f32 and of f64.
        match self {
            Self::T4 => nvidia("T4", (7, 5), [40, 4, 16], [320.0, 1.59, 8.1, 0.25]),
            Self::A100 => nvidia("A100", (8, 0), [108, 40, 80], [2039.0, 1.41, 19.5, 9.7]),
            Self::Rtx3090 => nvidia("RTX 3090", (8, 6), [82, 6, 24], [936.0, 1.70, 35.6, 0.56]),
            Self::Orin => nvidia("AGX Orin", (8, 7), [16, 4, 64], [204.8, 1.30, 5.3, 0.083]),
            Self::Rtx4090 => nvidia(
                "RTX 4090",
                (8, 9),
                [128, 72, 24],
                [1008.0, 2.52, 82.6, 1.29],
            ),
            Self::H100 => nvidia("H100", (9, 0), [132, 50, 80], [3350.0, 1.98, 67.0, 34.0]),
            Self::H200 => nvidia("H200", (9, 0), [132, 60, 141], [4800.0, 1.98, 67.0, 34.0]),
            Self::B200 => nvidia("B200", (10, 0), [148, 126, 178], [7672.0, 1.97, 75.0, 37.0]),
            Self::Rtx5090 => nvidia(
                "RTX 5090",
                (12, 0),
                [170, 96, 32],
                [1792.0, 2.41, 104.8, 1.64],
            ),
            Self::Wave64 => WAVE64,
        }
    }
}

fn nvidia(
    name: &'static str,
    compute_capability: (u32, u32),
    [multiprocessors, l2_mib, memory_gib]: [u32; 3],
    [memory_bandwidth, clock, f32_peak, f64_peak]: [f64; 4],
) -> Datasheet {
    let (major, minor) = compute_capability;
    Datasheet {
        name,
        compute_capability: Some(compute_capability),
        limits: Limits::of_compute_capability(major, minor)
            .expect("the limits of every profile are known"),
        multiprocessors,
        l2_bytes: u64::from(l2_mib) * MIB,
        memory_bytes: u64::from(memory_gib) * GIB,
        memory_bandwidth,
        clock,
        f32_peak,
        f64_peak,
    }
}

const WAVE64: Datasheet = Datasheet {
    name: "wave64",
    compute_capability: None,
    limits: Limits::WAVE64,
    multiprocessors: 104,
    l2_bytes: 8 * MIB,
    memory_bytes: 64 * GIB,
    memory_bandwidth: 1600.0,
    clock: 1.5,
    f32_peak: 20.0,
    f64_peak: 10.0,
};

impl fmt::Display for Profile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A name that is no profile's.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is no profile `{name}`; there are {}", Profile::ALL.map(Profile::name).join(", "))]
pub struct UnknownProfile {
    /// The name that was given.
    pub name: String,
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(name: &str) -> Result<Self, UnknownProfile> {
        let profile = Self::ALL.into_iter().find(|profile| profile.name() == name);
        profile.ok_or_else(|| UnknownProfile {
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Profile;

    #[test]
    fn names_go_both_ways() {
        for profile in Profile::ALL {
            assert_eq!(profile.name().parse(), Ok(profile));
        }
        let error = "h2".parse::<Profile>().expect_err("no such profile");
        assert!(error.to_string().contains("`h2`; there are t4, a100"));
    }

    /// Peaks follow from clock and cores, up to rounding.
    #[test]
    fn peaks_fit_to_clocks() {
        for profile in Profile::ALL {
            let sheet = profile.datasheet();
            let multiply_adds = f64::from(sheet.multiprocessors) * sheet.clock / 1e3;
            let lanes = sheet.f32_peak / (2.0 * multiply_adds);
            let is_lanes = [64.0, 128.0].iter().any(|l| (lanes / l - 1.0).abs() < 0.03);
            assert!(is_lanes, "{profile}: {lanes} lanes");
        }
    }
}
