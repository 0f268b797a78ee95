//! cuBLASLt's products of floats, loaded when the benchmark starts.

use super::library::open_library;
use crate::common::Result;
use half::{bf16, f16};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr;
use tilewright::cuda_std::fp8::F8E4M3;
use tilewright::{Buffer, Device, Element, Matrix, Order};

/// Names under which the loader may find it, newest first, then CUDA's usual folder.
const LIBRARIES: [&str; 5] = [
    "libcublasLt.so.13",
    "libcublasLt.so.12",
    "libcublasLt.so",
    "/usr/local/cuda/lib64/libcublasLt.so.13",
    "/usr/local/cuda/lib64/libcublasLt.so",
];

/// `CUBLAS_COMPUTE_32F`: with totals in f32, for the faster sums are off unless they are requested.
const COMPUTE_F32: c_int = 68;

/// `CUBLAS_COMPUTE_64F`.
const COMPUTE_F64: c_int = 70;

/// `CUDA_R_32F`, `CUDA_R_64F`, `CUDA_R_16F`, `CUDA_R_16BF`, `CUDA_R_8F_E4M3`.
const F32: c_int = 0;
const F64: c_int = 1;
const F16: c_int = 2;
const BF16: c_int = 14;
const E4M3: c_int = 28;

/// Algorithms of a product that are timed: the first of the heuristics, which sort them by the time that they
/// expect.
const ALGORITHMS: usize = 10;

/// A type of operands.
pub trait LtElement: Element {
    /// That of the products.
    type Product: Element;
    /// The `cudaDataType_t` of the operands, of the products, and of alpha and beta.
    const DATA_TYPES: [c_int; 3];
    /// The `cublasComputeType_t`.
    const COMPUTE_TYPE: c_int;
    /// Alpha, 1, and beta, 0.
    const ONE_AND_ZERO: [&'static [u8]; 2];
}

macro_rules! lt_elements {
    ($($element:ty => $product:ty, $data_types:expr, $compute_type:expr, $one:expr;)*) => {$(
        impl LtElement for $element {
            type Product = $product;
            const DATA_TYPES: [c_int; 3] = $data_types;
            const COMPUTE_TYPE: c_int = $compute_type;
            const ONE_AND_ZERO: [&'static [u8]; 2] = [&$one.to_ne_bytes(), &[0; size_of_val(&$one)]];
        }
    )*};
}
lt_elements! {
    f32 => f32, [F32, F32, F32], COMPUTE_F32, 1.0_f32;
    f64 => f64, [F64, F64, F64], COMPUTE_F64, 1.0_f64;
    f16 => f16, [F16, F16, F32], COMPUTE_F32, 1.0_f32;
    bf16 => bf16, [BF16, BF16, F32], COMPUTE_F32, 1.0_f32;
    F8E4M3 => bf16, [E4M3, BF16, F32], COMPUTE_F32, 1.0_f32;
}

/// `CUBLASLT_MATMUL_DESC_TRANSA`, and `CUBLAS_OP_N` and `CUBLAS_OP_T`.
const TRANSPOSE_FIRST: c_int = 3;
const NOT_TRANSPOSED: i32 = 0;
const TRANSPOSED: i32 = 1;

/// `CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES`, and what it is set to.
const MAX_WORKSPACE: c_int = 1;
const WORKSPACE_BYTES: usize = 64 << 20;

type Handle = *mut c_void;
type Status = c_int;

/// `cublasLtMatmulHeuristicResult_t`: an algorithm is 64 bytes.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Heuristic {
    algorithm: [u64; 8],
    workspace_bytes: usize,
    state: Status,
    waves: f32,
    reserved: [c_int; 4],
}

/// `cublasLtMatmul`: alpha; A, B; beta; C, D, each address with its layout; the algorithm; the workspace.
type MatmulFunction = unsafe extern "C" fn(
    Handle,
    Handle,
    *const c_void,
    *const c_void,
    Handle,
    *const c_void,
    Handle,
    *const c_void,
    *const c_void,
    Handle,
    *mut c_void,
    Handle,
    *const [u64; 8],
    *mut c_void,
    usize,
    *mut c_void,
) -> Status;

type SetAttribute = unsafe extern "C" fn(Handle, c_int, *const c_void, usize) -> Status;

/// The operation, the layouts of A, B, C and D, the preference, how many algorithms, the place for them and
/// for their number.
type GetHeuristic = unsafe extern "C" fn(
    Handle,
    Handle,
    Handle,
    Handle,
    Handle,
    Handle,
    Handle,
    c_int,
    *mut Heuristic,
    *mut c_int,
) -> Status;

struct Functions {
    create: unsafe extern "C" fn(*mut Handle) -> Status,
    create_operation: unsafe extern "C" fn(*mut Handle, c_int, c_int) -> Status,
    set_operation: SetAttribute,
    create_layout: unsafe extern "C" fn(*mut Handle, c_int, u64, u64, i64) -> Status,
    create_preference: unsafe extern "C" fn(*mut Handle) -> Status,
    set_preference: SetAttribute,
    get_heuristic: GetHeuristic,
    matmul: MatmulFunction,
}

/// cuBLASLt in the stream of one device. What it creates lives as long as the program.
pub struct CuBlasLt {
    device: Device,
    functions: Functions,
    handle: Handle,
    stream: *mut c_void,
    workspace: Buffer<u8>,
}

/// A product of one shape, with the algorithms that cuBLASLt prefers.
pub struct LtProduct<'a, T> {
    library: &'a CuBlasLt,
    operation: Handle,
    layouts: [Handle; 3],
    algorithms: Vec<[u64; 8]>,
    /// The one that is used.
    chosen: Cell<usize>,
    shape: (usize, usize, usize),
    order_of_b: Order,
    elements: PhantomData<T>,
}

