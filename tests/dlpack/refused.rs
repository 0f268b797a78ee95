//! Tensors that are not what a call needs: the error says why, and the tensor is given back once.

use crate::foreign::Foreign;
use std::fmt::Display;
use tilewright::interop::dlpack::Tensor;
use tilewright::interop::dlpack::dlpark::DlpackFlags;
use tilewright::interop::dlpack::dlpark::ffi::{
    DLDataType, DLDevice, DLManagedTensor, DLManagedTensorVersioned,
};
use tilewright::{Device, Error, ErrorKind, TensorError};
use tilewright_test_support::assert_kind;

/// Gives the tensor to the simulator, which does `body` with it. It must be given back once.
#[track_caller]
pub fn with<R>(foreign: Foreign, body: impl FnOnce(Result<&mut Tensor, Error>) -> R) -> R {
    let (tensor, given) = foreign.give::<DLManagedTensorVersioned>();
    // SAFETY: no test accesses elements that are not there, and nothing else uses them.
    let result = match unsafe { Tensor::import(&Device::simulator(), tensor) } {
        Ok(mut tensor) => body(Ok(&mut tensor)),
        Err(error) => body(Err(error)),
    };
    assert_eq!((given.deletions)(), 1);
    result
}

#[track_caller]
pub fn says(error: impl Display, words: &str) {
    assert!(error.to_string().contains(words), "{error}");
}

#[test]
fn tensors_of_other_devices() {
    let devices = [
        DLDevice::cuda(0),
        DLDevice::metal(0),
        DLDevice {
            device_id: 1,
            ..DLDevice::CPU
        },
    ];
    for device in devices {
        let foreign = Foreign {
            device,
            ..Foreign::default()
        };
        let error = with(foreign, |tensor| tensor.err().unwrap());
        assert_kind!(error is ErrorKind::WrongDevice { .. });
        let found = format!(
            "device type {}, number {}",
            device.device_type.0, device.device_id
        );
        says(error, &found);
    }
}

#[test]
fn elements_of_other_types() {
    let types = [
        (DLDataType::F64, "float 64"),
        (DLDataType::BOOL, "bool 8"),
        (DLDataType::C64, "complex 64"),
        (
            DLDataType {
                lanes: 4,
                ..DLDataType::F32
            },
            "vectors of 4 float 32",
        ),
        (DLDataType::F8E8M0FNU, "type code 14"),
    ];
    for (element, words) in types {
        let foreign = Foreign {
            element,
            ..Foreign::default()
        };
        with(foreign, |tensor| {
            let tensor = tensor.unwrap();
            let error = tensor.buffer::<f32>().unwrap_err();
            let kind = |error: &Error| {
                matches!(error.kind(), ErrorKind::Tensor(TensorError::Element { .. }))
            };
            assert!(kind(&error));
            says(error, words);
            assert!(kind(&tensor.matrix_mut::<f32>().unwrap_err()));
        });
    }
}

#[test]
fn shapes_and_strides_that_are_no_matrix() {
    let with_strides = |shape: &[i64], strides: &[i64]| Foreign {
        shape: shape.to_vec(),
        strides: Some(strides.to_vec()),
        ..Foreign::default()
    };
    for strides in [[6, 2], [-3, 1], [0, 1], [2, 1], [1, 1]] {
        with(with_strides(&[2, 3], &strides), |tensor| {
            let tensor = tensor.unwrap();
            for error in [
                tensor.matrix::<f32>().unwrap_err(),
                tensor.buffer::<f32>().unwrap_err(),
                tensor.matrix_mut::<f32>().unwrap_err(),
            ] {
                let kind = error.kind();
                assert!(
                    matches!(kind, ErrorKind::Tensor(TensorError::Strides { .. })),
                    "{error}"
                );
                says(error, &format!("{strides:?}"));
            }
        });
    }
    with(with_strides(&[2, 2, 2], &[4, 2, 1]), |tensor| {
        let tensor = tensor.unwrap();
        assert_eq!(tensor.buffer::<f32>().unwrap().len(), 8);
        let error = tensor.matrix::<f32>().unwrap_err();
        let kind = error.kind();
        assert!(
            matches!(kind, ErrorKind::Tensor(TensorError::Dimensions { .. })),
            "{error}"
        );
    });
}

#[test]
fn read_only_tensors_are_not_written() {
    let foreign = Foreign {
        flags: DlpackFlags::READ_ONLY,
        ..Foreign::default()
    };
    with(foreign, |tensor| {
        let tensor = tensor.unwrap();
        assert_eq!(tensor.matrix::<f32>().unwrap().shape(), (2, 3));
        says(tensor.matrix_mut::<f32>().unwrap_err(), "read-only");
        says(tensor.buffer_mut::<f32>().unwrap_err(), "read-only");
    });
}

#[test]
fn descriptions_that_are_wrong() {
    let malformed = |foreign: Foreign, words: &str| {
        let error = with(foreign, |tensor| tensor.err().unwrap());
        let kind = error.kind();
        assert!(
            matches!(kind, ErrorKind::Tensor(TensorError::Malformed { .. })),
            "{error}"
        );
        says(error, words);
    };
    let shape = |shape: &[i64]| Foreign {
        shape: shape.to_vec(),
        strides: Some(vec![1; shape.len()]),
        ..Foreign::default()
    };
    malformed(shape(&[2, -3]), "negative");
    malformed(shape(&[i64::MAX, i64::MAX]), "overflows");
    let no_strides = Foreign {
        strides: None,
        ..Foreign::default()
    };
    malformed(no_strides, "strides");
    let far = Foreign {
        byte_offset: u64::MAX,
        ..Foreign::default()
    };
    malformed(far, "past the address space");
    let between = Foreign {
        byte_offset: 2,
        ..Foreign::default()
    };
    with(between, |tensor| {
        says(tensor.unwrap().matrix::<f32>().unwrap_err(), "not aligned");
    });
    let long = Foreign {
        shape: vec![1 << 40, 2],
        strides: Some(vec![1 << 40, 1]),
        ..Foreign::default()
    };
    with(long, |tensor| {
        says(
            tensor.unwrap().matrix::<f32>().unwrap_err(),
            "past the address space",
        );
    });
}

#[test]
fn a_tensor_without_memory() {
    let (tensor, given) = Foreign::default().give::<DLManagedTensor>();
    // SAFETY: the structure is ours, and the deleter does not use the field.
    unsafe { (*tensor.as_ptr()).dl_tensor.data = std::ptr::null_mut() };
    // SAFETY: no element is accessed.
    let error = unsafe { Tensor::import(&Device::simulator(), tensor) }.unwrap_err();
    says(error, "the address is null");
    assert_eq!((given.deletions)(), 1);
}

/// A device that is a GPU takes no tensor of the host.
#[test]
fn host_tensors_on_a_gpu() {
    let device = match Device::cuda(0) {
        Ok(device) => device,
        Err(error) => return crate::common::say(&format!("skipped: {error}")),
    };
    let (tensor, given) = Foreign::default().give::<DLManagedTensorVersioned>();
    // SAFETY: no element is accessed.
    let error = unsafe { Tensor::import(&device, tensor) }.unwrap_err();
    assert_kind!(error is ErrorKind::WrongDevice { .. });
    assert_eq!((given.deletions)(), 1);
}
