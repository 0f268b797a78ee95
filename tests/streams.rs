//! Several streams of one device: conflicting work is ordered, whichever thread submits it.

mod common;

use common::axpy::{AXPY, Axpy};
use common::{devices, machines};
use half::{bf16, f16};
use std::thread;
#[cfg(feature = "cuda")]
use tilewright::SimulatorError;
use tilewright::{
    Arithmetic, Buffer, Device, ErrorKind, LaunchConfig, Matmul, MatmulElement, MatmulInto, Matrix,
    Profile, SimulatorOptions, StreamPriority, ops,
};
use tilewright_test_support::assert_kind;

/// Elements of a buffer: on a GPU, enough that work of several streams runs at once.
fn len_of(device: &Device) -> usize {
    if device.is_simulator() {
        1 << 10
    } else {
        1 << 14
    }
}

/// Adds `factor * x` to `y` in the stream of `device`.
fn add(device: &Device, factor: f32, x: &Buffer<f32>, y: &mut Buffer<f32>) {
    let config = LaunchConfig::for_elements(x.len(), 256);
    let module = device.load(&AXPY).unwrap();
    module.launch(Axpy, config, (factor, x, y)).unwrap();
}

#[test]
fn a_buffer_goes_from_stream_to_stream() {
    for device in machines() {
        let len = len_of(&device);
        let streams = [
            device.clone(),
            device.new_stream().unwrap(),
            device
                .new_stream_with_priority(StreamPriority::High)
                .unwrap(),
        ];
        let ones = device.upload(&vec![1.0_f32; len]).unwrap();
        let mut y = device.zeros::<f32>(len).unwrap();
        for round in 0..60 {
            add(&streams[round % 3], 1.0, &ones, &mut y);
        }
        for stream in &streams {
            assert_eq!(stream.reduce_sum(&y).unwrap(), 60.0 * len as f32);
        }
        assert_eq!(y.to_vec().unwrap(), vec![60.0; len]);
    }
}

#[test]
fn each_call_waits_for_what_it_uses() {
    for device in machines() {
        let other = device.new_stream().unwrap();
        let x = device.matrix((64, 64), &[0.5_f32; 64 * 64]).unwrap();
        // Written in one stream and used in the other, by each kind of call.
        let product = other.matmul(&x, &x).unwrap();
        let sums = device.reduce_rows(&product, ops::Sum).unwrap();
        assert_eq!(sums.to_vec().unwrap(), [64.0 * 16.0; 64]);
        let scanned = other.scan_inclusive(&sums).unwrap();
        let mut largest = device.zeros(1).unwrap();
        device
            .reduce_into(&scanned, ops::Max, &mut largest)
            .unwrap();
        let copy = {
            let mut copy = other.uninit::<f32>(1).unwrap();
            copy.copy_from_buffer(&largest).unwrap();
            copy
        };
        assert_eq!(device.reduce_sum(&copy).unwrap(), 64.0 * 64.0 * 16.0);
        let prepared = other.prepare(&x);
        if let Ok(prepared) = prepared {
            let again = tilewright::Matmul::with_prepared(&x, &prepared);
            let again = again.run().unwrap().to_vec().unwrap();
            assert_eq!(again, product.to_vec().unwrap());
        }
        // A result that another stream still reads is overwritten afterwards.
        let mut ones = device.upload(&[1.0_f32; 64 * 64]).unwrap();
        let mut sum = other.zeros(1).unwrap();
        other.reduce_sum_into(&ones, &mut sum).unwrap();
        ones.fill_zero().unwrap();
        assert_eq!(sum.to_vec().unwrap(), [4096.0]);
        assert_eq!(other.reduce_sum(&ones).unwrap(), 0.0);
    }
}

/// Devices whose products take different paths: CUDA cores, warps, warpgroups.
fn profiles() -> Vec<Device> {
    let profiles = [Profile::H200, Profile::A100]
        .map(|profile| Device::simulator_with(SimulatorOptions::default().with_profile(profile)));
    profiles.into_iter().chain(devices()).collect()
}

