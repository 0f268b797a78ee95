//! The waits of a program's streams. The driver is `traced.c`, so that no GPU is needed.
//!
//! `cudarc` gives each slice two events: the first is recorded by reads, the second by writes.

use crate::traced::{traced, with_driver};
use cudarc::driver::{CudaContext, CudaStream};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use tilewright::ErrorKind;
use tilewright::interop::cudarc::Bridge;
use tilewright_test_support::assert_kind;

/// A context and its streams 1 and 2.
fn two_streams() -> (Arc<CudaContext>, Arc<CudaStream>, Arc<CudaStream>) {
    let context = CudaContext::new(0).unwrap();
    let (first, second) = (context.new_stream().unwrap(), context.new_stream().unwrap());
    (context, first, second)
}

/// A bridge that has loaded its kernels.
fn warm(stream: &Arc<CudaStream>) -> Bridge {
    let bridge = Bridge::new(stream).unwrap();
    let x = bridge.device().upload(&[1_u32]).unwrap();
    assert_eq!(bridge.device().reduce_sum(&x).unwrap(), 1);
    bridge
}

#[test]
fn operands_are_ordered_with_other_streams() {
    with_driver("order::operands_are_ordered_with_other_streams", || {
        let (_, first, second) = two_streams();
        let bridge = warm(&first);
        let mut x = second.clone_htod(&[1_u32, 2, 3]).unwrap();
        let (trace, sum) = traced(|| bridge.with(&x, |x| bridge.device().reduce_sum(x)));
        assert_eq!(sum.unwrap(), 6);
        assert_eq!(trace, ["S1.waits(E2)", "S1.launches", "S1.records(E1)"]);

        let (trace, _) = traced(|| second.memcpy_htod(&[4_u32, 5, 6], &mut x).unwrap());
        let waits_for_the_sum = [
            "S2.waits(E1)",
            "S2.waits(E2)",
            "S2.writes",
            "S2.records(E2)",
        ];
        assert_eq!(trace, waits_for_the_sum);

        let (trace, filled) = traced(|| bridge.with(&mut x, |mut x| x.fill_zero()));
        filled.unwrap();
        let waits_for_all = ["S1.waits(E1)", "S1.waits(E2)", "S1.fills", "S1.records(E2)"];
        assert_eq!(trace, waits_for_all);
        assert_eq!(second.clone_dtoh(&x).unwrap(), [0; 3]);
    });
}

#[test]
fn operands_of_one_call_are_recorded_after_it() {
    with_driver("order::operands_of_one_call_are_recorded_after_it", || {
        let (_, first, second) = two_streams();
        let bridge = warm(&first);
        let a = second.clone_htod(&[1_u32, 2, 3, 4]).unwrap();
        let mut c = second.alloc_zeros::<u32>(8).unwrap();
        let (middle, mut tail) = (a.slice(1..3), c.slice_mut(6..));
        let (trace, copied) = traced(|| {
            bridge.with((&middle, &mut tail), |(a, mut c)| {
                c.copy_from_slice(&[7, 8])?;
                c.copy_from_buffer(a)
            })
        });
        copied.unwrap();
        let waits = ["S1.waits(E2)", "S1.waits(E3)", "S1.waits(E4)"];
        assert_eq!(trace[..3], waits);
        assert_eq!(
            trace[3..],
            ["S1.writes", "S1.records(E1)", "S1.records(E4)"]
        );
        assert_eq!(second.clone_dtoh(&c).unwrap(), [0, 0, 0, 0, 0, 0, 2, 3]);
    });
}

