//! The use of device memory.

use crate::backend::MemoryUse;
use crate::device::Device;
use crate::error::{During, Result};

impl Device {
    /// How much of the device's memory is in use now, and how much is free.
    ///
    /// ```
    /// use tilewright::Device;
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let x = device.zeros::<f32>(1000)?;
    /// let memory = device.memory()?;
    /// assert_eq!((memory.used, memory.free), (4000, memory.total - 4000));
    /// # drop(x);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`Device::synchronize`].
    pub fn memory(&self) -> Result<MemoryUse> {
        self.backend().memory().during("memory")
    }

    /// Returns the memory of dropped buffers, except for up to `kept` bytes, to the driver for other programs.
    ///
    /// Waits for the work of all streams first, so that all dropped buffers are free.
    ///
    /// # Errors
    /// The errors of [`Device::synchronize`].
    pub fn trim_memory(&self, kept: u64) -> Result<()> {
        self.backend().trim_memory(kept).during("trim_memory")
    }

    /// Limits the memory of dropped buffers that the device keeps; by default it keeps all.
    ///
    /// When the device waits for work, it returns memory beyond `kept` bytes to the driver. Kept memory makes later
    /// allocations faster. Devices that share memory with `cust`, and the simulator, keep none.
    ///
    /// # Errors
    /// The errors of [`Device::synchronize`].
    pub fn keep_memory(&self, kept: u64) -> Result<()> {
        self.backend().keep_memory(kept).during("keep_memory")
    }
}