impl CuBlasLt {
    /// Loads the library for `device`.
    ///
    /// # Errors
    /// The missing library or function, in one line.
    pub fn load(device: &Device) -> Result<Self> {
        let functions = Functions::load()?;
        let stream = device.raw_stream().ok_or("the device has no stream")?;
        let mut handle = ptr::null_mut();
        // SAFETY: the place is for one handle.
        device.with_current(|| check(unsafe { (functions.create)(&raw mut handle) }))??;
        Ok(Self {
            device: device.clone(),
            functions,
            handle,
            stream: stream.as_ptr(),
            workspace: device.uninit(WORKSPACE_BYTES)?,
        })
    }

    /// Products of an `m` x `k` row-major matrix and a `k` x `n` one of this order.
    pub fn product<T: LtElement>(
        &self,
        shape: (usize, usize, usize),
        order_of_b: Order,
    ) -> Result<LtProduct<'_, T>> {
        self.device
            .with_current(|| self.prepared(shape, order_of_b))?
    }

    fn prepared<T: LtElement>(
        &self,
        (m, n, k): (usize, usize, usize),
        order_of_b: Order,
    ) -> Result<LtProduct<'_, T>> {
        let functions = &self.functions;
        let [of_operands, of_product, of_scalars] = T::DATA_TYPES;
        // The transpose of A B is that of B times that of A, in column-major order.
        let (transposition, first) = match order_of_b {
            Order::RowMajor => (NOT_TRANSPOSED, (n, k)),
            Order::ColumnMajor => (TRANSPOSED, (k, n)),
        };
        let mut operation = ptr::null_mut();
        let mut preference = ptr::null_mut();
        // SAFETY: each place is for one handle, and attributes have the types of the library's headers.
        unsafe {
            check((functions.create_operation)(
                &raw mut operation,
                T::COMPUTE_TYPE,
                of_scalars,
            ))?;
            let value = ptr::from_ref(&transposition).cast();
            let bytes = size_of_val(&transposition);
            check((functions.set_operation)(
                operation,
                TRANSPOSE_FIRST,
                value,
                bytes,
            ))?;
            check((functions.create_preference)(&raw mut preference))?;
            let value = ptr::from_ref(&WORKSPACE_BYTES).cast();
            let bytes = size_of_val(&WORKSPACE_BYTES);
            check((functions.set_preference)(
                preference,
                MAX_WORKSPACE,
                value,
                bytes,
            ))?;
        }
        let layouts = [
            self.layout(of_operands, first)?,
            self.layout(of_operands, (k, m))?,
            self.layout(of_product, (n, m))?,
        ];
        let [first, second, result] = layouts;
        let (mut heuristics, mut found) = ([Heuristic::default(); ALGORITHMS], 0);
        // SAFETY: the handles are alive, and the places are for so many algorithms and one number.
        check(unsafe {
            (functions.get_heuristic)(
                self.handle,
                operation,
                first,
                second,
                result,
                result,
                preference,
                ALGORITHMS as c_int,
                heuristics.as_mut_ptr(),
                &raw mut found,
            )
        })?;
        let usable = heuristics.iter().take(found.try_into()?);
        let usable = usable.filter(|it| it.state == 0 && it.workspace_bytes <= WORKSPACE_BYTES);
        let algorithms: Vec<_> = usable.map(|it| it.algorithm).collect();
        if algorithms.is_empty() {
            return Err(format!("cuBLASLt has no algorithm for {m} x {n} x {k}").into());
        }
        Ok(LtProduct {
            library: self,
            operation,
            layouts,
            algorithms,
            chosen: Cell::new(0),
            shape: (m, n, k),
            order_of_b,
            elements: PhantomData,
        })
    }

    /// A column-major matrix without gaps.
    fn layout(&self, element: c_int, (rows, columns): (usize, usize)) -> Result<Handle> {
        let mut layout = ptr::null_mut();
        let (rows, columns) = (rows as u64, columns as u64);
        // SAFETY: the place is for one handle.
        check(unsafe {
            (self.functions.create_layout)(&raw mut layout, element, rows, columns, rows as i64)
        })?;
        Ok(layout)
    }
}

