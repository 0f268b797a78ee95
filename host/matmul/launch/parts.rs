//! Products with a small result and a large K, which is split: products of parts of K, whose sums are then added.

use super::vector::add_up;
use crate::device::Device;
use crate::element::Element;
use crate::error::Outcome;
use crate::launch::LaunchConfig;
use crate::launch_args::{read_elements, written_by_product};
use crate::matmul::element::sealed::OutputOf;
use crate::matmul::entry::{AddArguments, AddKernel};
use crate::matmul::epilogue::{Epilogue, Stores};
use crate::matmul::matrices::{Matrices, Operands};
use crate::matmul::problem::Parts;
use crate::matmul::select::DividedK;
use crate::matmul::types::sealed::Computes;
use crate::matmul::types::{Accumulate, Accumulator};
use crate::matrix::Matrix;
use crate::module::Module;
use tilewright_kernels::parts::{ADD_COLUMNS, ADD_ROWS, ADD_THREADS, PartsShape};

/// The sums of all parts of one product, one matrix below the other.
struct Sums<S: Element> {
    sums: Matrix<S>,
    parts: usize,
}

impl<S: Accumulator> Sums<S> {
    /// Computes the sums of the product of `matrices`.
    fn of<T: Computes<S, S, Accumulator = S>, O: Element>(
        device: &Device,
        DividedK { parts, request }: DividedK,
        matrices: &Matrices<'_, T, O, impl Accumulator>,
    ) -> Outcome<Self> {
        let (m, n, _) = matrices.extents();
        let Parts { count, len } = parts;
        let mut sums = Matrix::<S>::uninit(device, (count * m, n).into())?;
        let operands = Operands {
            prepared: matrices.prepared,
            is_transposed: matrices.is_transposed,
            is_gram: matrices.is_gram,
            part: Some(len),
            ..Operands::new(matrices.a, matrices.b)
        };
        let results = sums.view_mut().into_equal_rows(count)?;
        device.multiply(request, operands, results, Epilogue::identity())?;
        Ok(Self { sums, parts: count })
    }
}

/// C = A B of one product of f32 or f64.
pub fn multiply_chains<T: Computes<T, Accumulator = T> + Accumulator>(
    device: &Device,
    division: DividedK,
    matrices: Matrices<'_, T, T, T>,
) -> Outcome<()> {
    let Sums { sums, parts } = Sums::of(device, division, &matrices)?;
    add_up(&sums, parts, matrices)
}

/// The kernel that adds sums of products of `T`. If launches can overlap, it is one that starts before the last
/// product has ended.
fn kernel_that_adds<T: Accumulate, O: OutputOf<T::Accumulator>>(
    device: &Device,
) -> AddKernel<O, O::Sum, T::Accumulator> {
    let after = O::ADD_AFTER;
    match device.facts().runs(after.architecture, after.driver) {
        true => after,
        false => O::ADD,
    }
}

/// C = A B of one product of narrower elements.
pub fn multiply<T, O>(
    device: &Device,
    division: DividedK,
    matrices: Matrices<'_, T, O, O::Sum>,
) -> Outcome<()>
where
    T: Accumulate + Computes<<T as Accumulate>::Accumulator>,
    O: OutputOf<T::Accumulator>,
{
    let Sums { sums, parts } = Sums::of(device, division, &matrices)?;
    let (m, n, _) = matrices.extents();
    let Matrices { c, epilogue, .. } = matrices;
    let shape = PartsShape {
        m,
        n,
        ldc: c.view().first().leading_dimension(),
        parts,
    };
    // K is split only if a device holds all tiles of outputs at once, so the grid has few blocks.
    let grid = (n.div_ceil(ADD_COLUMNS) as u32, m.div_ceil(ADD_ROWS) as u32);
    let config = LaunchConfig::new(grid, ADD_THREADS as u32);
    let AddKernel { module, launch, .. } = kernel_that_adds::<T, O>(device);
    let module = Module::on_demand(device, module);
    let arguments = AddArguments {
        // SAFETY: the launch reads only the elements of the sums, as the kernels document.
        sums: unsafe { read_elements((&sums).into()) },
        // SAFETY: the launch accesses only the elements of C, as the kernels document.
        c: unsafe { written_by_product(c) },
        shape,
        epilogue: epilogue.arguments(Stores::Plain),
    };
    // SAFETY: the launch meets the kernels' requirements: the grid covers the outputs, the sums have the elements
    // of `parts` results, and C is row-major and has the shape of the product. The views are live without
    // conflicting work: C is borrowed mutably until this returns, and the sums are freed by work that comes later.
    unsafe { launch(&module, config, arguments) }
}