/// A product whose operands, result and call have streams of their own, so that a launch or a copy in another stream
/// than the call's would not be ordered. Everything is dropped at once.
fn multiply<T: MatmulElement<Product = T> + MatmulInto<T>>(
    device: &Device,
    number: impl Fn(u8) -> T,
) {
    let streams: Vec<Device> = (0..4).map(|_| device.new_stream().unwrap()).collect();
    let [of_a, of_b, of_c, of_call] = [0, 1, 2, 3].map(|it| &streams[it]);
    for (m, n, k) in [(65, 70, 67), (128, 64, 64), (1, 40, 200), (3, 3, 2000)] {
        let elements = |len: usize| -> Vec<T> { (0..len).map(|at| number(at as u8 % 3)).collect() };
        let a = of_a.matrix((m, k), &elements(m * k)).unwrap();
        let b = of_b.matrix((k, n), &elements(k * n)).unwrap();
        let expected = device
            .matmul(&device.matrix((m, k), &elements(m * k)).unwrap(), &b)
            .unwrap();
        let mut c = of_c.matrix_zeros::<T>((m, n)).unwrap();
        for _ in 0..2 {
            of_call.matmul_into(&a, &b, &mut c).unwrap();
        }
        let new = of_call.matmul(&a, &b).unwrap();
        drop((a, b));
        let bytes = |it: &Matrix<T>| bytemuck::cast_slice::<T, u8>(&it.to_vec().unwrap()).to_vec();
        assert_eq!(bytes(&c), bytes(&expected), "{m} x {n} x {k}");
        assert_eq!(bytes(&new), bytes(&expected), "{m} x {n} x {k}");
    }
}

#[test]
fn products_run_in_the_stream_of_their_call() {
    for device in profiles() {
        multiply(&device, f32::from);
        multiply(&device, f64::from);
        multiply(&device, |it| f16::from_f32(f32::from(it)));
        multiply(&device, |it| bf16::from_f32(f32::from(it)));
    }
}

#[test]
fn products_of_every_kind_are_ordered() {
    for device in profiles() {
        let streams: Vec<Device> = (0..4).map(|_| device.new_stream().unwrap()).collect();
        let [one, two, three, four] = [0, 1, 2, 3].map(|it| &streams[it]);
        let a = one.matrix((128, 128), &[0.5_f32; 128 * 128]).unwrap();
        let b = two.matrix((128, 128), &[2.0_f32; 128 * 128]).unwrap();
        let bias = three.upload(&[1.0_f32; 128]).unwrap();
        let mut c = four.matrix_zeros::<f32>((128, 128)).unwrap();
        // In the stream of A.
        let product = Matmul::new(&a, &b).column_bias(&bias);
        product.run_into(&mut c).unwrap();
        assert_eq!(
            three.reduce_sum(c.as_buffer()).unwrap(),
            129.0 * 128.0 * 128.0
        );
        let split = Matmul::new(&a, &b).arithmetic(Arithmetic::Split);
        if split.plan().is_ok() {
            split.run_into(&mut c).unwrap();
            assert_eq!(
                three.reduce_sum(c.as_buffer()).unwrap(),
                128.0 * 128.0 * 128.0
            );
            let prepared = three.prepare(&b).unwrap();
            let again = Matmul::with_prepared(&a, &prepared).run().unwrap();
            drop(prepared);
            assert_eq!(
                two.reduce_sum(again.as_buffer()).unwrap(),
                128.0 * 128.0 * 128.0
            );
        }
        let gram = two.gram(&a).unwrap();
        assert_eq!(three.reduce_max(gram.as_buffer()).unwrap(), 32.0);
        let x = three.upload(&[1.0_f32; 128]).unwrap();
        let y = four.matvec(&a, &x).unwrap();
        drop(x);
        assert_eq!(one.reduce_sum(&y).unwrap(), 64.0 * 128.0);
        let bytes = one.matrix((70, 90), &[1_i8; 70 * 90]).unwrap();
        let others = two.matrix((90, 50), &[2_i8; 90 * 50]).unwrap();
        let whole = three.matmul(&bytes, &others).unwrap();
        drop((bytes, others));
        assert_eq!(four.reduce_sum(whole.as_buffer()).unwrap(), 180 * 70 * 50);
        let segments = two.segments(&[0, 60_000, 60_000, 100_000]).unwrap();
        let x = three.upload(&vec![1_u32; 100_000]).unwrap();
        let sums = four.reduce_segments(&x, &segments, ops::Sum).unwrap();
        drop((segments, x));
        assert_eq!(one.reduce_sum(&sums).unwrap(), 100_000);
    }
}

