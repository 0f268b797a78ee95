//! The devices of tilewright for those of candle.

use candle_core::{Error, Result};
use std::sync::OnceLock;
use tilewright::Device;

/// The device for tensors on the CPU.
pub fn simulator() -> &'static Device {
    static SIMULATOR: OnceLock<Device> = OnceLock::new();
    SIMULATOR.get_or_init(Device::simulator)
}

/// The device in the stream of one of candle's CUDA devices. It is opened once, and keeps the kernels that it has loaded.
#[cfg(feature = "cuda")]
pub fn bridge(device: &candle_core::CudaDevice) -> Result<tilewright::interop::cudarc::Bridge> {
    use candle_core::cuda_backend::DeviceId;
    use std::collections::HashMap;
    use std::collections::hash_map::Entry;
    use std::sync::{Mutex, PoisonError};
    use tilewright::interop::cudarc::Bridge;

    static BRIDGES: OnceLock<Mutex<HashMap<DeviceId, Bridge>>> = OnceLock::new();
    let bridges = BRIDGES.get_or_init(Mutex::default);
    let mut bridges = bridges.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(match bridges.entry(device.id()) {
        Entry::Occupied(bridge) => bridge.get().clone(),
        Entry::Vacant(place) => {
            let bridge = Bridge::new(&device.cuda_stream()).map_err(Error::wrap)?;
            place.insert(bridge).clone()
        }
    })
}

/// The result of a call of tilewright as one of candle.
pub fn wrapped<R>(result: tilewright::Result<R>) -> Result<R> {
    result.map_err(Error::wrap)
}
