//! cuBLAS, loaded when the benchmark starts.

mod functions;
mod types;

pub use types::{Gemm, InF32, InSums};

use crate::common::Result;
use functions::{Functions, Handle, Status};
use std::ffi::{c_int, c_longlong, c_void};
use std::ptr;
use tilewright::{Device, Element, Matrix, MatrixView, MatrixViewMut, Order};
use types::{COMPUTE_F32, COMPUTE_I32, DATA_TYPE_I8, DATA_TYPE_I32};

/// The environment variable that enables TF32 in every program.
const TF32_OVERRIDE: &str = "NVIDIA_TF32_OVERRIDE";

/// `CUBLAS_DEFAULT_MATH`: the fastest algorithm with at least the type's precision, so no TF32.
const DEFAULT_MATH: c_int = 0;

/// `CUBLAS_OP_N`: the operand is not transposed.
const NOT_TRANSPOSED: c_int = 0;

/// `CUBLAS_GEMM_DEFAULT`.
const DEFAULT_ALGORITHM: c_int = -1;

/// `CUBLAS_OP_T`: the operand is transposed.
const TRANSPOSED: c_int = 1;

/// cuBLAS in the stream of one device.
pub struct CuBlas {
    device: Device,
    functions: Functions,
    handle: Handle,
    version: String,
}

impl CuBlas {
    /// Loads the library and prepares it for `device`.
    ///
    /// # Errors
    /// The missing library or function, in one line.
    pub fn load(device: &Device) -> Result<Self> {
        if std::env::var_os(TF32_OVERRIDE).is_some() {
            return Err(format!("{TF32_OVERRIDE} is set, so it may not compute in f32").into());
        }
        let functions = Functions::load()?;
        let stream = device.raw_stream().ok_or("the device has no stream")?;
        let mut cublas = Self {
            device: device.clone(),
            functions,
            handle: ptr::null_mut(),
            version: String::new(),
        };
        device.with_current(|| cublas.prepare(stream.as_ptr()))??;
        Ok(cublas)
    }

    /// The library's version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Enqueues C = A B `calls` times. The shapes must match.
    pub fn multiply<T: Gemm>(
        &self,
        a: &Matrix<T>,
        b: &Matrix<T>,
        c: &mut Matrix<T>,
        calls: u64,
    ) -> Result {
        let gemm = T::function(&self.functions);
        let Product { m, n, k, a, b, c } = Product::of(a, b, c)?;
        let (one, zero) = (T::ONE, T::ZERO);
        let plain = NOT_TRANSPOSED;
        // SAFETY: the handle is alive, and its context current. Operands are matrices of the device, of
        // these shapes, freed only after the work in its stream; C is borrowed mutably. The scalars are
        // read during the call.
        self.enqueue(calls, || unsafe {
            gemm(
                self.handle,
                plain,
                plain,
                n,
                m,
                k,
                &raw const one,
                b,
                n,
                a,
                k,
                &raw const zero,
                c,
                n,
            )
        })
    }

    /// Enqueues C = A B of row-major matrices, where B has a single column or A a single row.
    pub fn multiply_vector<T: Gemm>(
        &self,
        a: &Matrix<T>,
        b: &Matrix<T>,
        c: &mut Matrix<T>,
    ) -> Result {
        let gemv = T::vector_function(&self.functions);
        let Product { m, n, k, a, b, c } = Product::of(a, b, c)?;
        assert!(m == 1 || n == 1);
        let (one, zero) = (T::ONE, T::ZERO);
        // A row-major matrix is its transpose in column-major order.
        let (transposition, rows, columns, matrix, vector) = match n {
            1 => (TRANSPOSED, k, m, a, b),
            _ => (NOT_TRANSPOSED, n, k, b, a),
        };
        // SAFETY: as in `multiply`.
        self.enqueue(1, || unsafe {
            gemv(
                self.handle,
                transposition,
                rows,
                columns,
                &raw const one,
                matrix,
                rows,
                vector,
                1,
                &raw const zero,
                c,
                1,
            )
        })
    }