/// The bridge's stream is 1, and the program's other one 2. A further stream of the device comes with one for transfers.
#[test]
fn other_streams_of_the_device_are_ordered() {
    with_driver("order::other_streams_of_the_device_are_ordered", || {
        let (_, first, second) = two_streams();
        let bridge = warm(&first);
        let other = bridge.device().new_stream().unwrap();
        let mut x = second.clone_htod(&[1_u32, 2, 3]).unwrap();
        let mut y = other.upload(&[4_u32, 5, 6]).unwrap();
        let copy = || {
            bridge.with(&mut x, |mut x| {
                y.view_mut().copy_from_buffer(x.view()).and(x.fill_zero())
            })
        };
        let (trace, copied) = traced(copy);
        copied.unwrap();
        let place = |word: &str| trace.iter().position(|found| found.starts_with(word));
        assert_eq!(place("S1.waits"), Some(0));
        let (ours, theirs) = (place("S1.fills").unwrap(), trace.len() - 1);
        assert!(trace[theirs].starts_with("S1.records"), "{trace:?}");
        assert!(ours < theirs, "{trace:?}");

        // Read in the device's other stream: that waits for the bridge's, and is waited for before the use is recorded.
        let (trace, sum) = traced(|| bridge.with(&x, |x| other.reduce_sum(x)));
        assert_eq!(sum.unwrap(), 0);
        let launch = trace
            .iter()
            .position(|word| word.ends_with(".launches"))
            .unwrap();
        let (before, after) = trace.split_at(launch);
        let stream = trace[launch].split('.').next().unwrap();
        assert_ne!(stream, "S1");
        assert!(
            before
                .iter()
                .any(|word| word.starts_with(&format!("{stream}.waits"))),
            "{trace:?}"
        );
        let waits = after
            .iter()
            .position(|word| word.starts_with("S1.waits"))
            .unwrap();
        let records = after
            .iter()
            .rposition(|word| word.starts_with("S1.records"))
            .unwrap();
        assert!(waits < records, "{trace:?}");

        // A buffer that the other stream has written is lent after that.
        other
            .reduce_sum_into(&y, &mut other.zeros::<u64>(1).unwrap())
            .unwrap();
        y.fill_zero().unwrap();
        let (trace, _) = traced(|| bridge.lend(y.view(), |y| second.clone_dtoh(&y).unwrap()));
        let waits = trace
            .iter()
            .position(|word| word.starts_with("S1.waits"))
            .unwrap();
        let reads = trace.iter().position(|word| word == "S2.reads").unwrap();
        assert!(waits < reads, "{trace:?}");
    });
}

#[test]
fn a_call_that_panics_is_recorded() {
    with_driver("order::a_call_that_panics_is_recorded", || {
        let (_, first, second) = two_streams();
        let bridge = warm(&first);
        let mut x = second.clone_htod(&[1_u32, 2, 3]).unwrap();
        let (trace, panicked) = traced(|| {
            panic::catch_unwind(AssertUnwindSafe(|| {
                bridge.with(&mut x, |mut x| {
                    x.fill_zero().unwrap();
                    panic!("after the work");
                    #[expect(unreachable_code, reason = "the type of the result")]
                    Ok(())
                })
            }))
        });
        assert!(panicked.is_err());
        assert_eq!(trace.last().unwrap(), "S1.records(E2)");
    });
}

#[test]
fn lent_buffers_are_ordered_with_other_streams() {
    with_driver("order::lent_buffers_are_ordered_with_other_streams", || {
        let (_, first, second) = two_streams();
        let bridge = warm(&first);
        let mut x = bridge.device().upload(&[1_u32, 2, 3]).unwrap();
        let lend = || bridge.lend(x.slice(1..)?, |x| second.clone_dtoh(&x).unwrap());
        let (trace, read) = traced(lend);
        assert_eq!(read.unwrap(), [2, 3]);
        // The first waits are for events of a new slice, which nothing has recorded.
        assert_eq!(trace[2..4], ["S1.records(E2)", "S2.waits(E2)"]);
        let waits_for_the_read = ["S2.reads", "S2.records(E1)", "S1.waits(E1)", "S1.waits(E2)"];
        assert_eq!(trace[4..], waits_for_the_read);

        let lend = |x| bridge.lend_mut(x, |mut x| second.memcpy_htod(&[4, 5, 6], &mut x).unwrap());
        let (trace, written) = traced(|| lend(x.view_mut()));
        written.unwrap();
        assert_eq!(
            trace[2..5],
            ["S1.records(E4)", "S2.waits(E3)", "S2.waits(E4)"]
        );
        let waits_for_the_write = [
            "S2.writes",
            "S2.records(E4)",
            "S1.waits(E3)",
            "S1.waits(E4)",
        ];
        assert_eq!(trace[5..], waits_for_the_write);
        assert_eq!(x.to_vec().unwrap(), [4, 5, 6]);
    });
}

