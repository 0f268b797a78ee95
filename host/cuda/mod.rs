//! CUDA devices. This folder is the only place that names `cust`.
//!
//! It uses the bindings of `cust` (`cust::sys`) and the linking that comes with them, not its
//! safe layer, for two reasons. First, that layer reads every status as a Rust enum of CUDA
//! 11.4: a code that a newer driver invented would be undefined behaviour. Second, it has
//! functions that are safe only by name (`DeviceSlice` is `Copy` without a lifetime,
//! `Stream::add_callback` takes closures that borrow); what is not used cannot be reached.
//!
//! | file            | what it holds                                                 |
//! |-----------------|---------------------------------------------------------------|
//! | `driver.rs`     | how a driver function is called, and what its failures mean   |
//! | `context.rs`    | the primary context and the stream of a device                |
//! | `properties.rs` | what a device is and allows                                   |
//! | `memory.rs`     | allocation, from a pool of our own where the driver has pools |
//! | `images.rs`     | which PTX image is best for a device                          |
//! | `modules.rs`    | compiled modules and their functions                          |
//! | `textures.rs`   | textures and the CUDA arrays behind them                      |
//! | `start.rs`      | the driver's start, and the devices that it shows             |
//! | `occupancy.rs`  | how many blocks of a compiled kernel are resident at once     |
//! | `device.rs`     | the backend                                                   |

mod context;
mod device;
mod driver;
mod images;
mod memory;
mod modules;
mod occupancy;
mod properties;
mod start;
mod textures;

use crate::backend::Backend;
use crate::error::Result;
use device::CudaDevice;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The devices that are open, so that two calls with one number share buffers and order.
static OPEN: Mutex<Option<HashMap<u32, Weak<CudaDevice>>>> = Mutex::new(None);

/// The CUDA device `ordinal`, opened now or before.
pub(crate) fn open(ordinal: u32) -> Result<Arc<dyn Backend>> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let open = open.get_or_insert_default();
    if let Some(device) = open.get(&ordinal).and_then(Weak::upgrade) {
        return Ok(device);
    }
    let device = Arc::new(CudaDevice::open(ordinal)?);
    open.insert(ordinal, Arc::downgrade(&device));
    Ok(device)
}