    /// Enqueues C = A B in f16 or bf16, with f32 accumulators. A and C are row-major, B is of either order; the
    /// shapes must match.
    pub fn multiply_halves<T: InF32>(
        &self,
        a: &Matrix<T>,
        b: &Matrix<T>,
        c: &mut Matrix<T>,
    ) -> Result {
        let order = b.order();
        let Product { m, n, k, a, b, c } = Product::of(a, b, c)?;
        let (transposition, leading) = match order {
            Order::RowMajor => (NOT_TRANSPOSED, n),
            Order::ColumnMajor => (TRANSPOSED, k),
        };
        let (one, zero) = (1.0, 0.0);
        // SAFETY: as in `multiply`; the types are those of the matrices.
        self.enqueue(1, || unsafe {
            (self.functions.gemm_ex)(
                self.handle,
                transposition,
                NOT_TRANSPOSED,
                n,
                m,
                k,
                &raw const one,
                b.cast(),
                T::DATA_TYPE,
                leading,
                a.cast(),
                T::DATA_TYPE,
                k,
                &raw const zero,
                c.cast(),
                T::DATA_TYPE,
                n,
                COMPUTE_F32,
                DEFAULT_ALGORITHM,
            )
        })
    }

    /// Enqueues C = A B of parts of matrices in any order; C is row-major. The shapes must match.
    pub fn multiply_views<T: InSums>(
        &self,
        a: MatrixView<'_, T>,
        b: MatrixView<'_, T>,
        c: MatrixViewMut<'_, T>,
    ) -> Result {
        assert_eq!((a.cols(), c.shape()), (b.rows(), (a.rows(), b.cols())));
        assert_eq!(c.order(), Order::RowMajor);
        let transposition = |order| match order {
            Order::RowMajor => NOT_TRANSPOSED,
            Order::ColumnMajor => TRANSPOSED,
        };
        let address = |it: MatrixView<'_, T>| {
            ptr::with_exposed_provenance::<c_void>(it.device_address() as usize)
        };
        let leading = |it: MatrixView<'_, T>| c_int::try_from(it.leading_dimension());
        let (m, n, k): (c_int, c_int, c_int) = (
            a.rows().try_into()?,
            b.cols().try_into()?,
            a.cols().try_into()?,
        );
        let (lda, ldb, ldc) = (leading(a)?, leading(b)?, leading(c.view())?);
        let [one, zero] = T::ONE_AND_ZERO;
        // SAFETY: as in `multiply_halves`: the leading dimensions are the views', and the scalars have the type
        // of the computation.
        self.enqueue(1, || unsafe {
            (self.functions.gemm_ex)(
                self.handle,
                transposition(b.order()),
                transposition(a.order()),
                n,
                m,
                k,
                one.as_ptr().cast(),
                address(b),
                T::DATA_TYPE,
                ldb,
                address(a),
                T::DATA_TYPE,
                lda,
                zero.as_ptr().cast(),
                address(c.view()).cast_mut(),
                T::DATA_TYPE,
                ldc,
                T::COMPUTE_TYPE,
                DEFAULT_ALGORITHM,
            )
        })
    }

    /// Enqueues C = A B of i8 in i32. A and C are row-major, B is of either order; the shapes must match.
    pub fn multiply_i8(&self, a: &Matrix<i8>, b: &Matrix<i8>, c: &mut Matrix<i32>) -> Result {
        let order = b.order();
        let Product { m, n, k, a, b, c } = Product::of(a, b, c)?;
        let (transposition, leading) = match order {
            Order::RowMajor => (NOT_TRANSPOSED, n),
            Order::ColumnMajor => (TRANSPOSED, k),
        };
        let (one, zero) = (1_i32, 0_i32);
        // SAFETY: as in `multiply`; the types are those of the matrices, and the scalars' type is that of the
        // computation.
        self.enqueue(1, || unsafe {
            (self.functions.gemm_ex)(
                self.handle,
                transposition,
                NOT_TRANSPOSED,
                n,
                m,
                k,
                (&raw const one).cast(),
                b.cast(),
                DATA_TYPE_I8,
                leading,
                a.cast(),
                DATA_TYPE_I8,
                k,
                (&raw const zero).cast(),
                c.cast(),
                DATA_TYPE_I32,
                n,
                COMPUTE_I32,
                DEFAULT_ALGORITHM,
            )
        })
    }

    /// Enqueues `count` products of `size` x `size` matrices, stacked in row-major matrices, with f32 accumulators.
    pub fn multiply_batch<T: InF32>(
        &self,
        (size, count): (usize, usize),
        a: &Matrix<T>,
        b: &Matrix<T>,
        c: &mut Matrix<T>,
    ) -> Result {
        for shape in [a.shape(), b.shape(), c.shape()] {
            assert_eq!(shape, (size * count, size));
        }
        let (n, count) = (c_int::try_from(size)?, c_int::try_from(count)?);
        let stride = c_longlong::try_from(size * size)?;
        let (a, b, c) = (address(a), address(b), address(c).cast_mut());
        let (one, zero) = (1.0, 0.0);
        // SAFETY: as in `multiply_halves`; the matrices are compared above.
        self.enqueue(1, || unsafe {
            (self.functions.gemm_batch)(
                self.handle,
                NOT_TRANSPOSED,
                NOT_TRANSPOSED,
                n,
                n,
                n,
                &raw const one,
                b.cast(),
                T::DATA_TYPE,
                n,
                stride,
                a.cast(),
                T::DATA_TYPE,
                n,
                stride,
                &raw const zero,
                c.cast(),
                T::DATA_TYPE,
                n,
                stride,
                count,
                COMPUTE_F32,
                DEFAULT_ALGORITHM,
            )
        })
    }

    /// Makes `call`, with the device's context current, `calls` times.
    fn enqueue(&self, calls: u64, call: impl Fn() -> Status) -> Result {
        self.device
            .with_current(|| (0..calls).try_for_each(|_| self.functions.check(call())))?
    }

    /// Creates the handle. The device's context must be current.
    fn prepare(&mut self, stream: *mut c_void) -> Result {
        let functions = &self.functions;
        // SAFETY: the place is for one handle.
        functions.check(unsafe { (functions.create)(&raw mut self.handle) })?;
        // SAFETY: handle and stream are alive, and of the current context.
        functions.check(unsafe { (functions.set_stream)(self.handle, stream) })?;
        // SAFETY: the handle is alive.
        functions.check(unsafe { (functions.set_math_mode)(self.handle, DEFAULT_MATH) })?;
        let mut version = 0;
        // SAFETY: the handle is alive, and the place is for one number.
        functions.check(unsafe { (functions.get_version)(self.handle, &raw mut version) })?;
        self.version = version_text(version);
        Ok(())
    }
}