/// A matrix of one stream, written by another, is prepared in a third and multiplied in a fourth.
#[test]
fn what_is_prepared_was_written_before() {
    for device in profiles() {
        let streams: Vec<Device> = (0..4).map(|_| device.new_stream().unwrap()).collect();
        let [one, two, three, four] = [0, 1, 2, 3].map(|it| &streams[it]);
        let len = 208;
        let ones = two.matrix((len, 1), &vec![1.0_f64; len]).unwrap();
        let mut b = one.matrix_zeros::<f64>((len, len)).unwrap();
        let a = four.matrix((len, len), &vec![2.0; len * len]).unwrap();
        for _ in 0..2 {
            two.matmul_into(&ones, ones.t(), &mut b).unwrap();
            let prepared = three.prepare_exact(&b).unwrap();
            let c = Matmul::with_prepared(&a, &prepared).run().unwrap();
            drop(prepared);
            let sum = two.reduce_sum(c.as_buffer()).unwrap();
            assert_eq!(sum, 2.0 * (len as f64).powi(3));
        }
    }
}

/// A view without elements may be used together with the whole: it does not count as a use.
#[test]
fn a_view_without_elements_is_no_use() {
    for device in devices() {
        let (one, two) = (device.new_stream().unwrap(), device.new_stream().unwrap());
        let ones = device.upload(&[1.0_f32; 1000]).unwrap();
        let mut y = device.zeros::<f32>(1000).unwrap();
        let (mut all, none) = y.split_at_mut(1000).unwrap();
        assert_eq!(two.reduce_sum(none.view()).unwrap(), 0.0);
        let module = one.load(&AXPY).unwrap();
        let config = LaunchConfig::for_elements(1000, 256);
        module
            .launch(Axpy, config, (1.0_f32, &ones, all.view_mut()))
            .unwrap();
        assert_eq!(two.reduce_sum(&y).unwrap(), 1000.0);
    }
}

#[test]
fn buffers_may_be_dropped_while_another_stream_uses_them() {
    for device in devices() {
        let len = len_of(&device);
        let other = device.new_stream().unwrap();
        let mut y = other.zeros::<f32>(len).unwrap();
        for round in 0..100 {
            let x = device.upload(&vec![round as f32; len]).unwrap();
            add(&other, 1.0, &x, &mut y);
            drop(x);
            // Perhaps the same memory.
            let _next = device.upload(&vec![-1e9_f32; len]).unwrap();
        }
        assert_eq!(y.to_vec().unwrap(), vec![4950.0; len]);
        drop(other);
        assert_eq!(device.reduce_sum(&y).unwrap(), 4950.0 * len as f32);
    }
}

#[test]
fn parts_of_a_buffer_are_written_by_threads_with_streams_of_their_own() {
    for device in devices() {
        let len = len_of(&device);
        let streams: Vec<Device> = (0..4).map(|_| device.new_stream().unwrap()).collect();
        let mut y = device.zeros::<f32>(4 * len).unwrap();
        let ones = device.upload(&vec![1.0_f32; len]).unwrap();
        for round in 1..=10 {
            let (mut left, mut right) = y.split_at_mut(2 * len).unwrap();
            let (first, second) = left.split_at_mut(len).unwrap();
            let (third, fourth) = right.split_at_mut(len).unwrap();
            thread::scope(|scope| {
                let parts = [first, second, third, fourth];
                for ((number, part), stream) in (0..).zip(parts).zip(&streams) {
                    let ones = &ones;
                    scope.spawn(move || {
                        let config = LaunchConfig::for_elements(len, 256);
                        let module = stream.load(&AXPY).unwrap();
                        let arguments = (number as f32, ones, part);
                        module.launch(Axpy, config, arguments).unwrap();
                    });
                }
                assert_eq!(device.reduce_sum(&ones).unwrap(), len as f32);
            });
            let expected = |at: usize| (at / len * round) as f32;
            let expected: Vec<f32> = (0..4 * len).map(expected).collect();
            assert_eq!(y.to_vec().unwrap(), expected);
        }
    }
}

