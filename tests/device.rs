//! Devices, buffers, matrices and events, on every device at hand.

mod common;

use common::devices;
use std::time::Duration;
use tilewright::{
    Buffer, Device, DeviceChoice, Error, ErrorKind, Event, Matrix, Module, SimulatorOptions,
};

#[test]
fn a_buffer_gives_back_what_it_was_given() {
    for device in devices() {
        let data: Vec<f64> = (0..100_003).map(f64::from).collect();
        let mut buffer = device.upload(&data).unwrap();
        assert_eq!((buffer.len(), buffer.is_empty()), (data.len(), false));
        assert_eq!(buffer.device_address() % 256, 0);
        assert_eq!(buffer.to_vec().unwrap(), data);

        let reversed: Vec<f64> = data.iter().rev().copied().collect();
        buffer.copy_from_slice(&reversed).unwrap();
        let mut read = vec![0.0; data.len()];
        buffer.copy_to_slice(&mut read).unwrap();
        assert_eq!(read, reversed);
    }
}

#[test]
fn every_bit_pattern_survives() {
    for device in devices() {
        let bits: Vec<u32> = vec![0, 0x8000_0000, 1, 0x7F80_0001, 0x7FC0_0000, 0xFFFF_FFFF];
        let floats: Vec<f32> = bits.iter().copied().map(f32::from_bits).collect();
        let read = device.upload(&floats).unwrap().to_vec().unwrap();
        assert_eq!(read.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), bits);
    }
}

#[test]
fn buffers_are_zeroed_copied_and_cloned() {
    for device in devices() {
        let mut zeros = device.zeros::<i32>(1000).unwrap();
        assert_eq!(zeros.to_vec().unwrap(), vec![0; 1000]);
        let ones = device.upload(&[1_i32; 1000]).unwrap();
        zeros.copy_from_buffer(&ones).unwrap();
        let mut clone = zeros.try_clone().unwrap();
        assert_eq!(clone.to_vec().unwrap(), vec![1; 1000]);
        clone.fill_zero().unwrap();
        assert_eq!(clone.to_vec().unwrap(), vec![0; 1000]);
        assert_eq!(zeros.to_vec().unwrap(), vec![1; 1000]);
    }
}

#[test]
fn memory_is_zeroed_also_when_it_is_used_again() {
    for device in devices() {
        for _ in 0..4 {
            drop(device.upload(&[0xAB_u8; 4096]).unwrap());
            let zeros = device.zeros::<u8>(4096).unwrap();
            assert_eq!(zeros.to_vec().unwrap(), vec![0; 4096]);
        }
    }
}

#[test]
fn empty_buffers_and_matrices_work() {
    for device in devices() {
        let mut empty: Buffer<f32> = device.upload(&[]).unwrap();
        assert!(empty.is_empty());
        assert_eq!(empty.device_address(), 0);
        empty.copy_from_slice(&[]).unwrap();
        empty.fill_zero().unwrap();
        assert_eq!(empty.try_clone().unwrap().to_vec().unwrap(), []);
        let matrix = device.matrix::<u16>((0, 7), &[]).unwrap();
        assert_eq!(matrix.shape(), (0, 7));
        assert_eq!(matrix.to_vec().unwrap(), []);
    }
}

#[test]
fn wrong_lengths_are_named() {
    for device in devices() {
        let mut buffer = device.upload(&[1_u8, 2, 3]).unwrap();
        let error = buffer.copy_from_slice(&[1]).unwrap_err();
        assert!(matches!(
            (error.operation(), error.kind()),
            (
                "copy_from_slice",
                ErrorKind::WrongLength {
                    expected: 3,
                    found: 1,
                }
            )
        ));
        let error = buffer.copy_to_slice(&mut [0; 4]).unwrap_err();
        assert!(matches!(
            error.kind(),
            ErrorKind::WrongLength {
                expected: 3,
                found: 4,
                ..
            }
        ));
        let error = device.matrix((2, 3), &[0.0_f32; 5]).unwrap_err();
        assert!(matches!(
            (error.operation(), error.kind()),
            (
                "matrix",
                ErrorKind::WrongLength {
                    expected: 6,
                    found: 5
                }
            )
        ));
        assert_eq!(buffer.to_vec().unwrap(), [1, 2, 3]);
    }
}

