//! Devices: where buffers live and kernels run.

use crate::backend::Backend;
use crate::environment::{DeviceChoice, DeviceUuid};
use crate::error::{During, ErrorKind, Outcome, Result};
use crate::properties::DeviceProperties;
use crate::simulator::{Simulator, SimulatorOptions};
use std::ffi::c_void;
use std::fmt;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

/// One CUDA device or the simulator, with one of its streams.
///
/// A `Device` submits all its work to one stream, which runs it in the order of submission. A clone uses the same
/// stream; [`new_stream`](Self::new_stream) returns the same device with another stream. Threads can share a `Device`.
///
/// ```
/// use tilewright::{Device, ops};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::from_env()?; // a CUDA device, or the simulator
/// let x = device.upload(&[3.0_f32, 1.0, 2.0])?;
/// assert_eq!(device.reduce(&x, ops::Max)?, 3.0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Device {
    backend: Arc<dyn Backend>,
}

impl Device {
    /// The simulator with default options; it needs no GPU.
    ///
    /// Each call makes a new device with its own memory. Clone the device to use its buffers elsewhere.
    ///
    /// ```
    /// use tilewright::{Device, ops};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.upload(&[1_u8, 0, 1])?;
    /// assert_eq!(device.reduce(&x, ops::Count)?, 2);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn simulator() -> Self {
        Self::simulator_with(SimulatorOptions::default())
    }

    /// The simulator with the given options, such as the seed of its schedule.
    ///
    /// ```
    /// use tilewright::{Device, SimulatorOptions};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let options = SimulatorOptions::default().with_seed(7);
    /// let device = Device::simulator_with(options);
    /// assert_eq!(device.reduce_sum(&device.upload(&[0.5_f64; 3])?)?, 1.5);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn simulator_with(options: SimulatorOptions) -> Self {
        Self {
            backend: Arc::new(Simulator::new(options)),
        }
    }

    /// Opens CUDA device number `ordinal`, counted from 0.
    ///
    /// While a device is open, further calls with its number return clones of it.
    ///
    /// ```
    /// use tilewright::{Device, ErrorKind};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// match Device::cuda(0) {
    ///     Ok(device) => println!("{}", device.name()),
    ///     // A machine without a GPU: there is no fallback.
    ///     Err(error) if matches!(error.kind(), ErrorKind::NoDriver { .. }) => eprintln!("{error}"),
    ///     Err(error) if matches!(error.kind(), ErrorKind::NoDevice { .. }) => eprintln!("{error}"),
    ///     Err(error) => return Err(error),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::NoDriver`] if there is no NVIDIA driver; [`ErrorKind::NoDevice`] if there is no device with this
    /// number; [`ErrorKind::DriverTooOld`] if the driver is older than CUDA 11.4; [`ErrorKind::UnusableDriver`] or
    /// [`ErrorKind::Cuda`] if the driver or the device fails; [`ErrorKind::NoCudaFeature`] in a build without the
    /// feature `cuda`.
    #[cfg(feature = "cuda")]
    pub fn cuda(ordinal: u32) -> Result<Self> {
        let backend = crate::cuda::open(ordinal).during("cuda")?;
        Ok(Self { backend })
    }

    /// Fails: this build has no CUDA backend.
    ///
    /// # Errors
    /// [`ErrorKind::NoCudaFeature`], always.
    #[cfg(not(feature = "cuda"))]
    pub fn cuda(_ordinal: u32) -> Result<Self> {
        Err(ErrorKind::NoCudaFeature.during("cuda"))
    }

    /// Opens the device that `choice` names.
    ///
    /// ```
    /// use tilewright::{Device, DeviceChoice};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let choice: DeviceChoice = "sim".parse()?;
    /// assert!(Device::open(choice)?.properties().compute_capability.is_none());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Device::cuda`], and [`ErrorKind::NoDeviceWithUuid`] unless one CUDA device has the requested
    /// UUID.
    pub fn open(choice: DeviceChoice) -> Result<Self> {
        match choice {
            DeviceChoice::Simulator => Ok(Self::simulator()),
            DeviceChoice::Cuda(ordinal) => Self::cuda(ordinal),
            DeviceChoice::Uuid(uuid) => Self::cuda_with_uuid(uuid),
        }
    }

    #[cfg(feature = "cuda")]
    fn cuda_with_uuid(uuid: DeviceUuid) -> Result<Self> {
        let number = crate::cuda::number_of(uuid).during("open")?;
        Self::cuda(number)
    }

    #[cfg(not(feature = "cuda"))]
    fn cuda_with_uuid(_uuid: DeviceUuid) -> Result<Self> {
        Err(ErrorKind::NoCudaFeature.during("open"))
    }

    /// Opens the device that `TILEWRIGHT_DEVICE` names: `sim`, `cuda`, `cuda:N` or a GPU's UUID.
    ///
    /// A named device is never replaced by another. If the variable is not set, this opens the first CUDA device, or
    /// the simulator if there is no driver or no device. A driver that fails is an error.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// // TILEWRIGHT_DEVICE=cuda:1 cargo run
    /// let device = Device::from_env()?;
    /// println!("{}: {} multiprocessors", device.name(), device.properties().multiprocessors);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::InvalidEnvironment`] if the variable names no device, and the errors of [`Device::cuda`]. If the
    /// variable is not set, [`ErrorKind::NoDriver`], [`ErrorKind::NoDevice`] and [`ErrorKind::NoCudaFeature`] do not
    /// occur.
    pub fn from_env() -> Result<Self> {
        match DeviceChoice::from_env()? {
            Some(choice) => Self::open(choice),
            None => Self::cuda(0).or_else(|error| match error.kind() {
                ErrorKind::NoDriver { .. }
                | ErrorKind::NoDevice { .. }
                | ErrorKind::NoCudaFeature => Ok(Self::simulator()),
                _ => Err(error),
            }),
        }
    }

    /// Waits until all work submitted to this device's stream is complete.
    ///
    /// # Errors
    /// [`ErrorKind::DeviceLost`] or [`ErrorKind::Cuda`] if any of that work failed.
    pub fn synchronize(&self) -> Result<()> {
        self.backend.synchronize().during("synchronize")
    }

    /// The device's name, such as `NVIDIA H200` or `simulator`.
    ///
    /// Several devices may have the same name. `Debug` and messages number them, as in `simulator #2` and `NVIDIA
    /// H200 (cuda:1)`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.properties().name
    }

    /// Whether this is the simulator.
    #[must_use]
    pub fn is_simulator(&self) -> bool {
        self.backend.is_simulator()
    }

    /// The device's limits, such as its number of multiprocessors.
    #[must_use]
    pub fn properties(&self) -> &DeviceProperties {
        self.backend.properties()
    }

    /// Bytes of device memory that new buffers could use now.
    ///
    /// This includes memory that no program uses, and memory of dropped buffers that this device keeps for reuse. On
    /// CUDA, a dropped buffer's memory becomes free when the work submitted before the drop is done.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let before = device.free_memory()?;
    /// let buffer = device.zeros::<f32>(1000)?;
    /// assert_eq!(device.free_memory()?, before - 4000);
    /// drop(buffer);
    /// assert_eq!(device.free_memory()?, before);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Device::synchronize`].
    pub fn free_memory(&self) -> Result<u64> {
        let memory = self.backend.memory().during("free_memory")?;
        Ok(memory.free + memory.kept)
    }

    /// The `CUstream` of this device's work, for libraries such as cuBLAS.
    ///
    /// It is `None` on the simulator and for a null stream. The stream lives as long as the device.
    #[must_use]
    pub fn raw_stream(&self) -> Option<NonNull<c_void>> {
        self.backend.raw_stream()
    }

    /// Runs `body` with this device's CUDA context current on the calling thread, for other CUDA libraries.
    ///
    /// The context is usually the device's primary one. On the simulator this only runs `body`. If `body` pushes a
    /// context, it must pop it.
    ///
    /// # Errors
    /// [`ErrorKind::DeviceLost`] or [`ErrorKind::Cuda`] if the context cannot be made current; `body` then does
    /// not run.
    pub fn with_current<R>(&self, body: impl FnOnce() -> R) -> Result<R> {
        self.in_context(body).during("with_current")
    }

    /// [`with_current`](Self::with_current) without the call's name in errors. Calls in `body` need not switch
    /// contexts themselves.
    pub(crate) fn in_context<R>(&self, body: impl FnOnce() -> R) -> Outcome<R> {
        let mut body = Some(body);
        let mut result = None;
        self.backend
            .with_current(&mut || result = body.take().map(|body| body()))?;
        Ok(result.expect("a backend runs the body once, or fails"))
    }

    /// Whether `other` is the same device, possibly with another stream.
    ///
    /// If so, each accepts the other's buffers.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        // Most operands of a call are of its own stream, which is compared without a call.
        Arc::ptr_eq(&self.backend, &other.backend)
            || self.backend.identity() == other.backend.identity()
    }

    pub(crate) fn of_backend(backend: Arc<dyn Backend>) -> Self {
        Self { backend }
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.backend
    }

    /// Fails unless `other`, the device of the operand `what`, is this device.
    pub(crate) fn check_owns(&self, what: impl FnOnce() -> String, other: &Self) -> Outcome<()> {
        match self.is_same(other) {
            true => Ok(()),
            false => Err(self.wrong_device(what(), other)),
        }
    }

    /// The device's name and number, which tell it from others of that name.
    pub(crate) fn label(&self) -> String {
        self.backend.label()
    }

    fn wrong_device(&self, what: String, other: &Self) -> ErrorKind {
        ErrorKind::WrongDevice {
            what,
            expected: self.label(),
            found: other.label(),
        }
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Device")
            .field(&format_args!("{}", self.label()))
            .finish()
    }
}

/// The device for functions that do not take one: [`Device::from_env`], opened on first use.
///
/// It stays open until the process ends.
///
/// ```
/// use tilewright::{default_device, reduce_sum};
///
/// # fn main() -> tilewright::Result<()> {
/// let x = default_device()?.upload(&[1_i32, 2, 3])?;
/// assert_eq!(default_device()?.reduce_sum(&x)?, 6);
/// assert_eq!(reduce_sum(&[1_i32, 2, 3])?, 6); // uploads to the same device
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// The errors of [`Device::from_env`]. A failure is not cached: the next call tries again.
pub fn default_device() -> Result<&'static Device> {
    static DEFAULT: OnceLock<Device> = OnceLock::new();
    if let Some(device) = DEFAULT.get() {
        return Ok(device);
    }
    let device = Device::from_env()?;
    Ok(DEFAULT.get_or_init(|| device))
}
