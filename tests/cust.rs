//! Contexts, buffers and streams of the crate `cust`, on the GPU. The program links the driver, so
//! it starts only on a machine that has one.

mod common;

use common::say;
use cust::context::Context;
use cust::context::legacy;
use cust::memory::{AsyncCopyDestination as _, DeviceBuffer, DevicePointer, mem_get_info};
use cust::module::Module;
use cust::stream::{Stream, StreamFlags};
use std::mem::ManuallyDrop;
use std::thread;
use tilewright::interop::cust as interop;
use tilewright::{Device, ErrorKind};
use tilewright_test_support::assert_kind;

/// Spins for 0.2 s, then writes `value` to all `len` elements, with one thread.
const SLOW_FILL: &str = "
.version 6.3
.target sm_75
.address_size 64
.visible .entry slow_fill(.param .u64 out, .param .u32 len, .param .u32 value)
{
    .reg .u64 %start, %now, %out;
    .reg .u32 %left, %value;
    .reg .pred %more;
    mov.u64 %start, %globaltimer;
spin:
    mov.u64 %now, %globaltimer;
    sub.u64 %now, %now, %start;
    setp.lt.u64 %more, %now, 200000000;
    @%more bra spin;
    ld.param.u64 %out, [out];
    cvta.to.global.u64 %out, %out;
    ld.param.u32 %left, [len];
    ld.param.u32 %value, [value];
fill:
    st.global.u32 [%out], %value;
    add.u64 %out, %out, 4;
    sub.u32 %left, %left, 1;
    setp.ne.u32 %more, %left, 0;
    @%more bra fill;
    ret;
}
";

/// The context that `cust` makes current on this thread. Where there is no device, the test says so.
fn cust_context() -> Option<Context> {
    match cust::quick_init() {
        Ok(context) => Some(context),
        Err(error) => {
            say(&format!("skipped: cust finds no device ({error:?})"));
            None
        }
    }
}

/// A device in the context that is current, and a `cust` stream of it.
fn device_and_stream() -> Option<(Context, Device, Stream)> {
    let context = cust_context()?;
    let stream = Stream::new(StreamFlags::NON_BLOCKING, None).unwrap();
    Some((context, interop::device().unwrap(), stream))
}

fn adopt(
    device: &Device,
    buffer: DeviceBuffer<u32>,
) -> tilewright::Result<tilewright::Buffer<u32>> {
    // SAFETY: (1) these tests keep no slices and pointers of buffers that they give away. (2) All
    // streams are those of `cust`.
    unsafe { interop::buffer_from_cust(device, buffer) }
}

fn slow_fill(stream: &Stream, module: &Module, address: u64, len: u32, value: u32) {
    let function = module.get_function("slow_fill").unwrap();
    let out = DevicePointer::<u32>::from_raw(address);
    // SAFETY: the kernel takes an address, a length and a value; the memory has the elements, and
    // lives until the stream's work is done.
    unsafe { cust::launch!(function<<<1, 1, 0, stream>>>(out, len, value)) }.unwrap();
}

#[test]
fn a_sum_reads_a_cust_buffer_without_a_copy_and_gives_it_back() {
    let Some(_context) = cust_context() else {
        return;
    };
    let device = interop::device().unwrap();
    assert!(!device.is_simulator());
    let numbers: Vec<u32> = (0..1_000_003).collect();
    let theirs = DeviceBuffer::from_slice(&numbers).unwrap();
    let address = theirs.as_device_ptr().as_raw();

    let x = adopt(&device, theirs).unwrap();
    assert_eq!((x.device_address(), x.len()), (address, numbers.len()));
    let expected: u64 = numbers.iter().copied().map(u64::from).sum();
    assert_eq!(device.reduce_sum(&x).unwrap(), expected);

    let theirs = interop::buffer_into_cust(x).unwrap();
    assert_eq!(theirs.as_device_ptr().as_raw(), address);
    assert_eq!(theirs.as_host_vec().unwrap(), numbers);
}

