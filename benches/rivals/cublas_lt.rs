//! cuBLASLt's products, loaded when the benchmark starts: of matrices in any order, with gaps, and of batches.

mod functions;

use super::cublas::version_text;
use crate::common::Result;
use functions::{Functions, Handle, Heuristic, check, set};
use half::{bf16, f16};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ptr;
use tilewright::cuda_std::fp8::F8E4M3;
use tilewright::{Buffer, Device, Element, Matrix, MatrixView, MatrixViewMut, Order};

/// `CUBLAS_COMPUTE_32F`: with f32 totals, because faster accumulation is off unless requested.
const COMPUTE_F32: c_int = 68;

/// `CUBLAS_COMPUTE_64F` and `CUBLAS_COMPUTE_32I`.
const COMPUTE_F64: c_int = 70;
const COMPUTE_I32: c_int = 72;

/// `CUDA_R_32F`, `CUDA_R_64F`, `CUDA_R_16F`, `CUDA_R_16BF`, `CUDA_R_8F_E4M3`, `CUDA_R_8I` and `CUDA_R_32I`.
const F32: c_int = 0;
const F64: c_int = 1;
const F16: c_int = 2;
const BF16: c_int = 14;
const E4M3: c_int = 28;
const I8: c_int = 3;
const I32: c_int = 10;

/// Number of timed algorithms per product: the first that the heuristics return, sorted by expected time.
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
    i8 => i32, [I8, I32, I32], COMPUTE_I32, 1_i32;
}

/// `CUBLASLT_MATMUL_DESC_TRANSA` and `CUBLASLT_MATMUL_DESC_TRANSB`, and `CUBLAS_OP_N` and `CUBLAS_OP_T`.
const TRANSPOSE_FIRST: c_int = 3;
const TRANSPOSE_SECOND: c_int = 4;
const NOT_TRANSPOSED: i32 = 0;
const TRANSPOSED: i32 = 1;

/// `CUBLASLT_MATMUL_DESC_A_SCALE_POINTER` and `CUBLASLT_MATMUL_DESC_A_SCALE_MODE`, and those of B.
const SCALES_OF_FIRST: [c_int; 2] = [17, 31];
const SCALES_OF_SECOND: [c_int; 2] = [18, 32];

/// `CUBLASLT_MATMUL_MATRIX_SCALE_VEC128_32F` and `CUBLASLT_MATMUL_MATRIX_SCALE_BLK128x128_32F`, of CUDA 12.9 and later.
const SCALED_VECTORS: i32 = 4;
const SCALED_BLOCKS: i32 = 5;

/// `CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT` and `CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET`.
const BATCH_COUNT: c_int = 5;
const BATCH_STRIDE: c_int = 6;

/// `CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES`, and what it is set to.
const MAX_WORKSPACE: c_int = 1;
const WORKSPACE_BYTES: usize = 64 << 20;

/// cuBLASLt in the stream of one device. Its objects live as long as the program.
pub struct CuBlasLt {
    device: Device,
    functions: Functions,
    handle: Handle,
    stream: *mut c_void,
    workspace: Buffer<u8>,
    version: String,
}

/// A product of one shape, with the algorithms that cuBLASLt prefers.
pub struct LtProduct<'a, T> {
    library: &'a CuBlasLt,
    operation: Handle,
    layouts: [Handle; 3],
    algorithms: Vec<[u64; 8]>,
    /// The chosen algorithm.
    chosen: Cell<usize>,
    of: Shapes,
    elements: PhantomData<T>,
}

/// The layouts of A, B and C. The products of a batch are stacked.
#[derive(Clone, Copy, PartialEq)]
struct Shapes {
    /// Products of the batch.
    count: usize,
    matrices: [Shape; 3],
}

#[derive(Clone, Copy, PartialEq)]
struct Shape {
    /// Of all products together.
    rows: usize,
    columns: usize,
    order: Order,
    leading: usize,
}

impl Shape {
    fn of<T: Element>(view: MatrixView<'_, T>) -> Self {
        Self {
            rows: view.rows(),
            columns: view.cols(),
            order: view.order(),
            leading: view.leading_dimension(),
        }
    }
}

