//! Tensors of other libraries: out and in, without a copy, and given back once.

mod batches;
#[path = "../common/mod.rs"]
mod common;
#[cfg(all(feature = "cuda", target_os = "linux"))]
#[path = "../common/fake_driver.rs"]
mod fake_driver;
mod foreign;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod order;
mod refused;
#[cfg(all(feature = "cuda", target_os = "linux"))]
#[path = "../cudarc/traced.rs"]
mod traced;

use common::devices;
use foreign::{Foreign, Given};
use half::{bf16, f16};
use std::sync::Arc;
use std::thread;
use tilewright::cuda_std::fp8::{F8E4M3, F8E5M2};
use tilewright::interop::dlpack::dlpark::ffi::{
    DLDataTypeCode, DLDeviceType, DLManagedTensor, DLManagedTensorVersioned,
};
use tilewright::interop::dlpack::dlpark::{DlpackFlags, Managed, ManagedTensorBase, versioned};
use tilewright::interop::dlpack::{
    Tensor, TensorElement, export, let_consumer_wait, stream_for_producer,
};
use tilewright::{Device, ErrorKind, Order};
use tilewright_test_support::assert_kind;

/// The tensor on `device`.
///
/// # Safety
/// Those of [`Tensor::import`], except for the order of streams: the device is waited for.
unsafe fn import<M: ManagedTensorBase>(device: &Device, tensor: Managed<M>) -> Tensor {
    device.synchronize().unwrap();
    // SAFETY: the caller's contract.
    unsafe { Tensor::import(device, tensor) }.unwrap()
}

#[test]
fn matrices_come_back_in_both_orders() {
    for device in devices() {
        for order in [Order::RowMajor, Order::ColumnMajor] {
            let data = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
            let matrix = device.matrix((2, 3, order), &data).unwrap();
            let (address, rows) = (matrix.view().device_address(), matrix.to_vec().unwrap());
            let tensor: versioned::Dlpack = export(matrix).unwrap();
            {
                let described = tensor.validate_export().unwrap();
                let strides = match order {
                    Order::RowMajor => [3, 1],
                    Order::ColumnMajor => [1, 2],
                };
                assert_eq!(described.shape(), [2, 3]);
                assert_eq!(described.strides().unwrap(), strides);
                let device_type = match device.is_simulator() {
                    true => DLDeviceType::CPU,
                    false => DLDeviceType::CUDA,
                };
                assert_eq!(described.device().device_type, device_type);
            }
            // SAFETY: the tensor is ours, and nothing else uses it.
            let mut tensor = unsafe { import(&device, tensor) };
            let view = tensor.matrix::<f32>().unwrap();
            assert_eq!(view.device_address(), address);
            assert_eq!((view.order(), view.shape()), (order, (2, 3)));
            assert_eq!(view.to_vec().unwrap(), rows);
            let product = device.matmul(view, view.t()).unwrap();
            let mut written = tensor.matrix_mut::<f32>().unwrap();
            let identity = device.matrix((3, 3), &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
            let twice = device.matrix((2, 3), &rows.iter().map(|x| 2.0 * x).collect::<Vec<_>>());
            device
                .matmul_into(&twice.unwrap(), &identity.unwrap(), &mut written)
                .unwrap();
            let view = tensor.matrix::<f32>().unwrap();
            let four_times = device.matmul(view, view.t()).unwrap().to_vec().unwrap();
            let expected: Vec<f32> = product.to_vec().unwrap().iter().map(|x| 4.0 * x).collect();
            assert_eq!(four_times, expected);
        }
    }
}

#[test]
fn every_element_type_has_its_description() {
    fn check<T: TensorElement + PartialEq + std::fmt::Debug>(
        device: &Device,
        one: T,
        (code, bits): (DLDataTypeCode, u8),
    ) {
        let tensor: versioned::Dlpack = export(device.upload(&[one; 3]).unwrap()).unwrap();
        // SAFETY: the tensor is ours, and nothing else uses it.
        let mut tensor = unsafe { import(device, tensor) };
        let found = tensor.data_type();
        assert_eq!((found.code, found.bits, found.lanes), (code, bits, 1));
        assert_eq!(tensor.buffer::<T>().unwrap().to_vec().unwrap(), [one; 3]);
        tensor.buffer_mut::<T>().unwrap().fill_zero().unwrap();
        assert_ne!(tensor.buffer::<T>().unwrap().to_vec().unwrap(), [one; 3]);
    }
    use DLDataTypeCode as Code;
    for device in devices() {
        check(&device, 1_i8, (Code::INT, 8));
        check(&device, 1_i16, (Code::INT, 16));
        check(&device, 1_i32, (Code::INT, 32));
        check(&device, 1_i64, (Code::INT, 64));
        check(&device, 1_u8, (Code::UINT, 8));
        check(&device, 1_u16, (Code::UINT, 16));
        check(&device, 1_u32, (Code::UINT, 32));
        check(&device, 1_u64, (Code::UINT, 64));
        check(&device, 1.0_f32, (Code::FLOAT, 32));
        check(&device, 1.0_f64, (Code::FLOAT, 64));
        check(&device, f16::ONE, (Code::FLOAT, 16));
        check(&device, bf16::ONE, (Code::BFLOAT, 16));
        check(&device, F8E4M3::from_f32(1.0), (Code::FLOAT8_E4M3FN, 8));
        check(&device, F8E5M2::from_f32(1.0), (Code::FLOAT8_E5M2, 8));
    }
}

#[test]
fn exported_memory_is_freed_by_the_deleter_on_any_thread() {
    for device in devices() {
        // Other tests allocate and free on the CUDA device meanwhile: less than this.
        let len = if device.is_simulator() {
            1000
        } else {
            512 << 20
        };
        let used = || {
            device.synchronize().unwrap();
            device.memory().unwrap().used
        };
        let before = used();
        let tensor: versioned::Dlpack = export(device.zeros::<f64>(len).unwrap()).unwrap();
        let bytes = 8 * len as u64;
        assert!(used() >= before + bytes / 2);
        thread::spawn(move || drop(tensor)).join().unwrap();
        assert!(used() < before + bytes / 2);
    }
}

#[test]
fn shared_memory_is_read_only() {
    for device in devices() {
        let shared = Arc::new(device.upload(&[1_u32, 2, 3]).unwrap());
        let tensor: versioned::Dlpack = export(shared.clone()).unwrap();
        assert_eq!(tensor.flags(), DlpackFlags::READ_ONLY);
        // SAFETY: the tensor is ours, and nothing writes it.
        let mut tensor = unsafe { import(&device, tensor) };
        assert!(tensor.is_read_only());
        assert_eq!(
            device.reduce_sum(tensor.buffer::<u32>().unwrap()).unwrap(),
            6
        );
        let error = tensor.buffer_mut::<u32>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "Tensor::buffer_mut: the tensor is read-only"
        );
        assert_eq!(Arc::strong_count(&shared), 2);
        drop(tensor);
        assert_eq!(Arc::strong_count(&shared), 1);

        // The older structure cannot say so.
        let error = export::<DLManagedTensor>(shared.clone()).err().unwrap();
        assert_kind!(error is ErrorKind::Interop { .. });
        assert_eq!(Arc::strong_count(&shared), 1);
        let matrix = Arc::new(device.matrix((1, 1), &[1_u32]).unwrap());
        let tensor: versioned::Dlpack = export(matrix).unwrap();
        assert_eq!(tensor.flags(), DlpackFlags::READ_ONLY);
    }
}