#[test]
fn a_buffer_of_the_device_becomes_one_of_cust() {
    let Some(_context) = cust_context() else {
        return;
    };
    let device = interop::device().unwrap();
    let a = device.matrix((2, 2), &[1.0_f32, 2.0, 3.0, 4.0]).unwrap();
    let product = device.matmul_tiled(&a, &a).unwrap();
    let product = product.into_buffer();
    let address = product.device_address();
    let theirs = interop::buffer_into_cust(product).unwrap();
    assert_eq!(theirs.as_device_ptr().as_raw(), address);
    assert_eq!(theirs.as_host_vec().unwrap(), [7.0, 10.0, 15.0, 22.0]);
}

#[test]
fn buffers_without_elements_go_both_ways() {
    let Some(_context) = cust_context() else {
        return;
    };
    let device = interop::device().unwrap();
    let empty = adopt(&device, DeviceBuffer::from_slice(&[]).unwrap()).unwrap();
    assert_eq!(device.reduce_sum(&empty).unwrap(), 0);
    assert_eq!(interop::buffer_into_cust(empty).unwrap().len(), 0);
}

#[test]
fn memory_of_a_stream_ordered_allocation_is_taken_too() {
    let Some((_context, device, stream)) = device_and_stream() else {
        return;
    };
    let numbers = [1_u32, 10, 100];
    // SAFETY: the numbers live until the stream is done with them.
    let theirs = unsafe { DeviceBuffer::from_slice_async(&numbers, &stream) }.unwrap();
    stream.synchronize().unwrap();
    let x = adopt(&device, theirs).unwrap();
    assert_eq!(device.reduce_sum(&x).unwrap(), 111);
}

#[test]
fn a_buffer_is_taken_after_what_streams_of_cust_do_with_it() {
    const LEN: u32 = 1000;
    let Some((_context, device, stream)) = device_and_stream() else {
        return;
    };
    let module = Module::from_ptx(SLOW_FILL, &[]).unwrap();
    let theirs = DeviceBuffer::from_slice(&[0_u32; LEN as usize]).unwrap();
    slow_fill(&stream, &module, theirs.as_device_ptr().as_raw(), LEN, 3);
    let x = adopt(&device, theirs).unwrap();
    assert_eq!(device.reduce_sum(&x).unwrap(), u64::from(3 * LEN));
}

#[test]
fn the_device_waits_for_a_stream() {
    const LEN: u32 = 1000;
    let Some((_context, device, stream)) = device_and_stream() else {
        return;
    };
    let module = Module::from_ptx(SLOW_FILL, &[]).unwrap();
    let x = device.zeros::<u32>(LEN as usize).unwrap();
    device.synchronize().unwrap();
    slow_fill(&stream, &module, x.device_address(), LEN, 7);
    interop::wait_for_stream(&device, &stream).unwrap();
    assert!(!device.record_event().unwrap().is_done().unwrap());
    assert_eq!(device.reduce_sum(&x).unwrap(), u64::from(7 * LEN));
}

#[test]
fn a_stream_waits_for_the_device() {
    const SIZE: usize = 4096;
    let Some((_context, device, stream)) = device_and_stream() else {
        return;
    };
    let ones = device
        .matrix((SIZE, SIZE), &vec![1.0_f64; SIZE * SIZE])
        .unwrap();
    // The first product compiles the kernel, and the second still runs when it returns.
    device.matmul_tiled(&ones, &ones).unwrap().to_vec().unwrap();
    let product = device.matmul_tiled(&ones, &ones).unwrap().into_buffer();
    interop::let_stream_wait(&stream, &device).unwrap();
    let last = product.device_address() + ((SIZE * SIZE - 1) * size_of::<f64>()) as u64;
    // SAFETY: the address is that of an element; `ManuallyDrop` leaves it to its buffer.
    let alias = ManuallyDrop::new(unsafe {
        DeviceBuffer::<f64>::from_raw_parts(DevicePointer::from_raw(last), 1)
    });
    let mut element = [0.0];
    // SAFETY: `element` lives until the stream is done with it.
    unsafe { alias.async_copy_to(&mut element, &stream) }.unwrap();
    stream.synchronize().unwrap();
    assert_eq!(element, [SIZE as f64]);
}