/// The arguments for C = A B.
///
/// A row-major matrix is its transpose in column-major order, and (A B)^T = B^T A^T, so B comes first.
struct Product<T, O> {
    m: c_int,
    n: c_int,
    k: c_int,
    a: *const T,
    b: *const T,
    c: *mut O,
}

impl<T: Element, O: Element> Product<T, O> {
    fn of(a: &Matrix<T>, b: &Matrix<T>, c: &mut Matrix<O>) -> Result<Self> {
        assert_eq!((a.cols(), c.shape()), (b.rows(), (a.rows(), b.cols())));
        Ok(Self {
            m: a.rows().try_into()?,
            n: b.cols().try_into()?,
            k: a.cols().try_into()?,
            a: address(a),
            b: address(b),
            c: address(c).cast_mut(),
        })
    }
}

impl Drop for CuBlas {
    fn drop(&mut self) {
        if self.handle.is_null() {
            return;
        }
        // A failure at the end of a benchmark does not affect its results.
        let _ = self.device.with_current(|| {
            // SAFETY: the handle is alive, and this is its last use.
            unsafe { (self.functions.destroy)(self.handle) }
        });
    }
}

fn address<T: Element>(matrix: &Matrix<T>) -> *const T {
    ptr::with_exposed_provenance(matrix.as_buffer().device_address() as usize)
}

/// 130001 is 13.0.1, and 120304 is 12.3.4.
pub fn version_text(version: c_int) -> String {
    let (major, minor, patch) = (version / 10_000, version / 100 % 100, version % 100);
    format!("{major}.{minor}.{patch}")
}
