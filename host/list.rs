//! The devices of a machine.

use crate::device::Device;
use crate::environment::{DeviceChoice, DeviceUuid};
use crate::error::{During, Outcome, Result};
use crate::properties::DeviceProperties;
use std::fmt;

/// The oldest compute capability for which the library has kernels.
const OLDEST: (u32, u32) = (7, 5);

/// A CUDA device of this machine, from [`Device::list`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeviceDescription {
    /// Its name for [`Device::open`] and `TILEWRIGHT_DEVICE`.
    pub choice: DeviceChoice,
    /// Its UUID, or that of its MIG instance, which does not depend on the order of devices.
    pub uuid: DeviceUuid,
    /// Its limits.
    pub properties: DeviceProperties,
    /// Why the library's kernels do not run on it; `None` if they do.
    pub obstacle: Option<String>,
}

impl Device {
    /// Lists the CUDA devices that `CUDA_VISIBLE_DEVICES` does not hide, without opening them.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// match Device::list() {
    ///     Ok(devices) => devices.iter().for_each(|device| println!("{device}")),
    ///     Err(error) => println!("no CUDA devices: {error}"),
    /// }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Device::cuda`], which say why there is no device.
    pub fn list() -> Result<Vec<DeviceDescription>> {
        listed().during("list")
    }
}

#[cfg(feature = "cuda")]
fn listed() -> Outcome<Vec<DeviceDescription>> {
    let described = crate::cuda::described()?.into_iter();
    let devices = described.map(
        |(number, uuid, properties, is_prohibited)| DeviceDescription {
            choice: DeviceChoice::Cuda(number),
            uuid,
            obstacle: obstacle(properties.compute_capability, is_prohibited),
            properties,
        },
    );
    Ok(devices.collect())
}

#[cfg(not(feature = "cuda"))]
fn listed() -> Outcome<Vec<DeviceDescription>> {
    Err(crate::error::ErrorKind::NoCudaFeature)
}

/// Why kernels cannot run on a device of this compute capability, whose compute mode may also prohibit programs.
#[cfg_attr(
    not(feature = "cuda"),
    expect(dead_code, reason = "there are no devices")
)]
fn obstacle(capability: Option<(u32, u32)>, is_prohibited: bool) -> Option<String> {
    if is_prohibited {
        let remedy = "its compute mode is `prohibited`; an administrator allows programs with `nvidia-smi -c DEFAULT`";
        return Some(remedy.to_owned());
    }
    let (major, minor) = capability?;
    ((major, minor) < OLDEST)
        .then(|| format!("its compute capability is {major}.{minor}, and kernels need 7.5"))
}

/// One line: name, number, compute capability, memory, UUID, and why kernels cannot run, if so.
impl fmt::Display for DeviceDescription {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceProperties {
            name, memory_bytes, ..
        } = &self.properties;
        write!(formatter, "{}: {name}", self.choice)?;
        if let Some((major, minor)) = self.properties.compute_capability {
            write!(formatter, ", compute capability {major}.{minor}")?;
        }
        write!(formatter, ", {} GiB, {}", memory_bytes >> 30, self.uuid)?;
        match &self.obstacle {
            Some(obstacle) => write!(formatter, "; not usable: {obstacle}"),
            None => Ok(()),
        }
    }
}