impl<T: LtElement> LtProduct<'_, T> {
    /// Chooses the algorithm with the least time that `time` measures of a call; one that fails is left out.
    pub fn choose(&self, mut time: impl FnMut(&Self) -> Result<f64>) -> Result {
        let times = (0..self.algorithms.len()).filter_map(|number| {
            self.chosen.set(number);
            time(self).ok().map(|time| (number, time))
        });
        let best = times.min_by(|(_, left), (_, right)| left.total_cmp(right));
        let (number, _) = best.ok_or("no algorithm of cuBLASLt runs")?;
        self.chosen.set(number);
        Ok(())
    }

    /// Enqueues C = A B by the chosen algorithm.
    pub fn multiply(&self, a: &Matrix<T>, b: &Matrix<T>, c: &mut Matrix<T::Product>) -> Result {
        let (m, n, k) = self.shape;
        assert_eq!((a.shape(), b.shape(), c.shape()), ((m, k), (k, n), (m, n)));
        assert_eq!((a.order(), b.order()), (Order::RowMajor, self.order_of_b));
        let library = self.library;
        let [one, zero] = T::ONE_AND_ZERO.map(|it| it.as_ptr().cast());
        let [first, second, result] = self.layouts;
        let workspace = library.workspace.device_address() as usize;
        library.device.with_current(|| {
            // SAFETY: the handles are alive, and their context is current. The matrices are of the device, of these
            // shapes and orders, and freed only after the work in its stream; C is borrowed mutably. The
            // scalars are read during the call, and the workspace is used by work of one stream.
            check(unsafe {
                (library.functions.matmul)(
                    library.handle,
                    self.operation,
                    one,
                    address(b),
                    first,
                    address(a),
                    second,
                    zero,
                    address(c),
                    result,
                    address(c).cast_mut(),
                    result,
                    &raw const self.algorithms[self.chosen.get()],
                    ptr::with_exposed_provenance_mut(workspace),
                    WORKSPACE_BYTES,
                    library.stream,
                )
            })
        })?
    }
}

impl Functions {
    fn load() -> Result<Self> {
        let library = open_library(&LIBRARIES)?;
        // SAFETY: the types are those of cublasLt.h.
        let functions = unsafe {
            Self {
                create: *library.get(c"cublasLtCreate")?,
                create_operation: *library.get(c"cublasLtMatmulDescCreate")?,
                set_operation: *library.get(c"cublasLtMatmulDescSetAttribute")?,
                create_layout: *library.get(c"cublasLtMatrixLayoutCreate")?,
                create_preference: *library.get(c"cublasLtMatmulPreferenceCreate")?,
                set_preference: *library.get(c"cublasLtMatmulPreferenceSetAttribute")?,
                get_heuristic: *library.get(c"cublasLtMatmulAlgoGetHeuristic")?,
                matmul: *library.get(c"cublasLtMatmul")?,
            }
        };
        // CUDA's libraries cannot be unloaded safely, and the functions have to stay.
        std::mem::forget(library);
        Ok(functions)
    }
}

/// The error that a status stands for.
fn check(status: Status) -> Result {
    match status {
        0 => Ok(()),
        _ => Err(format!("cuBLASLt's status is {status}").into()),
    }
}

fn address<T: Element>(matrix: &Matrix<T>) -> *const c_void {
    ptr::with_exposed_provenance(matrix.as_buffer().device_address() as usize)
}
