//! Contexts, streams and memory of a program that drives the GPU itself, here with `cudarc`.

mod common;

use common::say;
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr as _, DevicePtrMut as _};
use std::ptr::{self, NonNull};
use std::sync::Arc;
use tilewright::interop::raw;
use tilewright::{BufferView, BufferViewMut, Device, MatrixView, MatrixViewMut};

/// A stream that `cudarc` made. Without a GPU, the test says that it is skipped.
fn stream() -> Option<Arc<CudaStream>> {
    // `cudarc` panics where there is no driver.
    if let Err(error) = Device::cuda(0) {
        say(&format!("skipped: {error}"));
        return None;
    }
    Some(CudaContext::new(0).unwrap().new_stream().unwrap())
}

/// The device that works in a stream.
fn device_in(stream: &CudaStream) -> Device {
    let context = NonNull::new(stream.context().cu_ctx().cast()).expect("a context");
    // SAFETY: a live context and its stream; these tests drop devices before streams.
    unsafe { raw::device(context, stream.cu_stream().cast()) }.unwrap()
}

fn view<'a>(device: &'a Device, theirs: &'a CudaSlice<f32>) -> BufferView<'a, f32> {
    let (address, _guard) = theirs.device_ptr(theirs.stream());
    // SAFETY: the slice is borrowed, so it stays allocated and nothing writes it. All work on it is in the device's
    // stream.
    unsafe { raw::view(device, address, theirs.len()) }.unwrap()
}

fn view_mut<'a>(device: &'a Device, theirs: &'a mut CudaSlice<f32>) -> BufferViewMut<'a, f32> {
    let (len, stream) = (theirs.len(), theirs.stream().clone());
    let (address, _guard) = theirs.device_ptr_mut(&stream);
    // SAFETY: the slice is borrowed mutably, so it stays allocated and nothing else accesses it. All work on it is in
    // the device's stream.
    unsafe { raw::view_mut(device, address, len) }.unwrap()
}

#[test]
fn a_sum_is_ordered_in_the_programs_stream() {
    let Some(stream) = stream() else { return };
    let device = device_in(&stream);
    let mut theirs = stream.alloc_zeros::<f32>(1 << 20).unwrap();
    assert_eq!(device.reduce_sum(view(&device, &theirs)).unwrap(), 0.0);
    // Neither copy nor sum is waited for in between.
    for round in 1..20 {
        let host = vec![round as f32; 1 << 20];
        stream.memcpy_htod(&host, &mut theirs).unwrap();
        let sum = device.reduce_sum(view(&device, &theirs)).unwrap();
        assert_eq!(sum, (round << 20) as f32);
    }
}

#[test]
fn a_product_is_written_to_the_programs_memory() {
    const SIDE: usize = 256;
    let Some(stream) = stream() else { return };
    let device = device_in(&stream);
    let number = |i: usize| (i % 7) as f32 - 3.0;
    let host: Vec<f32> = (0..SIDE * SIDE).map(number).collect();
    let identity: Vec<f32> = (0..SIDE * SIDE)
        .map(|i| f32::from(i % (SIDE + 1) == 0))
        .collect();
    let a = stream.clone_htod(&host).unwrap();
    let b = stream.clone_htod(&identity).unwrap();
    let mut c = stream.alloc_zeros::<f32>(SIDE * SIDE).unwrap();
    {
        let shape = (SIDE, SIDE);
        let a = view(&device, &a).as_matrix(shape).unwrap();
        let b = view(&device, &b).as_matrix(shape).unwrap();
        let mut c = view_mut(&device, &mut c).into_matrix(shape).unwrap();
        device.matmul_into(a, b, &mut c).unwrap();
    }
    // `cudarc` copies in its stream, after the product.
    assert_eq!(stream.clone_dtoh(&c).unwrap(), host);
}

