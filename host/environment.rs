//! The device that an environment variable names.

use crate::error::{During, Error, ErrorKind, Result};
use std::fmt;
use std::str::FromStr;

/// The environment variable that names the default device.
pub(crate) const VARIABLE: &str = "TILEWRIGHT_DEVICE";

/// The name of the first CUDA device, or of all where several are used.
const ANY_CUDA: &str = "cuda";

const ALLOWED: &str = "sim, cuda, cuda:N, where N is the number of a GPU, counted from 0, or a UUID that `nvidia-smi -L` prints";

/// A device by its name: `sim`, `cuda`, `cuda:N` or the UUID of a GPU.
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
    /// The CUDA device with this UUID.
    Uuid(DeviceUuid),
}

/// The UUID of a GPU, which `nvidia-smi -L` prints.
///
/// ```
/// use tilewright::DeviceChoice;
///
/// let name = "GPU-01234567-89ab-cdef-0123-456789abcdef";
/// let choice: DeviceChoice = name.parse()?;
/// assert_eq!(choice.to_string(), name);
/// # Ok::<(), tilewright::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceUuid(pub [u8; 16]);

impl DeviceUuid {
    const PREFIX: &str = "GPU-";

    /// The digits of each group between hyphens.
    const GROUPS: [usize; 5] = [8, 4, 4, 4, 12];

    fn named(name: &str) -> Option<Self> {
        let groups: Vec<&str> = name.strip_prefix(Self::PREFIX)?.split('-').collect();
        let are_right = groups.iter().map(|group| group.len()).eq(Self::GROUPS);
        let digits = groups.concat();
        if !are_right || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let number = u128::from_str_radix(&digits, 16).ok()?;
        Some(Self(number.to_be_bytes()))
    }
}

impl fmt::Display for DeviceUuid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = format!("{:032x}", u128::from_be_bytes(self.0));
        let mut rest = digits.as_str();
        formatter.write_str("GPU")?;
        for digits in Self::GROUPS {
            let (group, after) = rest.split_at(digits);
            write!(formatter, "-{group}")?;
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
            _ if name.starts_with(DeviceUuid::PREFIX) => DeviceUuid::named(name).map(Self::Uuid),
            _ => name
                .strip_prefix("cuda:")
                .filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
                .and_then(|number| number.parse().ok())
                .map(Self::Cuda),
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
