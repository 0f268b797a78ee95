//! The device that an environment variable names.

use crate::error::{During, Error, ErrorKind, Result};
use std::fmt;
use std::str::FromStr;

/// The environment variable that names the default device.
pub(crate) const VARIABLE: &str = "TILEWRIGHT_DEVICE";

/// The name of the first CUDA device, or of all of them where a call uses several.
const ANY_CUDA: &str = "cuda";

const ALLOWED: &str = "sim, cuda, cuda:N, where N is the number of a GPU, counted from 0, or a UUID that `nvidia-smi -L` prints, or its start, as in GPU-8f3a";

/// A device by its name: `sim`, `cuda`, `cuda:N`, or the UUID of a GPU or a MIG instance.
///
/// ```
/// use tilewright::DeviceChoice;
///
/// assert_eq!("cuda:1".parse::<DeviceChoice>()?, DeviceChoice::Cuda(1));
/// assert_eq!(DeviceChoice::Simulator.to_string(), "sim");
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeviceChoice {
    /// The simulator.
    Simulator,
    /// The CUDA device with this number, counted from 0 among those that `CUDA_VISIBLE_DEVICES` leaves.
    Cuda(u32),
    /// The CUDA device whose UUID has these digits, or starts with them.
    Uuid(DeviceUuid),
}

/// The UUID of a GPU or a MIG instance, which `nvidia-smi -L` prints; or the first of its digits.
///
/// ```
/// use tilewright::DeviceChoice;
///
/// for name in ["GPU-01234567-89ab-cdef-0123-456789abcdef", "GPU-0123", "MIG-01234567-89"] {
///     let choice: DeviceChoice = name.parse()?;
///     assert_eq!(choice.to_string(), name);
/// }
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceUuid {
    /// Whether it names a MIG instance.
    is_mig: bool,
    /// The digits, the first in the highest bits; missing digits are zero.
    number: u128,
    /// How many digits there are, up to [`DIGITS`](Self::DIGITS).
    digits: usize,
}

impl DeviceUuid {
    /// The prefix of a GPU, and that of a MIG instance.
    const PREFIXES: [&str; 2] = ["GPU", "MIG"];

    /// The digits of each group between hyphens.
    const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

    /// The digits of a whole UUID.
    const DIGITS: usize = 32;

    #[cfg(feature = "cuda")]
    pub(crate) fn whole(bytes: [u8; 16], is_mig: bool) -> Self {
        Self {
            is_mig,
            number: u128::from_be_bytes(bytes),
            digits: Self::DIGITS,
        }
    }

    fn named(name: &str) -> Option<Self> {
        let (prefix, groups) = name.split_once('-')?;
        let prefix = Self::PREFIXES.iter().position(|it| *it == prefix)?;
        let digits = groups.replace('-', "");
        let are_right = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !are_right || digits.is_empty() || digits.len() > Self::DIGITS {
            return None;
        }
        let number = u128::from_str_radix(&digits, 16).ok()?;
        let uuid = Self {
            is_mig: prefix == 1,
            number: number << (4 * (Self::DIGITS - digits.len())),
            digits: digits.len(),
        };
        // Hyphens stand where a whole UUID has them.
        uuid.to_string().eq_ignore_ascii_case(name).then_some(uuid)
    }
}

impl fmt::Display for DeviceUuid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:032x}", self.number);
        let mut rest = &digits[..self.digits];
        formatter.write_str(Self::PREFIXES[usize::from(self.is_mig)])?;
        for digits in Self::GROUPS {
            let (group, after) = rest.split_at(digits.min(rest.len()));
            if !group.is_empty() {
                write!(formatter, "-{group}")?;
            }
            rest = after;
        }
        Ok(())
    }
}

impl DeviceChoice {
    /// The device named by the environment variable `TILEWRIGHT_DEVICE`; `None` if it is not set.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidEnvironment`] if the variable is set to anything but the name of a device.
    pub fn from_env() -> Result<Option<Self>> {
        let value = std::env::var_os(VARIABLE);
        value
            .map(|value| {
                let value = value.to_string_lossy();
                Self::named(&value).ok_or_else(|| ErrorKind::InvalidEnvironment {
                    variable: VARIABLE,
                    value: value.into_owned(),
                    allowed: ALLOWED,
                })
            })
            .transpose()
            .during("from_env")
    }

    /// Whether the environment variable names any CUDA device, by `cuda`, rather than device 0 by `cuda:0`.
    pub(crate) fn is_any_cuda_in_env() -> bool {
        std::env::var_os(VARIABLE).is_some_and(|value| value == ANY_CUDA)
    }

    fn named(name: &str) -> Option<Self> {
        match name {
            "sim" => Some(Self::Simulator),
            ANY_CUDA => Some(Self::Cuda(0)),
            _ => match name.strip_prefix("cuda:") {
                Some(number) => Some(number)
                    .filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
                    .and_then(|number| number.parse().ok())
                    .map(Self::Cuda),
                None => DeviceUuid::named(name).map(Self::Uuid),
            },
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let choice = Self::named(name).ok_or_else(|| ErrorKind::UnknownDevice {
            name: name.to_owned(),
            allowed: ALLOWED,
        });
        choice.during("DeviceChoice::from_str")
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simulator => formatter.write_str("sim"),
            Self::Cuda(ordinal) => write!(formatter, "cuda:{ordinal}"),
            Self::Uuid(uuid) => uuid.fmt(formatter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "GPU-0123abcd-89ab-cdef-0123-456789abcdef";

    #[test]
    fn each_start_of_a_uuid_has_a_name() {
        for end in 5..=WHOLE.len() {
            let name = &WHOLE[..end];
            let Some(uuid) = DeviceUuid::named(name) else {
                assert!(name.ends_with('-'), "{name}");
                continue;
            };
            assert_eq!(uuid.to_string(), name);
            let of_instance = name.replace("GPU", "MIG");
            let other = DeviceUuid::named(&of_instance).unwrap();
            assert_eq!(other.to_string(), of_instance);
            assert_ne!(uuid, other);
            assert_eq!(DeviceChoice::named(name), Some(DeviceChoice::Uuid(uuid)));
        }
        let upper = WHOLE.to_uppercase();
        assert_eq!(DeviceUuid::named(&upper), DeviceUuid::named(WHOLE));
    }

    #[test]
    fn other_names_are_none() {
        for name in [
            "",
            "GPU",
            "GPU-",
            "gpu-0123",
            "MIG-GPU-0123abcd",
            "GPU-0123abc-d",
            "GPU-0123abcd89ab",
            "GPU-0123abcg",
            "GPU-+123",
            "GPU-0123abcd-89ab-cdef-0123-456789abcdef0",
            "cuda:GPU-0123",
            "cuda:+1",
            "cuda:",
            "cuda:4294967296",
        ] {
            assert_eq!(DeviceChoice::named(name), None, "{name}");
        }
    }
}
