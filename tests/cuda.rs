//! Properties of CUDA devices alone: images, functions' limits, one device for each number.

#![cfg(feature = "cuda")]

mod common;

use common::cuda_device;
use cuda_std::global::GlobalMut;
use cuda_std::kernel::{Kernel, LaunchBounds};
use tilewright::{Device, Error, ErrorKind, LaunchConfig, ModuleSource};
use tilewright_test_support::assert_kind;

/// Writes its number of bytes of dynamic shared memory to `out[0]`, after using the last of them.
#[derive(Clone, Copy)]
struct DynamicShared;

impl Kernel for DynamicShared {
    type Params<'launch> = (GlobalMut<'launch, u32>,);

    const NAME: &'static str = "dynamic_shared";

    const BOUNDS: LaunchBounds = LaunchBounds::new(None, None, None);

    unsafe fn run(_: Self::Params<'_>) {
        unreachable!("this file has tests for CUDA only");
    }
}

const DYNAMIC_SHARED_PTX: &str = "
.version 6.3
.target sm_75
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
.visible .entry dynamic_shared(.param .u64 out, .param .u64 out_len)
{
    .reg .u32 %size, %last, %value;
    .reg .u64 %out;
    mov.u32 %size, %dynamic_smem_size;
    mov.u32 %last, dynamic;
    add.u32 %last, %last, %size;
    st.shared.u32 [%last + -4], %size;
    ld.shared.u32 %value, [%last + -4];
    ld.param.u64 %out, [out];
    cvta.to.global.u64 %out, %out;
    st.global.u32 [%out], %value;
    ret;
}
";

/// An image that every device tries first or second, and none compiles.
const BROKEN_PTX: &str = ".version 6.3\n.target sm_75\n.address_size 64\nthis is not PTX;\n";

// SAFETY: (1) the image's only entry is `dynamic_shared`, and it does what is said there.
static WORKING: ModuleSource =
    unsafe { ModuleSource::new("working", &[("sm_75", DYNAMIC_SHARED_PTX)]) };

// SAFETY: (1) as above; the other image does not load.
static HALF_BROKEN: ModuleSource = unsafe {
    ModuleSource::new(
        "half broken",
        &[("sm_70", DYNAMIC_SHARED_PTX), ("sm_75", BROKEN_PTX)],
    )
};

// SAFETY: (1) no image loads.
static BROKEN: ModuleSource = unsafe {
    ModuleSource::new(
        "broken",
        &[("sm_75", BROKEN_PTX), ("sm_999", DYNAMIC_SHARED_PTX)],
    )
};

fn dynamic_shared_bytes(
    device: &Device,
    source: &'static ModuleSource,
    bytes: u32,
) -> tilewright::Result<u32> {
    let module = device.load(source)?;
    let mut out = device.zeros::<u32>(1)?;
    let config = LaunchConfig::new(1, 1).with_dynamic_shared(bytes);
    // SAFETY: (1) the block has at least the four bytes of shared memory that the kernel uses.
    unsafe { module.launch_unsafe(DynamicShared, config, (&mut out,))? };
    Ok(out.to_vec()?[0])
}

#[test]
fn dynamic_shared_memory_goes_up_to_the_devices_limit() {
    let Some(device) = cuda_device() else { return };
    let limit = device.properties().max_shared_bytes_per_block;
    for bytes in [16, 48 << 10, (48 << 10) + 16, limit, 32] {
        assert_eq!(
            dynamic_shared_bytes(&device, &WORKING, bytes).unwrap(),
            bytes
        );
    }
    let error = dynamic_shared_bytes(&device, &WORKING, limit + 16).unwrap_err();
    assert_kind!(error is ErrorKind::LaunchConfig { .. });
}

#[test]
fn an_image_that_does_not_compile_gives_way_to_the_next() {
    let Some(device) = cuda_device() else { return };
    assert_eq!(dynamic_shared_bytes(&device, &HALF_BROKEN, 64).unwrap(), 64);
}

#[test]
fn a_module_that_does_not_load_says_why() {
    let Some(device) = cuda_device() else { return };
    let error = device.load(&BROKEN).unwrap_err();
    let ErrorKind::NoModule { module, images, .. } = error.kind() else {
        panic!("another error: {error}");
    };
    assert_eq!((*module, images.len()), ("broken", 2));
    let text = error.to_string();
    for part in ["sm_75", "sm_999", "PTX 6.3", "CUDA 10.0", "line 4"] {
        assert!(text.contains(part), "{part} is missing in: {text}");
    }
    assert_eq!(dynamic_shared_bytes(&device, &WORKING, 64).unwrap(), 64);
}