impl Shapes {
    fn of<T: Element, O: Element>(
        count: usize,
        a: MatrixView<'_, T>,
        b: MatrixView<'_, T>,
        c: MatrixView<'_, O>,
    ) -> Self {
        let matrices = [Shape::of(a), Shape::of(b), Shape::of(c)];
        let [a, b, c] = &matrices;
        assert_eq!(
            (a.columns * count, c.rows, c.columns),
            (b.rows, a.rows, b.columns)
        );
        assert!(c.order == Order::RowMajor);
        // Stacked column-major matrices would interleave.
        let all_by_rows = matrices.iter().all(|it| it.order == Order::RowMajor);
        assert!(count == 1 || all_by_rows && a.rows % count == 0);
        Self { count, matrices }
    }
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
        // SAFETY: the function only returns a number.
        let version = unsafe { (functions.get_version)() };
        Ok(Self {
            version: version_text(version.try_into()?),
            device: device.clone(),
            functions,
            handle,
            stream: stream.as_ptr(),
            workspace: device.uninit(WORKSPACE_BYTES)?,
        })
    }

    /// The library's version.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Prepares C = A B for matrices like these, or `count` stacked products.
    ///
    /// # Errors
    /// If cuBLASLt has no algorithm for them.
    pub fn product<T: LtElement>(
        &self,
        count: usize,
        a: MatrixView<'_, T>,
        b: MatrixView<'_, T>,
        c: MatrixView<'_, T::Product>,
    ) -> Result<LtProduct<'_, T>> {
        let of = Shapes::of(count, a, b, c);
        self.device.with_current(|| self.prepared(of, None))?
    }

    /// [`product`](Self::product) of one A and one B, with scales of 1 x 128 blocks of A and 128 x 128 blocks of B, in
    /// this order, which are used as long as the product.
    ///
    /// # Errors
    /// If cuBLASLt has no algorithm for them: before CUDA 12.9.
    pub fn scaled_product<T: LtElement>(
        &self,
        (a, b): (MatrixView<'_, T>, MatrixView<'_, T>),
        c: MatrixView<'_, T::Product>,
        scales: [&Matrix<f32>; 2],
    ) -> Result<LtProduct<'_, T>> {
        let of = Shapes::of(1, a, b, c);
        let addresses = scales.map(|it| it.view().device_address());
        self.device
            .with_current(|| self.prepared(of, Some(addresses)))?
    }

    fn prepared<T: LtElement>(
        &self,
        of: Shapes,
        scales: Option<[u64; 2]>,
    ) -> Result<LtProduct<'_, T>> {
        let functions = &self.functions;
        let [of_operands, of_product, of_scalars] = T::DATA_TYPES;
        let [a, b, c] = of.matrices;
        // A row-major matrix is its transpose in column-major order, and (A B)^T = B^T A^T.
        let transposition = |matrix: Shape| match matrix.order {
            Order::RowMajor => NOT_TRANSPOSED,
            Order::ColumnMajor => TRANSPOSED,
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
            for (attribute, matrix) in [(TRANSPOSE_FIRST, b), (TRANSPOSE_SECOND, a)] {
                set(
                    functions.set_operation,
                    operation,
                    attribute,
                    &transposition(matrix),
                )?;
            }
            if let Some([of_a, of_b]) = scales {
                for ([pointer, mode], scales, scaled) in [
                    (SCALES_OF_FIRST, of_b, SCALED_BLOCKS),
                    (SCALES_OF_SECOND, of_a, SCALED_VECTORS),
                ] {
                    set(functions.set_operation, operation, pointer, &scales)?;
                    set(functions.set_operation, operation, mode, &scaled)?;
                }
            }
            check((functions.create_preference)(&raw mut preference))?;
            set(
                functions.set_preference,
                preference,
                MAX_WORKSPACE,
                &WORKSPACE_BYTES,
            )?;
        }
        let layouts = [
            self.layout(of_operands, b, of.count)?,
            self.layout(of_operands, a, of.count)?,
            self.layout(of_product, c, of.count)?,
        ];
        let [first, second, result] = layouts;
        let (mut heuristics, mut found) = ([Heuristic::default(); ALGORITHMS], 0);
        // SAFETY: the handles are alive, and the outputs hold this many algorithms and one number.
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
            return Err("cuBLASLt has no algorithm".into());
        }
        Ok(LtProduct {
            library: self,
            operation,
            layouts,
            algorithms,
            chosen: Cell::new(0),
            of,
            elements: PhantomData,
        })
    }

    /// The layout of a matrix, or of each product of a batch, in column-major order: a row-major one is its
    /// transpose.
    fn layout(&self, element: c_int, matrix: Shape, count: usize) -> Result<Handle> {
        let rows = matrix.rows / count;
        let (rows, columns) = match matrix.order {
            Order::RowMajor => (matrix.columns, rows),
            Order::ColumnMajor => (rows, matrix.columns),
        };
        let (functions, mut layout) = (&self.functions, ptr::null_mut());
        let leading = i64::try_from(matrix.leading)?;
        // SAFETY: the place is for one handle, and attributes have the types of the library's headers.
        unsafe {
            check((functions.create_layout)(
                &raw mut layout,
                element,
                rows as u64,
                columns as u64,
                leading,
            ))?;
            if count > 1 {
                let stride = leading * i64::try_from(columns)?;
                set(
                    functions.set_layout,
                    layout,
                    BATCH_COUNT,
                    &c_int::try_from(count)?,
                )?;
                set(functions.set_layout, layout, BATCH_STRIDE, &stride)?;
            }
        }
        Ok(layout)
    }
}

impl<T: LtElement> LtProduct<'_, T> {
    /// Chooses the fastest algorithm, as measured by `time`, and skips those that fail.
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

    /// Enqueues C = A B with the chosen algorithm, for matrices like those it was prepared for.
    pub fn multiply(
        &self,
        a: MatrixView<'_, T>,
        b: MatrixView<'_, T>,
        c: MatrixViewMut<'_, T::Product>,
    ) -> Result {
        assert!(self.of == Shapes::of(self.of.count, a, b, c.view()));
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
                    address(c.view()),
                    result,
                    address(c.view()).cast_mut(),
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

fn address<T: Element>(matrix: MatrixView<'_, T>) -> *const c_void {
    ptr::with_exposed_provenance(matrix.device_address() as usize)
}
