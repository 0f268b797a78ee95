//! The use of device memory.

use crate::backend::MemoryUse;
use crate::device::Device;
use crate::error::{During, Result};

impl Device {
    /// The use of the device's memory now.
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
    /// Those of [`Device::synchronize`].
    pub fn memory(&self) -> Result<MemoryUse> {
        self.backend().memory().during("memory")
    }

    /// Returns memory of dropped buffers to the driver, for other programs, until the device keeps at most `kept`
    /// bytes more than its buffers use.
    ///
    /// Waits for the work of all streams, so that what was dropped is free.
    ///
    /// # Errors
    /// Those of [`Device::synchronize`].
    pub fn trim_memory(&self, kept: u64) -> Result<()> {
        self.backend().trim_memory(kept).during("trim_memory")
    }

    /// Lets the device keep at most `kept` bytes of dropped buffers when it waits for work; all of them by default.
    ///
    /// What it keeps makes allocations fast. Devices that share memory with `cust`, and the simulator, keep none.
    ///
    /// # Errors
    /// Those of [`Device::synchronize`].
    pub fn keep_memory(&self, kept: u64) -> Result<()> {
        self.backend().keep_memory(kept).during("keep_memory")
    }
}