#[test]
fn the_null_stream_is_a_stream() {
    let Some(_) = stream() else { return };
    let context = CudaContext::new(0).unwrap();
    let handle = NonNull::new(context.cu_ctx().cast()).expect("a context");
    // SAFETY: a live context, which outlives the device.
    let device = unsafe { raw::device(handle, ptr::null_mut()) }.unwrap();
    let x = device.upload(&[1.0_f32, 2.0, 3.5]).unwrap();
    assert_eq!(device.reduce_sum(&x).unwrap(), 6.5);
    assert_eq!(device.raw_stream(), None);
}

/// Streams that a program adds to an open device share its memory and order their work as its own streams do.
#[test]
fn a_device_takes_streams_of_the_program() {
    let Some(stream) = stream() else { return };
    let device = Device::cuda(0).unwrap();
    // SAFETY: a live stream of the primary context, which the test drops after the device that works in it.
    let theirs = unsafe { raw::with_stream(&device, stream.cu_stream().cast()) }.unwrap();
    assert!(theirs.is_same(&device) && !theirs.is_same_stream(&device));
    let handle = theirs.raw_stream().map(|handle| handle.as_ptr());
    assert_eq!(handle, Some(stream.cu_stream().cast()));
    let mut slice = stream.alloc_zeros::<f32>(1 << 20).unwrap();
    for round in 1..20 {
        let host = vec![round as f32; 1 << 20];
        stream.memcpy_htod(&host, &mut slice).unwrap();
        let mut sum = theirs.zeros::<f32>(1).unwrap();
        theirs
            .reduce_sum_into(view(&theirs, &slice), &mut sum)
            .unwrap();
        // The device's own stream waits for the program's.
        assert_eq!(device.reduce_sum(&sum).unwrap(), (round << 20) as f32);
    }
}

/// The program captures calls in a graph of its own, after they have run once, so that the module and the workspace are
/// there. `write` computes the square matrix times its transpose.
fn captured(
    side: usize,
    write: impl Fn(&Device, MatrixView<'_, f32>, &mut MatrixViewMut<'_, f32>),
) {
    let Some(stream) = stream() else { return };
    let device = device_in(&stream);
    let mut x = stream.alloc_zeros::<f32>(side * side).unwrap();
    let mut sum = stream.alloc_zeros::<f32>(1).unwrap();
    let mut product = stream.alloc_zeros::<f32>(side * side).unwrap();
    // Addresses, because `cudarc` waits for events outside the graph when it is asked for them.
    let [of_x, of_sum, of_product] =
        [&mut x, &mut sum, &mut product].map(|it| it.device_ptr_mut(&stream).0);
    let calls = || {
        // SAFETY: the slices outlive the views and the graph, and all work on them is in this stream.
        let (x, c, sum) = unsafe {
            (
                raw::view::<f32>(&device, of_x, side * side).unwrap(),
                raw::view_mut::<f32>(&device, of_product, side * side).unwrap(),
                raw::view_mut::<f32>(&device, of_sum, 1).unwrap(),
            )
        };
        let mut c = c.into_matrix((side, side)).unwrap();
        write(&device, x.as_matrix((side, side)).unwrap(), &mut c);
        let c = c.as_buffer_view_mut().unwrap();
        device.reduce_sum_into(c.view(), sum).unwrap();
    };
    calls();
    stream.synchronize().unwrap();
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    stream.begin_capture(mode).unwrap();
    calls();
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags).unwrap().expect("a graph");
    for round in 1..=4 {
        let host = vec![round as f32; side * side];
        stream.memcpy_htod(&host, &mut x).unwrap();
        graph.launch().unwrap();
        let expected = (round * round * side) as f32;
        let found = stream.clone_dtoh(&product).unwrap();
        assert_eq!(found, vec![expected; side * side]);
        let expected = expected * (side * side) as f32;
        assert_eq!(stream.clone_dtoh(&sum).unwrap(), [expected]);
    }
}

#[test]
fn calls_are_captured_in_the_programs_graph() {
    captured(256, |device, x, c| {
        device.matmul_coarsened_into(x, x.t(), c).unwrap()
    });
}

/// The memory of split operands becomes nodes of the graph.
#[test]
fn calls_that_allocate_are_captured() {
    captured(1024, |device, x, c| {
        device.matmul_into(x, x.t(), c).unwrap()
    });
}