#[test]
fn nothing_is_a_tensor_without_an_address() {
    for device in devices() {
        let tensor: versioned::Dlpack =
            export(device.matrix_zeros::<f32>((0, 3)).unwrap()).unwrap();
        assert!(tensor.validate_export().unwrap().data_ptr().is_null());
        // SAFETY: there are no elements.
        let mut tensor = unsafe { import(&device, tensor) };
        assert_eq!(tensor.matrix::<f32>().unwrap().shape(), (0, 3));
        assert_eq!(tensor.matrix_mut::<f32>().unwrap().shape(), (0, 3));
        assert!(tensor.buffer::<f32>().unwrap().is_empty());
    }
}

/// Tensors of the host, as NumPy has them, on the simulator.
#[test]
fn host_tensors_are_used_in_place_and_given_back_once() {
    fn check<M: ManagedTensorBase>() {
        let device = Device::simulator();
        // A matrix of 3 x 2 in the middle of one of 4 x 5: rows are 5 apart.
        let foreign = Foreign {
            data: (0..20).map(|i| i as f32).collect(),
            shape: vec![3, 2],
            strides: Some(vec![5, 1]),
            byte_offset: 6 * 4,
            ..Foreign::default()
        };
        let (tensor, Given { data, deletions }) = foreign.give::<M>();
        // SAFETY: the elements are alive until the deleter is called, and nothing else uses them.
        let mut tensor = unsafe { Tensor::import(&device, tensor) }.unwrap();
        let matrix = tensor.matrix::<f32>().unwrap();
        assert_eq!(matrix.leading_dimension(), 5);
        assert_eq!(matrix.to_vec().unwrap(), [6.0, 7.0, 11.0, 12.0, 16.0, 17.0]);
        assert_eq!(
            device.matmul(matrix.t(), matrix).unwrap().to_vec().unwrap()[0],
            413.0
        );
        let ones = device.matrix((3, 1), &[1.0_f32; 3]).unwrap();
        let row = device.matrix((1, 2), &[-1.0_f32, -2.0]).unwrap();
        device
            .matmul_into(&ones, &row, &mut tensor.matrix_mut::<f32>().unwrap())
            .unwrap();
        assert_eq!(deletions(), 0);
        // SAFETY: the device's work is done; the data is read before it is freed.
        let after = unsafe { data.read(20) };
        for (i, x) in after.into_iter().enumerate() {
            let expected = match i {
                6 | 11 | 16 => -1.0,
                7 | 12 | 17 => -2.0,
                i => i as f32,
            };
            assert_eq!(x, expected, "element {i}");
        }
        drop(tensor);
        assert_eq!(deletions(), 1);
    }
    check::<DLManagedTensorVersioned>();
    check::<DLManagedTensor>();
}

