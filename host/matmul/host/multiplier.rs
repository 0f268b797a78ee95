//! Products of host matrices: the public calls, and the order of their work.

use super::matrix::HostMatrix;
use super::operand::Operand;
use super::panels::{Panels, Sizes};
use super::result::Outputs;
use super::source::{Reader, Sink, Slice, SliceMut, Source, Writer};
use crate::device::Device;
use crate::element::Element;
use crate::error::{
    During, Error, ErrorKind, ONE_FOR_EACH_OF_MATRIX, Outcome, Result, check_length, zeroed_vec,
};
use crate::matmul::api::{MatmulElement, MatmulInto};
use crate::matmul::arithmetic::Arithmetic;
use crate::matmul::epilogue::Epilogue;
use crate::matmul::execute::Computes;
use crate::matmul::operands::check_inner;
use crate::matrix::{MatrixShape, MatrixView, MatrixViewMut};
use crate::transfer::Lanes;
use std::fmt;
use tilewright_kernels::epilogue::EpilogueElement as _;
use tilewright_kernels::tensor::lowest_exponent;

/// The smallest K of a product by split operands.
const LEAST_SPLIT: usize = {
    let mut k = 1;
    while lowest_exponent(k).is_none() {
        k += 1;
    }
    k
};

/// Operands and result of [`Device::matmul_host`] up to which they are copied whole.
const SMALL_BYTES: u64 = 64 << 20;

/// Multiplies host matrices of any size, and keeps its page-locked memory for the next product.
///
/// [`Device::host_multiplier`] creates one. It cuts A into panels of rows, and B into panels of columns. While the
/// device multiplies two panels, the host uploads the next one and downloads earlier outputs.
///
/// K stays whole if the memory holds two panels of 64 rows and two of 64 columns, or of all if there are fewer. Then
/// the product has the same bits as that of [`Device::matmul`] for the whole matrices. Otherwise, K is cut into parts,
/// as [`parts_of_k`](Self::parts_of_k) tells: the product of the first part is computed as [`Device::matmul`] does, and
/// that of each further part is added to the outputs, in order, as [`Matmul::beta`](crate::Matmul::beta) of 1 does. The
/// bits then depend on the memory.
///
/// | data | method |
/// |---|---|
/// | slices, including memory-mapped files | [`multiply`](Self::multiply) |
/// | files, or computed values | [`multiply_from`](Self::multiply_from) |
///
/// ```
/// use tilewright::{Device, HostMatrix};
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let mut multiplier = device.host_multiplier::<f32, f32>(1 << 20)?;
/// let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let a = HostMatrix::new((2, 3), &a)?;
/// let mut c = [0.0; 4];
/// multiplier.multiply(a, a.t(), &mut c)?;
/// assert_eq!(c, [14.0, 32.0, 32.0, 77.0]);
/// # Ok(())
/// # }
/// ```
pub struct HostMultiplier<T: Element, O: Element> {
    device: Device,
    copies: Device,
    downloads: Device,
    memory: u64,
    arithmetic: Arithmetic,
    operands: Lanes<T>,
    results: Lanes<O>,
}

impl Device {
    /// The product A B of host matrices, which may be larger than the device's memory, row by row.
    ///
    /// The product is computed in a third of the device's free memory; the products of panels allocate more. It has
    /// the same bits as that of [`Device::matmul`], unless K is so large that it is cut into parts: see
    /// [`HostMultiplier`]. To choose the memory, to reuse page-locked memory, or to read files, use
    /// [`Device::host_multiplier`].
    ///
    /// ```
    /// use tilewright::{Device, HostMatrix};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let a = HostMatrix::new((2, 2), &[1_i8, 2, 3, 4])?;
    /// assert_eq!(device.matmul_host(a, a.t())?, [5, 11, 11, 25]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The errors of [`HostMultiplier::multiply`] and [`Device::host_multiplier`]; [`ErrorKind::OutOfHostMemory`] if
    /// the host has no memory for the product.
    pub fn matmul_host<T: MatmulElement + MatmulInto<<T as MatmulElement>::Product>>(
        &self,
        a: HostMatrix<'_, T>,
        b: HostMatrix<'_, T>,
    ) -> Result<Vec<T::Product>> {
        self.host_product(a, b).during("matmul_host")
    }

