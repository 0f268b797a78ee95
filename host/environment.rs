//! The choice of a device by an environment variable.

use crate::error::{During, Error, ErrorKind, Result};
use std::fmt;
use std::str::FromStr;

/// The environment variable that names the default device.
pub(crate) const VARIABLE: &str = "TILEWRIGHT_DEVICE";

const ALLOWED: &str = "sim, cuda, or cuda:N, where N is the number of a GPU, counted from 0";

/// A device by its name: `sim`, `cuda` or `cuda:N`.
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
    /// The CUDA device with this number, counted from 0.
    Cuda(u32),
}

impl DeviceChoice {
    /// The device named by the environment variable `TILEWRIGHT_DEVICE`; `None` if it is not set.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidEnvironment`] if the variable is set to anything but `sim`, `cuda` or `cuda:N`.
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

    fn named(name: &str) -> Option<Self> {
        match name {
            "sim" => Some(Self::Simulator),
            "cuda" => Some(Self::Cuda(0)),
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
        }
    }
}