#[test]
fn memory_changes_its_owner() {
    with_driver("order::memory_changes_its_owner", || {
        let (_, first, second) = two_streams();
        let bridge = warm(&first);
        let theirs = second.clone_htod(&[1_u32, 2, 3]).unwrap();
        let (trace, buffer) = traced(|| bridge.into_buffer(theirs).unwrap());
        // After the uses, and after the allocation.
        assert_eq!(
            trace[..3],
            ["S1.waits(E1)", "S1.waits(E2)", "S1.records(E2)"]
        );
        assert_eq!(trace[3..5], ["S2.records(E3)", "S1.waits(E3)"]);
        assert!(
            trace.iter().all(|word| !word.contains("frees")),
            "{trace:?}"
        );
        assert_eq!(buffer.to_vec().unwrap(), [1, 2, 3]);
        let (trace, ()) = traced(|| drop(buffer));
        assert_eq!(trace, ["S1.frees"]);

        let buffer = bridge.device().upload(&[4_u32, 5]).unwrap();
        let address = buffer.device_address();
        let (trace, theirs) = traced(|| bridge.into_slice(buffer).unwrap());
        assert_eq!(trace.last().unwrap(), "S1.records(E5)");
        assert_eq!(second.clone_dtoh(&theirs).unwrap(), [4, 5]);
        let found = bridge.with(&theirs, |x| Ok(x.device_address()));
        assert_eq!(found.unwrap(), address);
        let (trace, ()) = traced(|| drop(theirs));
        assert_eq!(
            trace.iter().filter(|word| word.contains("frees")).count(),
            1
        );
    });
}

#[test]
fn a_buffer_that_another_stream_uses_becomes_a_slice_after_that() {
    const TEST: &str = "order::a_buffer_that_another_stream_uses_becomes_a_slice_after_that";
    with_driver(TEST, || {
        let (_, first, _) = two_streams();
        let bridge = warm(&first);
        let other = bridge.device().new_stream().unwrap();
        let (trace, buffer) = traced(|| other.zeros::<u32>(2).unwrap());
        let writer = trace.last().unwrap().split('.').next().unwrap();
        assert_ne!(writer, "S1");
        let (trace, slice) = traced(|| bridge.into_slice(buffer).unwrap());
        assert!(
            trace[0].starts_with(&format!("{writer}.records")),
            "{trace:?}"
        );
        let (_, event) = trace[0].split_once('(').unwrap();
        assert_eq!(trace[1], format!("S1.waits({event}"), "{trace:?}");
        let recorded = |word: &String| word.starts_with("S1.records");
        assert!(trace[2..].iter().any(recorded), "{trace:?}");
        drop(slice);
    });
}

/// A graph uses the memory of buffers that were made while it was recorded, and frees it.
#[test]
fn a_buffer_of_a_recording_becomes_no_slice() {
    with_driver("order::a_buffer_of_a_recording_becomes_no_slice", || {
        let (_, first, _) = two_streams();
        let bridge = warm(&first);
        let operand = bridge.device().zeros::<u32>(2).unwrap();
        let graph = bridge.device().capture(operand, |stream, _| {
            bridge.into_slice(stream.zeros::<u32>(2)?).map(drop)
        });
        let error = graph.unwrap_err();
        assert_kind!(error is ErrorKind::NotRecorded { .. });
        assert_eq!(error.operation(), "Bridge::into_slice");
    });
}