    fn host_product<T: MatmulElement + MatmulInto<<T as MatmulElement>::Product>>(
        &self,
        a: HostMatrix<'_, T>,
        b: HostMatrix<'_, T>,
    ) -> Outcome<Vec<T::Product>> {
        let (m, _, n) = extents(a.shape(), b.shape())?;
        let len = MatrixShape::from((m, n)).checked_len()?;
        let bytes = size_of_val(a.elements()) + size_of_val(b.elements());
        let of_result = len.saturating_mul(size_of::<T::Product>()) as u64;
        if of_result.saturating_add(bytes as u64) <= SMALL_BYTES {
            let upload = |it: HostMatrix<'_, T>| self.matrix(it.shape(), it.elements());
            let product = upload(a).and_then(|a| self.matmul(&a, &upload(b)?)?.to_vec());
            return product.map_err(Error::into_kind);
        }
        let mut c = zeroed_vec(len)?;
        let free = self.backend().memory()?.free;
        let mut multiplier = HostMultiplier::<T, T::Product>::new(self, free / 3)?;
        let product = multiplier.multiplied("matmul_host", a, b, &mut c);
        product.map_err(Error::into_kind)?;
        Ok(c)
    }

    /// Creates a multiplier of host matrices of `T`, with products of `O`, whose panels take up to `memory` bytes of
    /// the device.
    ///
    /// `O` is [`MatmulElement::Product`], or f32 for f16, bf16 and 8-bit floats. The products of panels need temporary
    /// memory beside the panels, as [`Device::matmul`] states. So a third of the free memory
    /// ([`Device::memory`]) is a good choice. Each of up to eight host threads has 2 MiB of page-locked memory for
    /// operands, and as much for outputs, allocated on first use and freed on drop.
    ///
    /// # Errors
    /// The errors of [`Device::new_stream`].
    pub fn host_multiplier<T: MatmulInto<O>, O: Element>(
        &self,
        memory: u64,
    ) -> Result<HostMultiplier<T, O>> {
        HostMultiplier::new(self, memory).during("host_multiplier")
    }
}

impl<T: MatmulInto<O>, O: Element> HostMultiplier<T, O> {
    fn new(device: &Device, memory: u64) -> Outcome<Self> {
        let stream = || device.new_stream().map_err(Error::into_kind);
        Ok(Self {
            device: device.clone(),
            copies: stream()?,
            downloads: stream()?,
            memory,
            arithmetic: Arithmetic::Auto,
            operands: Lanes::default(),
            results: Lanes::default(),
        })
    }

    /// Sets how products are computed: [`Arithmetic::Auto`] if not given.
    ///
    /// With [`Arithmetic::Exact`] and [`Arithmetic::BatchInvariant`], K is not cut.
    #[must_use]
    pub fn arithmetic(mut self, arithmetic: Arithmetic) -> Self {
        self.arithmetic = arithmetic;
        self
    }

    /// The device that multiplies.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Writes the product A B to `c`, row by row.
    ///
    /// If the call fails, `c` may have some of the outputs.
    ///
    /// # Errors
    /// - [`ErrorKind::ShapeMismatch`] if A's columns and B's rows differ in number.
    /// - [`ErrorKind::WrongLength`] if `c` does not have M N elements.
    /// - [`ErrorKind::TooLarge`] if the memory holds no panels of the product. Products of f16, bf16 and 8-bit floats
    ///   to narrower types than f32 need panels with all of K, of one row and one column or more.
    /// - The errors of [`Matmul::run`](crate::Matmul::run) and [`Device::pinned`].
    pub fn multiply(
        &mut self,
        a: HostMatrix<'_, T>,
        b: HostMatrix<'_, T>,
        c: &mut [O],
    ) -> Result<()> {
        self.multiplied("multiply", a, b, c)
    }