#[test]
fn parts_of_a_buffer_are_copied() {
    for device in devices() {
        let mut buffer = device.upload(&[0_u16, 1, 2, 3, 4, 5, 6]).unwrap();
        let part = buffer.slice(2..).unwrap();
        assert_eq!((part.len(), part.is_empty()), (5, false));
        assert_eq!(part.device_address(), buffer.device_address() + 4);
        assert_eq!(part.slice(..=1).unwrap().to_vec().unwrap(), [2, 3]);
        assert_eq!(part.to_buffer().unwrap().to_vec().unwrap(), [2, 3, 4, 5, 6]);
        let (mut head, mut tail) = buffer.split_at_mut(4).unwrap();
        tail.copy_from_buffer(&head.slice_mut(1..).unwrap())
            .unwrap();
        head.slice_mut(..2).unwrap().fill_zero().unwrap();
        head.slice_mut(3..).unwrap().copy_from_slice(&[9]).unwrap();
        assert_eq!(buffer.to_vec().unwrap(), [0, 0, 2, 9, 1, 2, 3]);
        let mut two = [0; 2];
        buffer.slice(5..).unwrap().copy_to_slice(&mut two).unwrap();
        assert_eq!(two, [2, 3]);
        let nothing = device.zeros::<f32>(0).unwrap();
        assert!(nothing.slice(..).unwrap().to_vec().unwrap().is_empty());
    }
}

#[test]
#[expect(clippy::reversed_empty_ranges, reason = "it is refused")]
fn ranges_that_there_are_not_are_refused() {
    use std::ops::Bound;
    for device in devices() {
        let mut buffer = device.upload(&[1_u8, 2, 3]).unwrap();
        let endless = (Bound::Excluded(usize::MAX), Bound::Unbounded);
        let refused = [
            buffer.slice(2..5).map(drop),
            buffer.slice(3..2).map(drop),
            buffer.slice(4..).map(drop),
            buffer.slice(..=usize::MAX).map(drop),
            buffer.slice(endless).map(drop),
            buffer.slice(1..).unwrap().slice(..3).map(drop),
        ];
        for error in refused.map(Result::unwrap_err) {
            assert!(
                matches!(error.kind(), ErrorKind::OutOfRange { .. }),
                "{error}"
            );
            assert_eq!(error.operation(), "slice");
        }
        let error = buffer.slice_mut(1..9).unwrap_err();
        assert_eq!(
            error.to_string(),
            "slice_mut: there are no elements 1..9 among 3"
        );
        let error = buffer.split_at_mut(4).unwrap_err();
        assert_eq!(error.operation(), "split_at_mut");
        assert_eq!(buffer.to_vec().unwrap(), [1, 2, 3]);
    }
}

#[test]
fn sizes_that_overflow_are_refused() {
    for device in devices() {
        let error = device.zeros::<f64>(usize::MAX / 4).unwrap_err();
        assert!(matches!(
            (error.operation(), error.kind()),
            ("zeros", ErrorKind::TooLarge { .. })
        ));
        let error = device.matrix::<f32>((usize::MAX, 2), &[]).unwrap_err();
        assert!(matches!(
            (error.operation(), error.kind()),
            ("matrix", ErrorKind::TooLarge { .. })
        ));
    }
}

#[test]
fn after_running_out_of_memory_the_next_call_works() {
    for device in devices() {
        let memory = device.properties().memory_bytes;
        let requested = usize::try_from(memory).unwrap() + 1;
        let error = device.uninit::<u8>(requested).unwrap_err();
        match error.kind() {
            ErrorKind::OutOfMemory {
                requested: named,
                total,
                ..
            } => assert_eq!((*named, *total), (requested as u64, memory)),
            _ => panic!("another error: {error}"),
        }
        assert_eq!(device.upload(&[5_i64]).unwrap().to_vec().unwrap(), [5]);
    }
}

