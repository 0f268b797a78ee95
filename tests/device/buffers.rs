//! The contents of buffers and matrices, and of parts of them.

use crate::common::devices;
use tilewright::{Buffer, ErrorKind};
use tilewright_test_support::assert_kind;

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
                    ..
                }
            )
        ));
        let error = buffer.copy_to_slice(&mut [0; 4]).unwrap_err();
        assert_kind!(error is ErrorKind::WrongLength { expected: 3, found: 4, .. });
        let error = device.matrix((2, 3), &[0.0_f32; 5]).unwrap_err();
        assert!(matches!(
            (error.operation(), error.kind()),
            (
                "matrix",
                ErrorKind::WrongLength {
                    expected: 6,
                    found: 5,
                    ..
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
            assert_kind!(error is ErrorKind::OutOfRange { .. });
            assert_eq!(error.operation(), "slice");
        }
        let boundless = device.zeros::<()>(usize::MAX).unwrap();
        assert_eq!(boundless.slice(1..).unwrap().len(), usize::MAX - 1);
        for past in [0..=usize::MAX, usize::MAX..=usize::MAX] {
            let error = boundless.slice(past).map(drop).unwrap_err();
            assert_kind!(error is ErrorKind::OutOfRange { .. });
        }
        let error = buffer.slice_mut(1..9).unwrap_err();
        assert_eq!(
            error.to_string(),
            "slice_mut: the range 1..9 of elements goes past the end: the number of elements is 3"
        );
        let error = buffer.split_at_mut(4).unwrap_err();
        assert_eq!(error.operation(), "split_at_mut");
        assert_eq!(buffer.to_vec().unwrap(), [1, 2, 3]);
    }
}
