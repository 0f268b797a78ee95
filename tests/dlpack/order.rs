//! The waits of streams. The driver is that of `tests/cudarc`, so that no GPU is needed.

use crate::traced::{traced, with_driver};
use std::ptr;
use std::sync::Arc;
use tilewright::interop::dlpack::dlpark::ffi::DLManagedTensorVersioned;
use tilewright::interop::dlpack::dlpark::versioned::Dlpack;
use tilewright::interop::dlpack::{Tensor, export, let_consumer_wait, stream_for_producer};
use tilewright::interop::raw;
use tilewright::{Device, ErrorKind};
use tilewright_test_support::assert_kind;

/// A stream of another library: the driver's numbers of streams begin with 1, of the device itself.
const FOREIGN: i64 = 1 << 20 | 9 << 12;

#[test]
fn consumers_wait_for_the_device() {
    with_driver("order::consumers_wait_for_the_device", || {
        let device = Device::cuda(0).unwrap();
        assert_eq!(stream_for_producer(&device), Some(1 << 20 | 1 << 12));
        // SAFETY: to this driver, a stream is a number.
        let wait = |stream| traced(|| unsafe { let_consumer_wait(&device, stream) });
        let (trace, waited) = wait(Some(FOREIGN));
        waited.unwrap();
        assert_eq!(trace, ["S1.records(E1)", "S9.waits(E1)"]);
        // The legacy default stream is 1.
        for default in [None, Some(1)] {
            let (trace, waited) = wait(default);
            waited.unwrap();
            assert!(trace[1].starts_with("S0.waits"), "{trace:?}");
        }
        let (trace, waited) = wait(Some(-1));
        waited.unwrap();
        assert!(trace.is_empty(), "{trace:?}");
        for wrong in [0, -2] {
            let (trace, waited) = wait(Some(wrong));
            waited.unwrap_err();
            assert!(trace.is_empty(), "{trace:?}");
        }
    });
}

/// The consumer waits for the stream of the tensor's device alone.
#[test]
fn a_tensor_comes_after_the_other_streams_that_use_it() {
    const TEST: &str = "order::a_tensor_comes_after_the_other_streams_that_use_it";
    with_driver(TEST, || {
        let device = Device::cuda(0).unwrap();
        let other = device.new_stream().unwrap();
        let source = other.zeros::<u32>(2).unwrap();
        let written = || {
            let mut x = device.zeros::<u64>(1).unwrap();
            let (trace, summed) = traced(|| other.reduce_sum_into(&source, &mut x));
            summed.unwrap();
            (x, trace.last().unwrap().replace("launches", "records"))
        };
        let (x, of_writer) = written();
        let (trace, tensor) = traced(|| export::<DLManagedTensorVersioned>(Arc::new(x)).unwrap());
        assert!(trace[0].starts_with(&of_writer), "{trace:?}");
        assert!(trace[1].starts_with("S1.waits"), "{trace:?}");
        drop(tensor);
        let (x, of_writer) = written();
        let matrix = x.into_matrix((1, 1)).unwrap();
        let (trace, tensor) = traced(|| export::<DLManagedTensorVersioned>(matrix).unwrap());
        assert!(trace[0].starts_with(&of_writer), "{trace:?}");
        assert!(trace[1].starts_with("S1.waits"), "{trace:?}");
        drop(tensor);
    });
}

#[test]
fn producers_wait_for_the_device() {
    with_driver("order::producers_wait_for_the_device", || {
        let device = Device::cuda(0).unwrap();
        let import = || {
            let tensor: Dlpack = export(device.upload(&[1_u32, 2]).unwrap()).unwrap();
            // SAFETY: the tensor is ours, its contents are written, and nothing else uses it.
            unsafe { Tensor::import(&device, tensor) }.unwrap()
        };
        let tensor = import();
        assert_eq!(tensor.buffer::<u32>().unwrap().to_vec().unwrap(), [1, 2]);
        // SAFETY: to this driver, a stream is a number; the memory is the device's.
        let (trace, released) = traced(|| unsafe { tensor.release(Some(FOREIGN)) });
        released.unwrap();
        assert_eq!(trace, ["S1.records(E1)", "S9.waits(E1)", "S1.frees"]);
        let tensor = import();
        let (trace, ()) = traced(|| drop(tensor));
        assert_eq!(trace, ["S1.frees"]);
    });
}

