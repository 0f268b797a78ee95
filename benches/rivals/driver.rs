//! The driver alone: the cost that every library pays.

use crate::common::Result;
use libloading::Library;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr;
use tilewright::Device;

const LIBRARY: &str = "libcuda.so.1";

type Handle = *mut c_void;
type Status = c_int;

/// An entry with as many parameters as `reduce_sum_f32` that does nothing.
const NOTHING: &std::ffi::CStr = c"
.version 6.3
.target sm_75
.address_size 64
.visible .entry nothing(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d,
                        .param .u64 e, .param .u64 f, .param .u64 g, .param .u64 h)
{
    ret;
}
";

macro_rules! functions {
    ($($name:ident($($parameter:ty),*);)*) => {
        #[derive(Clone, Copy)]
        #[expect(non_snake_case, reason = "the names are the driver's")]
        struct Functions {
            $($name: unsafe extern "C" fn($($parameter),*) -> Status,)*
        }

        impl Functions {
            fn load() -> Result<Self> {
                // SAFETY: the driver's library may be loaded at run time, and the functions have
                // these parameters.
                unsafe {
                    let library = Library::new(LIBRARY)?;
                    let functions = Self { $($name: *library.get(stringify!($name))?,)* };
                    // The functions must stay valid.
                    std::mem::forget(library);
                    Ok(functions)
                }
            }
        }
    };
}

functions! {
    cuInit(c_uint);
    cuDeviceGet(*mut c_int, c_int);
    cuDevicePrimaryCtxRetain(*mut Handle, c_int);
    cuCtxGetCurrent(*mut Handle);
    cuCtxSetCurrent(Handle);
    cuCtxPushCurrent_v2(Handle);
    cuCtxPopCurrent_v2(*mut Handle);
    cuModuleLoadData(*mut Handle, *const c_char);
    cuModuleGetFunction(*mut Handle, Handle, *const c_char);
    cuLaunchKernel(
        Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut *mut c_void,
        *mut *mut c_void
    );
    cuLaunchKernelEx(*const Config, Handle, *mut *mut c_void, *mut *mut c_void);
    cuStreamSynchronize(Handle);
    cuStreamQuery(Handle);
}

/// `CUlaunchConfig`.
#[repr(C)]
struct Config {
    grid: [c_uint; 3],
    block: [c_uint; 3],
    shared_bytes: c_uint,
    stream: Handle,
    attributes: *const Attribute,
    number_of_attributes: c_uint,
}

/// `CUlaunchAttribute`, with a value of 64 bytes.
#[repr(C, align(8))]
struct Attribute {
    id: c_uint,
    padding: [u8; 4],
    value: [c_int; 16],
}

/// `CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION`.
const MAY_OVERLAP: c_uint = 6;

/// `CUDA_ERROR_NOT_READY`.
const NOT_READY: Status = 600;

/// The driver in the stream of one device.
#[derive(Clone)]
pub struct Driver {
    functions: Functions,
    context: Handle,
    stream: Handle,
    nothing: Handle,
}

/// Starts the driver.
pub fn init() -> Result {
    let functions = Functions::load()?;
    // SAFETY: flags must be 0.
    check(unsafe { (functions.cuInit)(0) })
}

/// Makes the primary context of device 0, which stays. The driver has been started.
pub fn retain_context() -> Result {
    let functions = Functions::load()?;
    let (mut device, mut context) = (0, ptr::null_mut());
    // SAFETY: both are places for one handle.
    unsafe {
        check((functions.cuDeviceGet)(&raw mut device, 0))?;
        check((functions.cuDevicePrimaryCtxRetain)(
            &raw mut context,
            device,
        ))
    }
}