/// The streams of another device have the same numbers, and are not recorded.
#[test]
fn a_view_that_is_refused_stays_ordered() {
    with_driver("order::a_view_that_is_refused_stays_ordered", || {
        let (_, first, second) = two_streams();
        let (bridge, elsewhere) = (warm(&first), Bridge::new(&second).unwrap());
        let (device, other) = (bridge.device(), bridge.device().new_stream().unwrap());
        let source = other.zeros::<u32>(2).unwrap();
        let mut x = device.zeros::<u64>(1).unwrap();
        for is_written in [false, true] {
            other.reduce_sum_into(&source, &mut x).unwrap();
            let refused = match is_written {
                false => elsewhere.lend(x.view(), |_| ()),
                true => elsewhere.lend_mut(x.view_mut(), |_| ()),
            };
            let refused = refused.unwrap_err();
            assert_kind!(refused is ErrorKind::WrongDevice { .. });
            let (trace, read) = traced(|| x.to_vec());
            read.unwrap();
            assert!(trace[1].starts_with("S1.waits"), "{is_written}: {trace:?}");
        }
    });
}

#[test]
fn nothing_is_lent_without_elements() {
    with_driver("order::nothing_is_lent_without_elements", || {
        let (_, first, _) = two_streams();
        let bridge = Bridge::new(&first).unwrap();
        let buffer = bridge.into_buffer(first.null::<f32>().unwrap()).unwrap();
        assert!(buffer.is_empty());
        assert!(bridge.lend(buffer.view(), |x| x.is_empty()).unwrap());
        assert!(bridge.into_slice(buffer).unwrap().is_empty());
    });
}

#[test]
fn the_device_keeps_the_stream() {
    with_driver("order::the_device_keeps_the_stream", || {
        let (context, first, second) = two_streams();
        let device = warm(&first).device().clone();
        drop((context, second));
        let (trace, ()) = traced(|| drop(first));
        assert!(trace.is_empty(), "{trace:?}");
        assert_eq!(
            device
                .reduce_sum(&device.upload(&[3_u32]).unwrap())
                .unwrap(),
            3
        );
        let (trace, ()) = traced(|| drop(device));
        // Stream 3 is the device's own, for transfers.
        assert_eq!(trace.last().unwrap(), "S1.is_destroyed");
        assert!(trace.contains(&"S3.is_destroyed".to_owned()), "{trace:?}");
    });
}

/// A per-thread stream is another one in each thread. The default stream, here 0, is ordered with all of them.
#[test]
fn per_thread_streams_give_way_to_the_default_stream() {
    let test = "order::per_thread_streams_give_way_to_the_default_stream";
    with_driver(test, || {
        let (context, first, _) = two_streams();
        let bridge = warm(&context.per_thread_stream());
        assert!(bridge.stream().cu_stream().is_null());
        let x = first.clone_htod(&[1_u32, 2, 3]).unwrap();
        let (trace, sum) = traced(|| bridge.with(&x, |x| bridge.device().reduce_sum(x)));
        assert_eq!(sum.unwrap(), 6);
        assert_eq!(trace, ["S0.waits(E2)", "S0.launches", "S0.records(E1)"]);
    });
}

#[test]
fn what_does_not_fit_is_refused() {
    with_driver("order::what_does_not_fit_is_refused", || {
        let (_, first, _) = two_streams();
        let bridge = Bridge::new(&first).unwrap();
        let says = |error: tilewright::Error, words: &str| {
            assert_kind!(error is ErrorKind::Interop { .. });
            assert!(error.to_string().contains(words), "{error}");
        };
        // The same context of the driver, but its streams are counted apart.
        let other = CudaContext::new(0).unwrap().new_stream().unwrap();
        let theirs = other.clone_htod(&[1_u32]).unwrap();
        let refused = bridge.with(&theirs, |_| Ok(())).unwrap_err();
        says(refused, "another CudaContext");
        says(
            bridge.into_buffer(theirs).unwrap_err(),
            "another CudaContext",
        );

        let elsewhere = Bridge::new(&first).unwrap();
        let x = elsewhere.device().upload(&[1_u32]).unwrap();
        let refused = bridge.lend(x.view(), |_| ()).unwrap_err();
        assert_kind!(refused is ErrorKind::WrongDevice { .. });
        let refused = bridge.into_slice(x).unwrap_err();
        assert_kind!(refused is ErrorKind::WrongDevice { .. });
    });
}