/// Two halves of one array, whose rows lie between one another.
#[test]
fn host_tensors_overlap() {
    let device = Device::simulator();
    let mut array: Vec<f32> = (0..12).map(|i| i as f32).collect();
    let pointer = array.as_mut_ptr();
    let half = |column: usize| {
        let foreign = Foreign {
            shape: vec![3, 2],
            strides: Some(vec![4, 1]),
            byte_offset: 4 * column as u64,
            ..Foreign::default()
        };
        let (tensor, _) = foreign.give::<DLManagedTensorVersioned>();
        // SAFETY: the structure is ours; the array outlives it, and has all elements.
        unsafe { (*tensor.as_ptr()).dl_tensor.data = pointer.cast() };
        // SAFETY: the elements are alive, and no test writes those of the other half.
        unsafe { Tensor::import(&device, tensor) }.unwrap()
    };
    let (left, mut right) = (half(0), half(2));
    let product = |tensor: &Tensor| {
        let matrix = tensor.matrix::<f32>().unwrap();
        device.matmul(matrix.t(), matrix).unwrap().to_vec().unwrap()
    };
    assert_eq!(product(&left), [80.0, 92.0, 92.0, 107.0]);
    assert_eq!(product(&right), [140.0, 158.0, 158.0, 179.0]);
    drop(left);
    let ones = device.matrix((3, 2), &[1.0_f32; 6]).unwrap();
    let scale = device.matrix((2, 2), &[1.0_f32, 0.0, 0.0, 2.0]).unwrap();
    device
        .matmul_into(&ones, &scale, &mut right.matrix_mut::<f32>().unwrap())
        .unwrap();
    drop(right);
    let rows = [
        [0.0, 1.0, 1.0, 2.0],
        [4.0, 5.0, 1.0, 2.0],
        [8.0, 9.0, 1.0, 2.0],
    ];
    assert_eq!(array, rows.concat());
}

#[test]
fn older_tensors_without_strides_are_in_row_major_order() {
    let device = Device::simulator();
    let foreign = Foreign {
        data: (0..6).map(|i| i as f32).collect(),
        shape: vec![2, 3],
        strides: None,
        ..Foreign::default()
    };
    let (tensor, given) = foreign.give::<DLManagedTensor>();
    // SAFETY: the elements are alive until the deleter is called, and nothing else uses them.
    let tensor = unsafe { Tensor::import(&device, tensor) }.unwrap();
    assert_eq!(tensor.strides(), [3, 1]);
    assert_eq!(tensor.matrix::<f32>().unwrap().order(), Order::RowMajor);
    assert_eq!(
        device.reduce_sum(tensor.buffer::<f32>().unwrap()).unwrap(),
        15.0
    );
    // SAFETY: -1 is a wish not to wait, and the simulator's work is done.
    unsafe { tensor.release(Some(-1)) }.unwrap();
    assert_eq!((given.deletions)(), 1);
}

/// Memory that another library fills counts as written.
#[test]
fn a_tensor_that_was_filled_elsewhere_is_initialised() {
    let device = Device::simulator();
    let tensor: versioned::Dlpack = export(device.uninit::<u32>(100).unwrap()).unwrap();
    let address = tensor.validate().unwrap().data_ptr();
    for i in 0..100 {
        // SAFETY: the elements are those of the tensor, and no launch runs.
        unsafe { address.cast_mut().cast::<u32>().add(i).write(i as u32) };
    }
    // SAFETY: the tensor is ours, and nothing else uses it any more.
    let tensor = unsafe { import(&device, tensor) };
    assert_eq!(
        device.reduce_sum(tensor.buffer::<u32>().unwrap()).unwrap(),
        4950
    );
}

#[test]
fn the_simulator_has_no_stream() {
    let device = Device::simulator();
    assert_eq!(stream_for_producer(&device), None);
    for stream in [None, Some(-1)] {
        // SAFETY: no handle is passed.
        unsafe { let_consumer_wait(&device, stream) }.unwrap();
    }
    for stream in [0, 1, 2, -2] {
        // SAFETY: no handle is passed.
        let error = unsafe { let_consumer_wait(&device, Some(stream)) }.unwrap_err();
        assert!(error.to_string().contains("must pass None"), "{error}");
    }
}