impl Driver {
    /// # Errors
    /// The missing library or function, in one line.
    pub fn open(device: &Device) -> Result<Self> {
        let stream = device.raw_stream().ok_or("the device has no stream")?;
        let functions = Functions::load()?;
        let (mut module, mut nothing, mut context) =
            (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
        // SAFETY: each is a place for one handle; the device's context is current; the texts end
        // with 0.
        device.with_current(|| unsafe {
            check((functions.cuCtxGetCurrent)(&raw mut context))?;
            check((functions.cuModuleLoadData)(
                &raw mut module,
                NOTHING.as_ptr(),
            ))?;
            check((functions.cuModuleGetFunction)(
                &raw mut nothing,
                module,
                c"nothing".as_ptr(),
            ))
        })??;
        Ok(Self {
            functions,
            context,
            stream: stream.as_ptr(),
            nothing,
        })
    }

    /// Launches a kernel that does nothing, in 16 blocks. The context is current.
    pub fn launch(&self) -> Result {
        let mut values = [0_u64; 8];
        let mut parameters = values.each_mut().map(|value| ptr::from_mut(value).cast());
        // SAFETY: the kernel takes 8 numbers, and touches no memory.
        check(unsafe {
            (self.functions.cuLaunchKernel)(
                self.nothing,
                16,
                1,
                1,
                256,
                1,
                1,
                0,
                self.stream,
                parameters.as_mut_ptr(),
                ptr::null_mut(),
            )
        })
    }

    /// [`launch`](Self::launch) of a kernel that may start before the one before it ends, as those of products do.
    pub fn launch_overlapping(&self) -> Result {
        let mut values = [0_u64; 8];
        let mut parameters = values.each_mut().map(|value| ptr::from_mut(value).cast());
        let mut attribute = Attribute {
            id: MAY_OVERLAP,
            padding: [0; 4],
            value: [0; 16],
        };
        attribute.value[0] = 1;
        let config = Config {
            grid: [16, 1, 1],
            block: [256, 1, 1],
            shared_bytes: 0,
            stream: self.stream,
            attributes: &raw const attribute,
            number_of_attributes: 1,
        };
        // SAFETY: the kernel takes 8 numbers, and touches no memory. The driver reads the configuration in the call.
        check(unsafe {
            (self.functions.cuLaunchKernelEx)(
                &raw const config,
                self.nothing,
                parameters.as_mut_ptr(),
                ptr::null_mut(),
            )
        })
    }

    /// A launch, and the wait for it.
    pub fn launch_and_synchronize(&self) -> Result {
        self.launch()?;
        // SAFETY: the stream is alive.
        check(unsafe { (self.functions.cuStreamSynchronize)(self.stream) })
    }

    /// A launch, and polling until it is done.
    pub fn launch_and_query(&self) -> Result {
        self.launch()?;
        loop {
            // SAFETY: the stream is alive.
            match unsafe { (self.functions.cuStreamQuery)(self.stream) } {
                NOT_READY => std::hint::spin_loop(),
                status => return check(status),
            }
        }
    }

    pub fn get_current(&self) -> Result {
        let mut context = ptr::null_mut();
        // SAFETY: the place is for one handle.
        check(unsafe { (self.functions.cuCtxGetCurrent)(&raw mut context) })
    }

    /// Makes the context current and removes it, with the stack.
    pub fn push_and_pop(&self) -> Result {
        let mut context = ptr::null_mut();
        // SAFETY: the context is alive; the place is for one handle.
        unsafe {
            check((self.functions.cuCtxPushCurrent_v2)(self.context))?;
            check((self.functions.cuCtxPopCurrent_v2)(&raw mut context))
        }
    }

    /// Makes the context current and removes it, without the stack.
    pub fn set_and_reset(&self) -> Result {
        // SAFETY: the context is alive; null makes none current.
        unsafe {
            check((self.functions.cuCtxSetCurrent)(self.context))?;
            check((self.functions.cuCtxSetCurrent)(ptr::null_mut()))
        }
    }
}

fn check(status: Status) -> Result {
    match status {
        0 => Ok(()),
        status => Err(format!("the driver's status is {status}").into()),
    }
}