#[test]
fn simulated_memory_is_given_back() {
    let device = Device::simulator_with(SimulatorOptions::default().with_memory_bytes(1000));
    for _ in 0..10 {
        let _buffer = device.zeros::<u8>(1000).unwrap();
        let error = device.zeros::<u8>(1).unwrap_err();
        assert!(matches!(
            error.kind(),
            ErrorKind::OutOfMemory {
                requested: 1,
                free: 0,
                total: 1000,
                ..
            }
        ));
    }
}

#[test]
fn operands_of_another_device_are_refused() {
    let other = Device::simulator();
    let foreign = other.upload(&[1_u8]).unwrap();
    for device in devices() {
        let mut own = device.upload(&[2_u8]).unwrap();
        let error = own.copy_from_buffer(&foreign).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::WrongDevice { .. }),
            "{error}"
        );
        assert_eq!(own.to_vec().unwrap(), [2]);

        let earlier = other.record_event().unwrap();
        let error = device.record_event().unwrap().elapsed_since(&earlier);
        assert!(matches!(
            error.as_ref().map_err(Error::kind),
            Err(ErrorKind::WrongDevice { .. })
        ));
    }
}

#[test]
fn clones_are_the_same_device() {
    for device in devices() {
        let clone = device.clone();
        assert!(clone.is_same(&device));
        let mut buffer = device.upload(&[0_u8]).unwrap();
        buffer
            .copy_from_buffer(&clone.upload(&[9_u8]).unwrap())
            .unwrap();
        drop((device, clone));
        assert_eq!(buffer.to_vec().unwrap(), [9]);
    }
    assert!(!Device::simulator().is_same(&Device::simulator()));
}

#[test]
fn events_measure_time_that_passes() {
    for device in devices() {
        let earlier = device.record_event().unwrap();
        device.synchronize().unwrap();
        std::thread::sleep(Duration::from_millis(2));
        let later = device.record_event().unwrap();
        later.synchronize().unwrap();
        assert!(earlier.is_done().unwrap() && later.is_done().unwrap());
        let elapsed = later.elapsed_since(&earlier).unwrap();
        assert!(elapsed >= Duration::from_millis(1), "{elapsed:?}");
        assert_eq!(earlier.elapsed_since(&later).unwrap(), Duration::ZERO);
    }
}

#[test]
fn devices_and_buffers_are_shared_between_threads() {
    for device in devices() {
        let buffer = device.upload(&[1_u32; 4096]).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8_u32 {
                let (device, buffer) = (&device, &buffer);
                scope.spawn(move || {
                    assert_eq!(buffer.to_vec().unwrap(), vec![1; 4096]);
                    let own = device.upload(&vec![thread; 1000]).unwrap();
                    assert_eq!(own.to_vec().unwrap(), vec![thread; 1000]);
                });
            }
        });
    }
}

#[test]
fn all_types_can_be_sent_and_shared() {
    fn is_send_and_sync<T: Send + Sync + 'static>() {}
    is_send_and_sync::<Device>();
    is_send_and_sync::<Buffer<f32>>();
    is_send_and_sync::<Matrix<f64>>();
    is_send_and_sync::<Module>();
    is_send_and_sync::<Event>();
    is_send_and_sync::<Error>();
}

#[test]
fn with_current_gives_the_result_of_its_body() {
    for device in devices() {
        let name = device.with_current(|| device.name().to_owned()).unwrap();
        assert_eq!(name, device.name());
        assert_eq!(device.raw_stream().is_none(), device.is_simulator());
    }
}

