//! A library that gives tensors of f32 in host memory, and counts how often each is given back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tilewright::interop::dlpack::dlpark::ffi::{DLDataType, DLDevice, DLTensor};
use tilewright::interop::dlpack::dlpark::{DlpackFlags, Managed, ManagedTensorBase};

/// A tensor before it is passed on: each test changes the property that it tests.
pub struct Foreign {
    pub data: Vec<f32>,
    pub device: DLDevice,
    pub element: DLDataType,
    pub shape: Vec<i64>,
    /// None is row-major order without gaps, in the older structure.
    pub strides: Option<Vec<i64>>,
    pub byte_offset: u64,
    pub flags: DlpackFlags,
}

impl Default for Foreign {
    fn default() -> Self {
        Self {
            data: vec![0.0; 64],
            device: DLDevice::CPU,
            element: DLDataType::F32,
            shape: vec![2, 3],
            strides: Some(vec![3, 1]),
            byte_offset: 0,
            flags: DlpackFlags::empty(),
        }
    }
}

/// The library's data about a tensor that it has passed on.
pub struct Given<D> {
    pub data: Pointer,
    pub deletions: D,
}

/// The first element.
pub struct Pointer(*const f32);

impl Pointer {
    /// # Safety
    /// There are `len` elements, which are alive and not written.
    pub unsafe fn read(&self, len: usize) -> Vec<f32> {
        // SAFETY: the caller's contract.
        unsafe { std::slice::from_raw_parts(self.0, len) }.to_vec()
    }
}

/// The memory that the deleter frees.
struct Context {
    _data: Vec<f32>,
    _shape: Vec<i64>,
    _strides: Option<Vec<i64>>,
    deletions: Arc<AtomicUsize>,
}

/// The deleter. It finds what to free by the structure's own pointer.
unsafe extern "C" fn delete<M: ManagedTensorBase>(tensor: *mut M) {
    // SAFETY: `give` made both, and the deleter is called once for each.
    let (tensor, context) = unsafe {
        let tensor = Box::from_raw(tensor);
        let context = Box::from_raw(tensor.manager_ctx().cast::<Context>());
        (tensor, context)
    };
    context.deletions.fetch_add(1, Ordering::Relaxed);
    drop((tensor, context));
}

impl Foreign {
    pub fn give<M: ManagedTensorBase>(self) -> (Managed<M>, Given<impl Fn() -> usize>) {
        let Self {
            mut data,
            mut shape,
            mut strides,
            ..
        } = self;
        let tensor = DLTensor {
            data: data.as_mut_ptr().cast(),
            device: self.device,
            ndim: shape.len() as i32,
            dtype: self.element,
            shape: shape.as_mut_ptr(),
            strides: strides
                .as_mut()
                .map_or(std::ptr::null_mut(), |strides| strides.as_mut_ptr()),
            byte_offset: self.byte_offset,
        };
        let deletions = Arc::new(AtomicUsize::new(0));
        let given = Given {
            data: Pointer(data.as_ptr()),
            deletions: {
                let deletions = deletions.clone();
                move || deletions.load(Ordering::Relaxed)
            },
        };
        let context = Box::new(Context {
            _data: data,
            _shape: shape,
            _strides: strides,
            deletions,
        });
        let context = Box::into_raw(context).cast();
        let mut managed = Box::new(M::from_parts(tensor, context, Some(delete::<M>)));
        // SAFETY: the flags say what the test is about; none claims a copy.
        unsafe { managed.set_flags_unchecked(self.flags) };
        // SAFETY: the structure is complete, and its deleter frees it.
        let managed = unsafe { Managed::from_raw(Box::into_raw(managed)) };
        (managed.expect("a version of today"), given)
    }
}
