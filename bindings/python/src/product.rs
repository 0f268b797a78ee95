//! Products of matrices, with what their kernels do before they store.

use crate::element;
use crate::errors::{Class, exception};
use crate::operand::{Operand, Work};
use dlpark::ffi::DLDataType;
use half::{bf16, f16};
use pyo3::prelude::*;
use tilewright::cuda_std::fp8::{F8E4M3, F8E5M2};
use tilewright::interop::dlpack::{Tensor, TensorElement};
use tilewright::{Activation, Matmul, MatmulElement, MatmulInto};

/// The operands of a product, and what is done to its outputs.
struct Product {
    a: Operand,
    b: Operand,
    bias: Option<Operand>,
    row_scale: Option<Operand>,
    column_scale: Option<Operand>,
    scale: f64,
    activation: Activation,
}

/// A type of scales and biases.
trait Scalar: TensorElement {
    fn of(value: f64) -> Self;
}

impl Scalar for f32 {
    fn of(value: f64) -> Self {
        value as Self
    }
}

impl Scalar for f64 {
    fn of(value: f64) -> Self {
        value
    }
}

impl Product {
    /// Adds to `product` what is done to its outputs.
    fn epilogue<'a, T, S>(
        &'a self,
        mut product: Matmul<'a, T, S>,
    ) -> tilewright::Result<Matmul<'a, T, S>>
    where
        T: MatmulElement,
        S: Scalar + tilewright::cuda_std::float::Float,
    {
        product = product.alpha(S::of(self.scale)).activation(self.activation);
        if let Some(bias) = &self.bias {
            product = product.column_bias(bias.tensor.buffer::<S>()?);
        }
        if let Some(scale) = &self.row_scale {
            product = product.row_scale(scale.tensor.buffer::<S>()?);
        }
        if let Some(scale) = &self.column_scale {
            product = product.column_scale(scale.tensor.buffer::<S>()?);
        }
        Ok(product)
    }

    /// The product of floats, with outputs of type `O`.
    fn floats<T, O>(&self, c: &mut Tensor) -> tilewright::Result<()>
    where
        T: TensorElement
            + MatmulElement<Accumulator: Scalar + tilewright::cuda_std::float::Float>
            + MatmulInto<O>,
        O: TensorElement,
    {
        let (a, b) = (self.a.tensor.matrix::<T>()?, self.b.tensor.matrix::<T>()?);
        self.epilogue(Matmul::new(a, b))?
            .run_into(&mut c.matrix_mut::<O>()?)
    }

    /// The product of integers, with outputs of type `O`: scaled in f32.
    fn dequantized<O: TensorElement>(&self, c: &mut Tensor) -> tilewright::Result<()>
    where
        i8: MatmulInto<O, f32>,
    {
        let (a, b) = (self.a.tensor.matrix::<i8>()?, self.b.tensor.matrix::<i8>()?);
        self.epilogue(Matmul::dequantized(a, b))?
            .run_into(&mut c.matrix_mut::<O>()?)
    }

    /// The product of integers, exact.
    fn integers(&self, c: &mut Tensor) -> tilewright::Result<()> {
        let (a, b) = (self.a.tensor.matrix::<i8>()?, self.b.tensor.matrix::<i8>()?);
        Matmul::new(a, b).run_into(&mut c.matrix_mut::<i32>()?)
    }

    /// Whether outputs are not just sums.
    fn has_epilogue(&self) -> bool {
        let has_vectors =
            self.bias.is_some() || self.row_scale.is_some() || self.column_scale.is_some();
        has_vectors || self.scale != 1.0 || self.activation != Activation::Identity
    }

    fn write(&self, c: &mut Tensor) -> PyResult<tilewright::Result<()>> {
        let (element, output) = (self.a.tensor.data_type(), c.data_type());
        Ok(match (element, output) {
            (DLDataType::F32, DLDataType::F32) => self.floats::<f32, f32>(c),
            (DLDataType::F64, DLDataType::F64) => self.floats::<f64, f64>(c),
            (DLDataType::F16, DLDataType::F16) => self.floats::<f16, f16>(c),
            (DLDataType::F16, DLDataType::F32) => self.floats::<f16, f32>(c),
            (DLDataType::BF16, DLDataType::BF16) => self.floats::<bf16, bf16>(c),
            (DLDataType::BF16, DLDataType::F32) => self.floats::<bf16, f32>(c),
            (DLDataType::F8E4M3FN, DLDataType::BF16) => self.floats::<F8E4M3, bf16>(c),
            (DLDataType::F8E4M3FN, DLDataType::F32) => self.floats::<F8E4M3, f32>(c),
            (DLDataType::F8E5M2, DLDataType::BF16) => self.floats::<F8E5M2, bf16>(c),
            (DLDataType::F8E5M2, DLDataType::F32) => self.floats::<F8E5M2, f32>(c),
            (DLDataType::I8, DLDataType::I32) if self.has_epilogue() => {
                return Err(Class::Value.error(
                    "a product of int8 with scales, bias or activation needs an out of floats",
                ));
            }
            (DLDataType::I8, DLDataType::I32) => self.integers(c),
            (DLDataType::I8, DLDataType::F32) => self.dequantized::<f32>(c),
            (DLDataType::I8, DLDataType::F16) => self.dequantized::<f16>(c),
            (DLDataType::I8, DLDataType::BF16) => self.dequantized::<bf16>(c),
            _ => {
                product_of(element)?;
                let (element, output) = (element::name(element), element::name(output));
                return Err(Class::Type.error(format!(
                    "products of {element} cannot be written as {output}"
                )));
            }
        })
    }
}