#[test]
fn devices_are_named_in_the_environment() {
    let parse = |name: &str| name.parse::<DeviceChoice>();
    assert_eq!(parse("sim").unwrap(), DeviceChoice::Simulator);
    assert_eq!(parse("cuda").unwrap(), DeviceChoice::Cuda(0));
    assert_eq!(parse("cuda:12").unwrap(), DeviceChoice::Cuda(12));
    for wrong in [
        "",
        "SIM",
        "gpu",
        "cuda:",
        "cuda:-1",
        "cuda:+1",
        "cuda:4294967296",
        "sim:0",
    ] {
        let error = parse(wrong).unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::InvalidEnvironment { value, .. } if value == wrong)
        );
        assert!(error.to_string().contains("TILEWRIGHT_DEVICE"), "{error}");
    }
}

#[cfg(not(feature = "cuda"))]
#[test]
fn without_the_feature_cuda_is_an_error_that_says_so() {
    let error = Device::cuda(0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::NoCudaFeature));
    assert!(error.to_string().contains("--features cuda"));
}

#[cfg(feature = "cuda")]
#[test]
fn a_cuda_device_that_is_not_there_is_an_error() {
    let error = Device::cuda(4096).unwrap_err();
    // Without a driver there is no device either.
    assert!(
        matches!(
            error.kind(),
            ErrorKind::NoDevice { ordinal: 4096, .. } | ErrorKind::NoDriver { .. }
        ),
        "{error}"
    );
}

#[cfg(feature = "ndarray")]
mod arrays {
    use super::devices;
    use ndarray::{Array2, s};

    #[test]
    fn arrays_of_every_layout_keep_their_elements() {
        let array = Array2::from_shape_fn((6, 5), |(row, column)| (row * 5 + column) as f32);
        let views = [
            array.view(),
            array.t(),
            array.slice(s![1..4, ..]),
            array.slice(s![.., 1..;2]),
            array.slice(s![..;-1, ..;-2]),
            array.slice(s![2..2, ..]),
            array.slice(s![.., 5..]),
        ];
        for device in devices() {
            for view in &views {
                let matrix = device.matrix_from_array(view.view()).unwrap();
                assert_eq!(matrix.shape(), view.dim());
                assert_eq!(matrix.to_array2().unwrap(), view);
                let buffer = device.upload_array(view.view()).unwrap();
                let elements: Vec<f32> = view.iter().copied().collect();
                assert_eq!(buffer.to_array1().unwrap().to_vec(), elements);
            }
        }
    }
}

#[test]
fn pinned_memory_is_host_memory() {
    for device in devices() {
        let data: Vec<f64> = (0..100_003).map(f64::from).collect();
        let mut host = device.pinned::<f64>(data.len()).unwrap();
        assert_eq!(host.as_ptr().addr() % 256, 0);
        assert!(host.iter().all(|value| value.to_bits() == 0));
        host.copy_from_slice(&data);
        let mut buffer = device.upload(&host).unwrap();
        host.fill(-1.0);
        buffer.copy_to_slice(&mut host).unwrap();
        assert_eq!(*host, data);
        host.reverse();
        buffer.copy_from_slice(&host).unwrap();
        // The copy is complete: what happens to the host's memory now does not matter.
        host.fill(f64::NAN);
        drop(host);
        assert!(buffer.to_vec().unwrap().iter().eq(data.iter().rev()));
    }
}

#[test]
fn pinned_memory_may_be_empty_and_not_endless() {
    for device in devices() {
        assert!(device.pinned::<u16>(0).unwrap().is_empty());
        let error = device.pinned::<f64>(usize::MAX / 4).unwrap_err();
        assert!(matches!(
            (error.operation(), error.kind()),
            ("pinned", ErrorKind::TooLarge { .. })
        ));
        let error = device.pinned::<u8>(isize::MAX as usize).unwrap_err();
        assert!(
            matches!(
                (error.operation(), error.kind()),
                ("pinned", ErrorKind::OutOfHostMemory { .. })
            ),
            "{error}"
        );
        let mut host = device.pinned::<u8>(3).unwrap();
        host[1] = 7;
        assert_eq!(*host, [0, 7, 0]);
    }
}
