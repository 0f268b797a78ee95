//! Products with a small result and a large K, which is divided: products of parts of K, whose sums are
//! added at last.

use super::Accumulator;
use super::arithmetic::Arithmetic;
use super::epilogue::Epilogue;
use super::fastest::sealed::Computes;
use super::matrices::{Factors, Matrices};
use super::problem::Parts;
use super::select::Request;
use super::vector::{VectorLaunch, add_up};
use crate::device::Device;
use crate::error::Outcome;
use crate::matrix::{Matrix, Order};

/// C = A B of one product, in `parts`. `launch` is that of the kernel that adds lines across.
pub fn multiply<T: Computes<T, Accumulator = T> + Accumulator>(
    device: &Device,
    Parts { count, len }: Parts,
    launch: VectorLaunch<T, T, T>,
    matrices: Matrices<'_, T, T, T>,
) -> Outcome<()> {
    let (m, n, k) = matrices.extents();
    let (a, b) = (matrices.a.first(), matrices.b.first());
    let divided = count * len;
    let all = count + usize::from(divided < k);
    let mut sums = Matrix::<T>::uninit(device, (all * m, n).into())?;
    let chain = Request::Fastest(Arithmetic::Chain, None);
    let plain = Epilogue::identity();
    let factors = |a, b| Factors {
        is_gram: matrices.is_gram,
        ..Factors::new(a, b)
    };
    let of_equal = factors(
        a.part(.., ..divided)?.parts(count, Order::ColumnMajor)?,
        b.part(..divided, ..)?.parts(count, Order::RowMajor)?,
    );
    let results = sums.view_mut().into_part(..count * m, ..)?;
    device.multiply(chain, of_equal, results.into_equal_rows(count)?, plain)?;
    if divided < k {
        let of_rest = factors(a.part(.., divided..)?.into(), b.part(divided.., ..)?.into());
        let result = sums.view_mut().into_part(count * m.., ..)?;
        device.multiply(chain, of_rest, result.into(), plain)?;
    }
    add_up(launch, &sums, all, matrices)
}