#[test]
fn threads_share_operands_and_have_streams_of_their_own() {
    for device in devices() {
        let a = device.matrix((32, 32), &[2.0_f32; 32 * 32]).unwrap();
        thread::scope(|scope| {
            for number in 0..6 {
                let (device, a) = (&device, &a);
                scope.spawn(move || {
                    let stream = device.new_stream().unwrap();
                    for round in 0..10 {
                        let b = vec![(number * 10 + round) as f32; 32 * 32];
                        let b = stream.matrix((32, 32), &b).unwrap();
                        let c = stream.matmul(a, &b).unwrap();
                        let expected = 64.0 * (number * 10 + round) as f32;
                        assert_eq!(c.to_vec().unwrap(), [expected; 32 * 32]);
                    }
                });
            }
        });
    }
}

#[test]
fn a_device_has_at_most_64_streams_at_once() {
    // Other tests have streams of the CUDA device.
    let device = Device::simulator();
    let mut streams: Vec<Device> = (1..64).map(|_| device.new_stream().unwrap()).collect();
    let error = device.new_stream().unwrap_err();
    assert_kind!(error is ErrorKind::TooLarge { .. });
    // A number is reused, and the work of its earlier stream is not forgotten.
    let x = streams[62].upload(&[1.0_f32; 1000]).unwrap();
    let mut y = streams[61].zeros::<f32>(1000).unwrap();
    add(&streams[60], 1.0, &x, &mut y);
    streams.truncate(10);
    let new = device.new_stream().unwrap();
    assert!(new.is_same(&device) && !new.is_same_stream(&device));
    assert!(new.is_same_stream(&new.clone()));
    assert_eq!(new.reduce_sum(&y).unwrap(), 1000.0);
    assert_eq!(device.reduce_sum(&x).unwrap(), 1000.0);
}

#[test]
fn a_stream_waits_for_events() {
    for device in devices() {
        let other = device.new_stream().unwrap();
        let x = device.upload(&[1.0_f32; 1000]).unwrap();
        let event = device.record_event().unwrap();
        other.wait_for(&event).unwrap();
        Device::simulator().wait_for(&event).unwrap();
        assert_eq!(other.reduce_sum(&x).unwrap(), 1000.0);
        let later = other.record_event().unwrap();
        assert!(later.elapsed_since(&event).unwrap().as_secs() < 100);
    }
}

#[test]
fn buffers_of_another_device_are_still_refused() {
    let (one, other) = (Device::simulator(), Device::simulator());
    let x = one.new_stream().unwrap().upload(&[1.0_f32]).unwrap();
    let error = other.reduce_sum(&x).unwrap_err();
    assert_kind!(error is ErrorKind::WrongDevice { .. });
}

/// Views of raw memory leave the order to the program.
#[cfg(feature = "cuda")]
#[test]
fn the_simulator_finds_a_missing_wait_for_raw_memory() {
    use tilewright::interop::raw;

    let device = Device::simulator();
    let other = device.new_stream().unwrap();
    let mut y = device.upload(&[1.0_f32; 1000]).unwrap().named("y");
    let ones = device.upload(&[1.0_f32; 1000]).unwrap();
    add(&device, 1.0, &ones, &mut y);
    let sum = |stream: &Device| {
        // SAFETY: the buffer outlives the view. The simulator runs each call to its end.
        let y = unsafe { raw::view::<f32>(stream, y.device_address(), y.len()) }.unwrap();
        stream.reduce_sum(y)
    };
    let error = sum(&other).unwrap_err();
    let ErrorKind::Simulator(SimulatorError::UnorderedStreams {
        is_write, buffer, ..
    }) = error.kind()
    else {
        panic!("{error}");
    };
    assert_eq!((is_write, buffer.as_deref()), (&false, Some("y")));
    let words = "reads memory of buffer `y` that another stream of simulator";
    assert!(error.to_string().contains(words), "{error}");
    assert_eq!(sum(&device).unwrap(), 2000.0);
    other.wait_for(&device.record_event().unwrap()).unwrap();
    assert_eq!(sum(&other).unwrap(), 2000.0);
}