/// The type of products' elements, if no output says another.
fn product_of(element: DLDataType) -> PyResult<DLDataType> {
    match element {
        DLDataType::F32 | DLDataType::F64 | DLDataType::F16 | DLDataType::BF16 => Ok(element),
        DLDataType::F8E4M3FN | DLDataType::F8E5M2 => Ok(DLDataType::BF16),
        DLDataType::I8 => Ok(DLDataType::I32),
        other => Err(Class::Type.error(format!(
            "matrices of {} cannot be multiplied",
            element::name(other)
        ))),
    }
}

fn activation_of(name: Option<&str>) -> PyResult<Activation> {
    match name {
        None => Ok(Activation::Identity),
        Some("relu") => Ok(Activation::Relu),
        Some("gelu") => Ok(Activation::Gelu),
        Some("gelu_tanh") => Ok(Activation::GeluTanh),
        Some("silu") => Ok(Activation::Silu),
        Some(other) => Err(Class::Value.error(format!(
            "there is no activation {other:?}; there are relu, gelu, gelu_tanh and silu"
        ))),
    }
}

/// The name of the type of a product's elements, if `out` names no other.
#[pyfunction]
pub fn product_type(element: &str) -> PyResult<String> {
    product_of(element::named(element)?).map(element::name)
}

/// Writes the product of `a` and `b` to `out`, or to a new array. Returns where it is. `stream` is that of `reduce`.
#[pyfunction]
#[pyo3(signature = (a, b, out, bias, activation, scale, row_scale, column_scale, stream))]
#[expect(clippy::too_many_arguments, reason = "those of the Python function")]
pub fn matmul<'py>(
    py: Python<'py>,
    a: &Bound<'py, PyAny>,
    b: &Bound<'py, PyAny>,
    out: Option<Bound<'py, PyAny>>,
    bias: Option<&Bound<'py, PyAny>>,
    activation: Option<&str>,
    scale: f64,
    row_scale: Option<&Bound<'py, PyAny>>,
    column_scale: Option<&Bound<'py, PyAny>>,
    stream: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let activation = activation_of(activation)?;
    // SAFETY: the package passes the handle of a live stream of the array's device.
    let (work, a) = unsafe { Work::on(a, stream) }?;
    let take = |name: &str, vector: Option<&Bound<'py, PyAny>>| {
        let vector = vector.map(|vector| work.take(vector)).transpose()?;
        match vector.as_ref().map(Operand::shape) {
            Some(shape) if shape.len() != 1 => Err(Class::Value.error(format!(
                "{name} has one dimension, and this one has shape {shape:?}"
            ))),
            _ => Ok(vector),
        }
    };
    let product = Product {
        a,
        b: work.take(b)?,
        bias: take("bias", bias)?,
        row_scale: take("row_scale", row_scale)?,
        column_scale: take("column_scale", column_scale)?,
        scale,
        activation,
    };
    let out = match out {
        Some(out) => out,
        None => {
            let element = product_of(product.a.tensor.data_type())?;
            work.zeros(element, product.shape()?)?
                .into_pyobject(py)?
                .into_any()
        }
    };
    let mut c = work.take(&out)?;
    c.check_result(product.operands())?;
    py.detach(|| {
        product.write(&mut c.tensor)?.map_err(exception)?;
        work.finish(product.into_operands(), c).map_err(exception)
    })?;
    Ok(out)
}

impl Product {
    /// The shape of a new result. What does not fit together is the crate's to refuse.
    fn shape(&self) -> PyResult<Vec<usize>> {
        match (&self.a.shape()[..], &self.b.shape()[..]) {
            (&[rows, _], &[_, columns]) => Ok(vec![rows, columns]),
            (a, b) => Err(Class::Value.error(format!(
                "matrices have 2 dimensions, and these have shapes {a:?} and {b:?}"
            ))),
        }
    }

    fn operands(&self) -> impl Iterator<Item = &Operand> {
        let vectors = [&self.bias, &self.row_scale, &self.column_scale];
        [&self.a, &self.b]
            .into_iter()
            .chain(vectors.into_iter().flatten())
    }

    fn into_operands(self) -> Vec<Operand> {
        let vectors = [self.bias, self.row_scale, self.column_scale];
        [self.a, self.b]
            .into_iter()
            .chain(vectors.into_iter().flatten())
            .collect()
    }
}