#[test]
fn an_entry_that_is_not_there_is_named() {
    /// No image has it.
    #[derive(Clone, Copy)]
    struct Missing;

    impl Kernel for Missing {
        type Params<'launch> = ();

        const NAME: &'static str = "missing";

        const BOUNDS: LaunchBounds = LaunchBounds::new(None, None, None);

        unsafe fn run((): Self::Params<'_>) {}
    }

    let Some(device) = cuda_device() else { return };
    let module = device.load(&WORKING).unwrap();
    // SAFETY: (1) the kernel asks for nothing.
    let error = unsafe { module.launch_unsafe(Missing, LaunchConfig::new(1, 1), ()) };
    assert!(matches!(
        error.as_ref().map_err(Error::kind),
        Err(ErrorKind::Launch {
            kernel: "missing",
            code: 500,
            ..
        })
    ));
}

/// Kernels of this crate, as far as the host knows.
mod kernels {
    use cuda_std::prelude::*;

    /// Does nothing with 8 bytes of parameters; the images below have entries of its name.
    #[kernel]
    pub fn shared_name(_number: u64) {}
}

/// An image whose entry `shared_name` takes a number, with or without a signature beside it.
fn image_of_shared_name(signature: Option<&str>) -> &'static ModuleSource {
    let mut ptx = ".version 6.3\n.target sm_75\n.address_size 64\n".to_owned();
    if let Some(signature) = signature {
        let bytes: Vec<String> = signature.bytes().map(|byte| byte.to_string()).collect();
        let (len, bytes) = (bytes.len(), bytes.join(", "));
        ptx += &format!(
            ".visible .global .align 1 .b8 __signature_of_shared_name[{len}] = {{{bytes}}};\n"
        );
    }
    ptx += ".visible .entry shared_name(.param .u64 number) { ret; }\n";
    let images = Box::leak(Box::new([("sm_75", &*ptx.leak())]));
    // SAFETY: (1) whatever the entry's signature is, it does nothing.
    Box::leak(Box::new(unsafe {
        ModuleSource::new("shared name", images)
    }))
}

#[test]
fn an_entry_of_another_kernel_is_not_launched() {
    let Some(device) = cuda_device() else { return };
    let own = <kernels::shared_name as Kernel>::SIGNATURE
        .expect("`#[kernel]` writes a signature")
        .to_string();
    let launch = |signature| {
        let module = device.load(image_of_shared_name(signature))?;
        module.launch(kernels::shared_name, LaunchConfig::new(1, 1), (7_u64,))?;
        device.synchronize()
    };
    launch(Some(&own)).unwrap();
    let of_another_crate = own.replace("cuda::", "other::");
    let with_other_parameters = own.replace("(u64)8.8", "(f32)4.4");
    for other in [
        None,
        Some(&*of_another_crate),
        Some(&*with_other_parameters),
    ] {
        let error = launch(other).unwrap_err();
        let ErrorKind::OtherKernel {
            kernel: "shared_name",
            module: "shared name",
            expected,
            found,
        } = error.kind()
        else {
            panic!("another error: {error}");
        };
        assert_eq!((expected, found.as_deref()), (&own, other), "{error}");
        assert_ne!(other, Some(&*own), "the signature was changed");
    }
    // The kernel of the right signature is launched all the same.
    launch(Some(&own)).unwrap();
}

/// The context that is current on this thread, as the driver says.
#[cfg(target_os = "linux")]
fn current_context() -> usize {
    use libloading::Library;
    let mut context = 0;
    // SAFETY: the library is open already; the function takes a place for one handle.
    let status = unsafe {
        let library = Library::new("libcuda.so.1").unwrap();
        let get_current = library
            .get::<unsafe extern "C" fn(*mut usize) -> i32>(b"cuCtxGetCurrent")
            .unwrap();
        get_current(&raw mut context)
    };
    assert_eq!(status, 0);
    context
}

#[cfg(target_os = "linux")]
#[test]
fn a_call_leaves_the_threads_current_context_as_it_was() {
    let Some(device) = cuda_device() else { return };
    let use_device = || {
        let x = device.upload(&[1_u32; 1000]).unwrap();
        let mut sum = device.zeros::<u64>(1).unwrap();
        device.reduce_sum_into(&x, &mut sum).unwrap();
        assert_eq!(device.reduce_sum(&x).unwrap(), 1000);
        assert_eq!(sum.to_vec().unwrap(), [1000]);
        let a = device.matrix((2, 2), &[1.0_f32; 4]).unwrap();
        assert_eq!(
            device.matmul_tiled(&a, &a).unwrap().to_vec().unwrap(),
            [2.0; 4]
        );
    };
    assert_eq!(current_context(), 0, "a test's thread has no context");
    use_device();
    assert_eq!(current_context(), 0);
    let of_device = device.with_current(|| {
        let before = current_context();
        use_device();
        assert_eq!(current_context(), before);
        before
    });
    assert_ne!(of_device.unwrap(), 0);
    assert_eq!(current_context(), 0);
}

#[test]
fn one_number_is_one_device() {
    let Some(device) = cuda_device() else { return };
    let same = Device::cuda(0).unwrap();
    assert!(same.is_same(&device));
    assert!(device.properties().multiprocessors > 0);
    assert!(device.properties().compute_capability.unwrap() >= (7, 5));
}

#[test]
fn threads_that_load_and_launch_at_once_do_not_disturb_each_other() {
    let Some(device) = cuda_device() else { return };
    std::thread::scope(|scope| {
        for thread in 1..=8 {
            let device = &device;
            scope.spawn(move || {
                for _ in 0..50 {
                    let bytes = thread * 8192;
                    let answer = dynamic_shared_bytes(device, &WORKING, bytes).unwrap();
                    assert_eq!(answer, bytes);
                }
            });
        }
    });
}