    fn multiplied(
        &mut self,
        call: &'static str,
        a: HostMatrix<'_, T>,
        b: HostMatrix<'_, T>,
        c: &mut [O],
    ) -> Result<()> {
        let checked = extents(a.shape(), b.shape()).and_then(|(m, _, n)| {
            let expected = MatrixShape::from((m, n)).checked_len()?;
            check_length(
                "the slice for the product",
                c.len(),
                expected,
                ONE_FOR_EACH_OF_MATRIX,
            )
        });
        checked.during(call)?;
        self.run::<Error>(
            call,
            (a.shape(), Slice(a.elements())),
            (b.shape(), Slice(b.elements())),
            SliceMut(c),
        )
    }

    /// Multiplies matrices whose elements `read_a` and `read_b` supply, and passes the outputs to `write`.
    ///
    /// `read_a(start, elements)` fills `elements` with the elements of A from index `start` on, in the order of its
    /// shape: row after row for `(rows, cols)`. `write(start, outputs)` gets consecutive outputs of the row-major
    /// product. Each output is passed once. If A and B do not fit the memory, elements are read several times. For
    /// panels of columns of a row-major B, each run is as long as a row of the panel, so a column-major B is read in
    /// longer runs.
    ///
    /// ```
    /// use tilewright::{Device, Error};
    ///
    /// # fn main() -> tilewright::Result<()> {
    /// let device = Device::simulator();
    /// let mut multiplier = device.host_multiplier::<f32, f32>(1 << 20)?;
    /// let ones = |_: usize, elements: &mut [f32]| Ok::<_, Error>(elements.fill(1.0));
    /// let mut sum = 0.0;
    /// multiplier.multiply_from(((200, 100), ones), ((100, 300), ones), |_, outputs| {
    ///     sum += outputs.iter().sum::<f32>();
    ///     Ok(())
    /// })?;
    /// assert_eq!(sum, 6e6);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Those of `read_a`, `read_b` and `write`, and those of [`multiply`](Self::multiply), converted to `E`.
    pub fn multiply_from<E: From<Error>>(
        &mut self,
        (a, read_a): (
            impl Into<MatrixShape>,
            impl FnMut(usize, &mut [T]) -> Result<(), E>,
        ),
        (b, read_b): (
            impl Into<MatrixShape>,
            impl FnMut(usize, &mut [T]) -> Result<(), E>,
        ),
        write: impl FnMut(usize, &[O]) -> Result<(), E>,
    ) -> Result<(), E> {
        let call = "multiply_from";
        let shapes @ [a, b] = [a.into(), b.into()];
        for shape in shapes {
            shape.checked_len().during(call)?;
        }
        self.run(
            call,
            (a, Reader(read_a)),
            (b, Reader(read_b)),
            Writer(write),
        )
    }