/// More memory in all than the GPU has: a leak ends with an allocation that fails, and memory that
/// was freed twice belongs to another buffer.
#[test]
fn exchanged_buffers_are_freed_once() {
    const BYTES: usize = 1 << 30;
    let Some(_context) = cust_context() else {
        return;
    };
    let device = interop::device().unwrap();
    let (free, total) = mem_get_info().unwrap();
    if free < 4 * BYTES {
        say("skipped: the GPU has less than 4 GiB free");
        return;
    }
    let witness = DeviceBuffer::from_slice(&[0xABCD_u32; 1000]).unwrap();
    for round in 0..total / BYTES + 2 {
        // SAFETY: nothing reads the elements before they are written.
        let theirs = unsafe { DeviceBuffer::uninitialized(BYTES / size_of::<u32>()) }.unwrap();
        let ours = adopt(&device, theirs).unwrap();
        if round % 2 == 0 {
            drop(ours);
        } else {
            drop(interop::buffer_into_cust(ours).unwrap());
        }
        let again = DeviceBuffer::from_slice(&[round as u32; 1000]).unwrap();
        assert_eq!(again.as_host_vec().unwrap(), [round as u32; 1000]);
    }
    assert_eq!(witness.as_host_vec().unwrap(), [0xABCD; 1000]);
    drop(device);
    let (free_after, _) = mem_get_info().unwrap();
    // Other tests of this program hold less than this.
    assert!(
        free_after + 2 * BYTES > free,
        "{free} bytes free became {free_after}"
    );
}

#[test]
fn the_device_keeps_a_primary_context() {
    let Some(context) = cust_context() else {
        return;
    };
    let device = interop::device().unwrap();
    let x = device.upload(&[1_u32, 2, 3]).unwrap();
    drop(context);
    assert_eq!(device.reduce_sum(&x).unwrap(), 6);
}

#[test]
fn without_a_current_context_there_is_no_device() {
    let Some(_context) = cust_context() else {
        return;
    };
    // Each thread has its own current context.
    let error = thread::spawn(|| interop::device().unwrap_err())
        .join()
        .unwrap();
    assert_kind!(error is ErrorKind::Interop { .. });
    assert!(
        error.to_string().contains("no context is current"),
        "{error}"
    );
}

#[test]
fn a_context_that_is_not_primary_takes_a_promise() {
    let Some(_context) = cust_context() else {
        return;
    };
    thread::spawn(|| {
        let ordinal = cust::device::Device::get_device(0).unwrap();
        let flags = legacy::ContextFlags::empty();
        let context = legacy::Context::create_and_push(flags, ordinal).unwrap();
        let error = interop::device().unwrap_err();
        assert!(error.to_string().contains("not the primary one"), "{error}");

        // SAFETY: (1) the device and its buffers are dropped before the context.
        let device = unsafe { interop::device_in_unowned_context() }.unwrap();
        let theirs = DeviceBuffer::from_slice(&[1_u32, 2, 3]).unwrap();
        let x = adopt(&device, theirs).unwrap();
        assert_eq!(device.reduce_sum(&x).unwrap(), 6);
        drop(x);

        // Memory of the primary context does not fit a device of this one.
        let primary = Context::new(ordinal).unwrap();
        let foreign = DeviceBuffer::from_slice(&[1_u32]).unwrap();
        let error = adopt(&device, foreign).unwrap_err();
        assert_kind!(error is ErrorKind::Interop { .. });
        drop((device, primary, context));
    })
    .join()
    .unwrap();
}

#[test]
fn devices_that_were_opened_by_number_do_not_exchange() {
    let Some((_context, _device, stream)) = device_and_stream() else {
        return;
    };
    for device in [Device::simulator(), Device::cuda(0).unwrap()] {
        let theirs = DeviceBuffer::from_slice(&[1_u32]).unwrap();
        let ours = device.upload(&[1_u32]).unwrap();
        for error in [
            adopt(&device, theirs).unwrap_err(),
            interop::buffer_into_cust(ours).unwrap_err(),
            interop::wait_for_stream(&device, &stream).unwrap_err(),
            interop::let_stream_wait(&stream, &device).unwrap_err(),
        ] {
            assert_kind!(error is ErrorKind::Interop { .. });
            assert!(
                error.to_string().contains("interop::cust::device"),
                "{error}"
            );
        }
    }
}
