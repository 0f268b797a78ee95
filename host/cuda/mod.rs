//! CUDA devices. This folder is the only place that names `cudarc`, the driver's bindings.
//!
//! Of `cudarc` it uses the declarations alone (`driver::sys`): its safe layer reads every status as
//! a Rust enum of one version of CUDA, and a code that a newer driver invented would be undefined
//! behaviour. `library.rs` says how the declared functions are found and called instead.
//!
//! | file            | what it holds                                                 |
//! |-----------------|---------------------------------------------------------------|
//! | `library.rs`    | the driver's library, opened at run time, and its functions   |
//! | `driver.rs`     | how a driver function is called, and what its failures mean   |
//! | `context.rs`    | the context and the stream of a device                        |
//! | `properties.rs` | what a device is and allows                                   |
//! | `memory.rs`     | allocation, from a pool of our own where the driver has pools |
//! | `rows.rs`       | two-dimensional copies                                        |
//! | `compile.rs`    | the driver's compiler, and the image that it is given         |
//! | `statics.rs`    | static arrays of a module                                     |
//! | `modules.rs`    | compiled modules and their functions                          |
//! | `output.rs`     | lines that kernels print, and where they panic                |
//! | `textures.rs`   | textures, and the CUDA arrays that hold them                  |
//! | `start.rs`      | the driver's start, and the devices that it shows             |
//! | `occupancy.rs`  | how many blocks of a compiled kernel are resident at once     |
//! | `device.rs`     | the backend                                                   |
//! | `exchange.rs`   | contexts, memory and order that others share (feature `cust`) |

mod compile;
mod context;
mod device;
mod driver;
#[cfg(feature = "cust")]
mod exchange;
mod library;
mod memory;
mod modules;
mod occupancy;
mod output;
mod properties;
mod rows;
mod start;
mod statics;
mod textures;

#[cfg(feature = "cust")]
pub(crate) use exchange::{open_current, open_current_primary};

use crate::backend::Backend;
use crate::error::Outcome;
pub(crate) use device::CudaDevice;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The devices that are open, so that two calls with one number share buffers and order.
static OPEN: Mutex<Option<HashMap<u32, Weak<CudaDevice>>>> = Mutex::new(None);

/// The CUDA device `ordinal`, opened now or before.
pub(crate) fn open(ordinal: u32) -> Outcome<Arc<dyn Backend>> {
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    let open = open.get_or_insert_default();
    if let Some(device) = open.get(&ordinal).and_then(Weak::upgrade) {
        return Ok(device);
    }
    let device = Arc::new(CudaDevice::open(ordinal)?);
    open.insert(ordinal, Arc::downgrade(&device));
    Ok(device)
}
