//! Products with a small result and a large K, which is divided: products of parts of K, whose sums are then added.

use super::Computes;
use super::mirror::mirror;
use super::vector::add_up;
use crate::element::Element;
use crate::error::Outcome;
use crate::kernels::module_of;
use crate::launch::LaunchConfig;
use crate::launch_args::{read_elements, written_by_product};
use crate::matmul::entry::{AddArguments, AddLaunch, launch_with_epilogue};
use crate::matmul::epilogue::Epilogue;
use crate::matmul::operands::{Matrices, Operands};
use crate::matmul::plan::{Division, Plan, Store, SumOfParts};
use crate::matmul::types::{EpilogueScalar, Operand, Output};
use crate::matrix::Matrix;
use crate::module::Module;
use crate::module_source::ModuleSource;
use cuda_std::grid_constant::GridConstant;
use half::{bf16, f16};
use tilewright_kernels::parts::{self, ADD_COLUMNS, ADD_ROWS, ADD_THREADS, PartsShape};

/// The sums of all parts of the product of `matrices`, one matrix below the other.
fn sums<T: Operand + Computes<P, P>, O: Element, S: EpilogueScalar, P: EpilogueScalar>(
    plan: &Plan,
    division: &Division,
    matrices: &Matrices<'_, T, O, S>,
) -> Outcome<Matrix<P>> {
    let (m, n, _) = matrices.extents();
    let count = division.parts.count;
    let device = matrices.operands.a.first().device();
    let mut sums = Matrix::<P>::uninit(device, (count * m, n).into())?;
    let Operands { a, b, .. } = matrices.operands;
    let of_parts = Matrices {
        operands: Operands {
            // All parts are of one matrix, also if it is a batch of one.
            a: a.first().into(),
            b: b.first().into(),
            part: Some(division.parts.len),
            ..matrices.operands
        },
        c: sums.view_mut().into_equal_rows(count)?,
        epilogue: Epilogue::identity(),
    };
    T::launch(plan, of_parts)?;
    if plan.is_mirrored {
        mirror(device, sums.view_mut().into_equal_rows(count)?)?;
    }
    Ok(sums)
}

/// C = A B of one product of f32 or f64.
pub fn multiply_columns<T: EpilogueScalar + Operand<Sum = T> + Computes<T, T>>(
    plan: &Plan,
    division: &Division,
    matrices: Matrices<'_, T, T, T>,
) -> Outcome<()> {
    let SumOfParts::Columns { kernel, work } = &division.sum else {
        unreachable!("the parts of f32 and f64 are added as columns");
    };
    let sums: Matrix<T> = sums(plan, division, &matrices)?;
    add_up((kernel, work), (&sums, division.parts.count), matrices)
}

/// C = A B of one product of narrower elements.
pub fn multiply<T, O, S>(
    plan: &Plan,
    division: &Division,
    matrices: Matrices<'_, T, O, S>,
) -> Outcome<()>
where
    T: Computes<<T as Operand>::Sum, <T as Operand>::Sum>,
    O: SumOf<<T as Operand>::Sum, Finish = S>,
    S: EpilogueScalar,
{
    let SumOfParts::ByKernel { overlaps } = division.sum else {
        unreachable!("the parts of narrow elements are added by a kernel of their types");
    };
    let sums = sums::<T, O, S, T::Sum>(plan, division, &matrices)?;
    let (m, n, _) = matrices.extents();
    let device = matrices.operands.a.first().device();
    let Matrices { c, epilogue, .. } = matrices;
    let shape = PartsShape {
        m,
        n,
        ldc: c.view().first().leading_dimension(),
        parts: division.parts.count,
    };
    // K is divided only if a device holds all tiles of outputs at once, so the grid has few blocks.
    let grid = (n.div_ceil(ADD_COLUMNS) as u32, m.div_ceil(ADD_ROWS) as u32);
    let config = LaunchConfig::new(grid, ADD_THREADS as u32);
    let AddKernel { module, launch } = match overlaps {
        true => O::ADD_AFTER,
        false => O::ADD,
    };
    let module = Module::on_demand(device, module);
    let arguments = AddArguments {
        // SAFETY: the launch reads only the elements of the sums, as the kernels document.
        sums: unsafe { read_elements((&sums).into()) },
        // SAFETY: the launch accesses only the elements of C, as the kernels document.
        c: unsafe { written_by_product(c) },
        shape,
        epilogue: epilogue.arguments(Store::Own),
    };
    // SAFETY: the launch meets the kernels' requirements: the grid covers the outputs, the sums have the elements
    // of `parts` results, and C is row-major and has the shape of the product. The views are live without
    // conflicting work: C is borrowed mutably until this returns, and the sums are freed by work that comes later.
    unsafe { launch(module, config, arguments) }
}

/// A type of outputs that are computed from the sums, of type `P`, of the parts of a divided K.
pub trait SumOf<P: EpilogueScalar>: Output {
    /// The kernel that adds the sums.
    const ADD: AddKernel<Self, Self::Finish, P>;

    /// The kernel that adds the sums and can start while the kernel before it still runs.
    const ADD_AFTER: AddKernel<Self, Self::Finish, P>;
}

/// A kernel that adds sums.
pub struct AddKernel<O: 'static, S: 'static, P: 'static> {
    module: &'static ModuleSource,
    launch: AddLaunch<O, S, P>,
}

macro_rules! sums_of_parts {
    ($({$part:ident to $element:ident in $finish:ident} {alone $add:ident; after $add_after:ident;})*) => {$(
        impl SumOf<$part> for $element {
            const ADD: AddKernel<Self, Self::Finish, $part> = kernel_that_adds!($add);
            const ADD_AFTER: AddKernel<Self, Self::Finish, $part> = kernel_that_adds!($add_after);
        }
    )*};
}

macro_rules! kernel_that_adds {
    ($add:ident) => {
        AddKernel {
            module: module_of!($add),
            launch: |module, config, arguments| {
                let AddArguments { sums, c, shape, epilogue } = arguments;
                let shape = GridConstant::new(&shape);
                // SAFETY: the launch meets the kernel's requirements and the views are live: the contract of
                // `AddLaunch`.
                unsafe {
                    launch_with_epilogue! { module, parts::$add, config; sums, c, shape; epilogue }
                }
            },
        }
    };
}

tilewright_kernels::sums_of_parts!(sums_of_parts by types);