#[test]
fn raw_streams_are_ordered() {
    with_driver("order::raw_streams_are_ordered", || {
        let device = Device::cuda(0).unwrap();
        let foreign = ptr::without_provenance_mut(FOREIGN as usize);
        let (trace, waited) = traced(|| {
            // SAFETY: to this driver, a stream is a number.
            unsafe { raw::wait_for_stream(&device, foreign) }
        });
        waited.unwrap();
        assert_eq!(trace, ["S9.records(E1)", "S1.waits(E1)"]);
        let (trace, waited) = traced(|| {
            // SAFETY: as before.
            unsafe { raw::let_stream_wait(foreign, &device) }
        });
        waited.unwrap();
        assert_eq!(trace, ["S1.records(E2)", "S9.waits(E2)"]);
    });
}

#[test]
fn a_device_works_in_streams_of_other_libraries() {
    with_driver(
        "order::a_device_works_in_streams_of_other_libraries",
        || {
            let device = Device::cuda(0).unwrap();
            let foreign = ptr::without_provenance_mut(FOREIGN as usize);
            // SAFETY: to this driver, a stream is a number.
            let (trace, theirs) = traced(|| unsafe { raw::with_stream(&device, foreign) });
            let theirs = theirs.unwrap();
            assert_eq!(trace, ["S1.records(E1)", "S9.waits(E1)"]);
            assert!(theirs.is_same(&device) && !theirs.is_same_stream(&device));
            assert_eq!(stream_for_producer(&theirs), Some(FOREIGN));

            let (trace, result) = traced(|| {
                let tensor: Dlpack = export(theirs.upload(&[1_u32, 2])?)?;
                // SAFETY: the tensor is ours, its contents are written in the stream, and nothing else uses it.
                let tensor = unsafe { Tensor::import(&theirs, tensor) }?;
                let mut sum = theirs.zeros::<u64>(1)?;
                theirs.reduce_sum_into(tensor.buffer::<u32>()?, &mut sum)?;
                // SAFETY: -1 is no handle, and the memory is freed in the order of the stream.
                unsafe { tensor.release(Some(-1)) }
            });
            result.unwrap();
            let is_in_stream = |call: &String| call.starts_with("S9.");
            assert!(trace.iter().all(is_in_stream), "{trace:?}");
            assert!(trace.iter().any(|call| call.contains("frees")), "{trace:?}");

            // Its temporary memory and its stream for transfers go, and the library's stream stays.
            let (trace, ()) = traced(|| drop(theirs));
            assert_eq!(trace, ["S9.frees", "S3.is_destroyed"]);
        },
    );
}

/// A buffer that was made while a graph was recorded has no contents before a launch, and no stream for consumers.
#[test]
fn streams_that_record_exchange_no_tensors() {
    const TEST: &str = "order::streams_that_record_exchange_no_tensors";
    with_driver(TEST, || {
        for device in [Device::cuda(0).unwrap(), Device::simulator()] {
            let mut kept = None;
            let operand = device.zeros::<u32>(2).unwrap();
            let graph = device.capture(operand, |stream, _| {
                kept = Some(stream.zeros::<u32>(2)?);
                export::<DLManagedTensorVersioned>(stream.zeros::<u32>(2)?).map(drop)
            });
            let error = graph.unwrap_err();
            assert_eq!(error.operation(), "interop::dlpack::export");
            assert_kind!(error is ErrorKind::NotRecorded { .. });
            let kept = kept.unwrap();
            let ended = kept.device().clone();
            // SAFETY: no stream is named.
            let waited = unsafe { let_consumer_wait(&ended, None) };
            let exported = export::<DLManagedTensorVersioned>(kept);
            assert_eq!(waited.is_ok(), device.is_simulator());
            assert_eq!(exported.is_ok(), device.is_simulator());
        }
    });
}
