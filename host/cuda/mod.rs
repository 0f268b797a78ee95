//! CUDA devices. Only this folder uses the driver's bindings, `cuda_bindings`.
//!
//! The bindings are the declarations (`driver::sys`) of a release of the crate `cudarc`. Its safe layer reads each
//! status as a Rust enum of one CUDA version, so a newer driver's code would be undefined behaviour. `library.rs`
//! describes how the declared functions are found and called instead.
//!
//! | file            | contents                                                      |
//! |-----------------|---------------------------------------------------------------|
//! | `library.rs`    | the driver's library, opened at run time, and its functions   |
//! | `driver.rs`     | calls of driver functions, and their failures                 |
//! | `context.rs`    | contexts and streams                                          |
//! | `streams.rs`    | the streams of a device, and the order between them           |
//! | `gpu.rs`        | what the streams of a device share                            |
//! | `properties.rs` | properties and limits of a device                             |
//! | `memory.rs`     | allocation, from a private pool if the driver has pools       |
//! | `rows.rs`       | two-dimensional copies                                        |
//! | `staged.rs`     | copies of pageable memory, by several threads                 |
//! | `compile.rs`    | the driver's compiler, and the choice of the image            |
//! | `statics.rs`    | static arrays of a module                                     |
//! | `static_order.rs` | the order of launches that share a module's memory          |
//! | `modules.rs`    | compiled modules and their functions                          |
//! | `function.rs`   | a function of a compiled module, and its key                  |
//! | `known.rs`      | the functions that were launched, found without a lock        |
//! | `output.rs`     | lines that kernels print, and where kernels panic             |
//! | `textures.rs`   | textures, and the CUDA arrays that hold them                  |
//! | `start.rs`      | the start of the driver, and its devices                      |
//! | `occupancy.rs`  | the number of resident blocks of a compiled kernel            |
//! | `device.rs`     | the backend: one stream of a device                           |
//! | `exchange.rs`   | sharing contexts and memory (feature `cust`)                  |

mod compile;
mod context;
mod device;
mod driver;
#[cfg(feature = "cust")]
mod exchange;
mod function;
mod gpu;
mod known;
mod library;
mod memory;
mod modules;
mod occupancy;
mod output;
mod properties;
mod rows;
mod staged;
mod start;
mod static_order;
mod statics;
mod streams;
mod textures;

#[cfg(feature = "cust")]
pub(crate) use exchange::{open_current, open_current_primary};

use crate::backend::Backend;
use crate::environment::DeviceUuid;
use crate::error::Outcome;
use crate::locks::lock;
use crate::properties::DeviceProperties;
use context::Stream;
pub(crate) use device::CudaDevice;
use gpu::{Gpu, Owner};
use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex, Weak};

/// An open device, and its first stream unless that was dropped.
type Opened = (Weak<Gpu>, Weak<CudaDevice>);

/// The open devices, so that two calls with the same number share buffers and order.
static OPEN: Mutex<Option<HashMap<u32, Opened>>> = Mutex::new(None);

/// Returns CUDA device `ordinal`, and opens it if it is not open.
pub(crate) fn open(ordinal: u32) -> Outcome<Arc<dyn Backend>> {
    let mut open = lock(&OPEN);
    let open = open.get_or_insert_default();
    let (gpu, device) = open.get(&ordinal).cloned().unwrap_or_default();
    if let Some(device) = device.upgrade() {
        return Ok(device);
    }
    let device = match gpu.upgrade() {
        Some(gpu) => CudaDevice::on(gpu, Stream::new)?,
        None => CudaDevice::open(ordinal)?,
    };
    let device = Arc::new(device);
    open.insert(
        ordinal,
        (Arc::downgrade(&device.gpu), Arc::downgrade(&device)),
    );
    Ok(device)
}

/// The number of the device with this UUID.
pub(crate) fn number_of(uuid: DeviceUuid) -> Outcome<u32> {
    start::start_driver(0)?;
    start::number_of(uuid)
}

/// The driver's data about each of its devices, without opening it.
pub(crate) fn described() -> Outcome<Vec<Described>> {
    let driver = start::start_driver(0)?;
    let devices = start::all_devices()?.into_iter();
    let described = devices.map(|(number, device)| {
        let uuid = start::uuid_of(device).map_err(start::cuda_error)?;
        let properties = properties::read(device, driver).map_err(start::cuda_error)?;
        let is_prohibited = properties::is_prohibited(device).map_err(start::cuda_error)?;
        Ok((number, uuid, properties, is_prohibited))
    });
    described.collect()
}

/// A device's number, UUID and properties, and whether its compute mode prohibits programs.
pub(crate) type Described = (u32, DeviceUuid, DeviceProperties, bool);

/// A device in the caller's context and stream, which keeps their owner.
///
/// # Safety
/// The requirements of [`CudaDevice::open_in`].
pub(crate) unsafe fn open_in(
    context: NonNull<c_void>,
    stream: *mut c_void,
    owner: Option<Owner>,
) -> Outcome<Arc<dyn Backend>> {
    // SAFETY: the caller's contract.
    let device = unsafe { CudaDevice::open_in(context, stream, owner) }?;
    Ok(Arc::new(device))
}