    /// The number of parts into which a product of an M x K and a K x N matrix cuts K.
    ///
    /// If it is 1, the product has the same bits as that of [`Device::matmul`].
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] as for [`multiply`](Self::multiply).
    pub fn parts_of_k(&self, (m, k, n): (usize, usize, usize)) -> Result<usize> {
        if m == 0 || n == 0 {
            return Ok(1);
        }
        for shape in [(m, k), (k, n), (m, n)] {
            MatrixShape::from(shape)
                .checked_len()
                .during("parts_of_k")?;
        }
        let panels = self.panels((m, k, n)).during("parts_of_k")?;
        Ok(panels.parts_of_k())
    }

    fn panels(&self, (m, k, n): (usize, usize, usize)) -> Outcome<Panels> {
        let sizes = Sizes {
            m,
            n,
            k,
            operand_bytes: size_of::<T>(),
            result_bytes: size_of::<O>(),
        };
        let (operand, output) = <T as Computes<O, T::Accumulator>>::TYPES;
        let least_part = match self.arithmetic {
            Arithmetic::Exact | Arithmetic::BatchInvariant => None,
            Arithmetic::Split => Some(LEAST_SPLIT),
            Arithmetic::Auto | Arithmetic::Chain => Some(1),
        };
        let least_part = least_part.filter(|_| output == operand.of_sums());
        Panels::of(sizes, self.memory, least_part).ok_or_else(|| ErrorKind::TooLarge {
            what: format!(
                "a {m}x{n} product with K = {k}, whose smallest panels exceed {} bytes of device memory,",
                self.memory
            ),
            remedy: "allow the multiplier more memory",
        })
    }

    /// Uploads panels, multiplies them, and stores the outputs of one block while the next is computed.
    fn run<E: From<Error>>(
        &mut self,
        call: &'static str,
        a: (MatrixShape, impl Source<T, E>),
        b: (MatrixShape, impl Source<T, E>),
        c: impl Sink<O, E>,
    ) -> Result<(), E> {
        let (m, k, n) = extents(a.0, b.0).during(call)?;
        let shape = MatrixShape::from((m, n));
        if shape.checked_len().during(call)? == 0 {
            return Ok(());
        }
        let panels = self.panels((m, k, n)).during(call)?;
        let ([a_slots, b_slots, _], [a_len, b_len, _]) = (panels.slots(), panels.lens());
        let mut a = Operand::new(&self.copies, a, (a_slots, a_len)).during(call)?;
        let mut b = Operand::new(&self.copies, b, (b_slots, b_len)).during(call)?;
        let mut c = Outputs::new(&self.downloads, (shape, c));
        for (number, block) in panels.blocks().enumerate() {
            c.begin(number, block.clone()).during(call)?;
            for depth in panels.depths() {
                let of_a = (block.rows.clone(), depth.clone());
                let of_b = (depth.clone(), block.columns.clone());
                a.select(call, &of_a, &mut self.operands)?;
                b.select(call, &of_b, &mut self.operands)?;
                let mut product = || {
                    let (panels, c) = ((a.current()?, b.current()?), c.memory(number)?);
                    self.multiply_panels((m, n), panels, c, depth.start > 0)
                };
                product().during(call)?;
            }
            if let Some(earlier) = number.checked_sub(1) {
                c.store(call, earlier, &mut self.results)?;
            }
            // The stream of the downloads would wait for this product before it stores the earlier block.
            c.end(number).during(call)?;
        }
        let last = panels.blocks().count() - 1;
        c.store(call, last, &mut self.results)
    }

    /// Writes the product of two panels to `c`, or adds it to C.
    fn multiply_panels(
        &self,
        whole: (usize, usize),
        panels: (MatrixView<'_, T>, MatrixView<'_, T>),
        c: MatrixViewMut<'_, O>,
        is_added: bool,
    ) -> Outcome<()> {
        let mut epilogue = Epilogue::<T::Accumulator>::identity();
        if is_added {
            epilogue.beta = T::Accumulator::ONE;
        }
        self.device
            .multiply_part(whole, panels, c, self.arithmetic, epilogue)
    }
}

/// M, K and N of the product of matrices of these shapes.
fn extents(a: MatrixShape, b: MatrixShape) -> Outcome<(usize, usize, usize)> {
    check_inner((a.rows, a.cols), (b.rows, b.cols))?;
    Ok((a.rows, a.cols, b.cols))
}

impl<T: Element, O: Element> fmt::Debug for HostMultiplier<T, O> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HostMultiplier")
            .field("device", &self.device)
            .field("memory", &self.memory)
            .field("arithmetic", &self.arithmetic)
            .finish_non_exhaustive()
    }
}
