//! Operands, results, and the error of a result.

use crate::common::Result;
use half::{bf16, f16};
use tilewright::cuda_std::fp8::F8E4M3;
use tilewright::{Device, Element, Matrix, MatrixView, MatrixViewMut, Order};
use tilewright_test_support::random::Random;

/// Bytes of all operands together: more than twice the largest L2.
const OPERAND_BYTES: usize = 256 << 20;

/// Number of outputs whose error is measured.
const MEASURED: usize = 4000;

/// The error over a sample of outputs.
pub struct Error {
    pub relative_l2: f64,
    /// The largest error, in units of 2^-24 of |A||B|.
    pub largest: f64,
}

/// An element type of products.
pub trait Number: Element {
    fn of(value: f64) -> Self;
    fn to_f64(self) -> f64;
}

impl Number for f32 {
    fn of(value: f64) -> Self {
        value as Self
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
}

impl Number for f64 {
    fn of(value: f64) -> Self {
        value
    }
    fn to_f64(self) -> f64 {
        self
    }
}

impl Number for bf16 {
    fn of(value: f64) -> Self {
        Self::from_f64(value)
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
}

impl Number for f16 {
    fn of(value: f64) -> Self {
        Self::from_f64(value)
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
}

impl Number for i8 {
    /// -1 to 1 become -128 to 127.
    fn of(value: f64) -> Self {
        (value * 128.0) as Self
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
}

impl Number for i32 {
    fn of(value: f64) -> Self {
        value as Self
    }
    fn to_f64(self) -> f64 {
        self.into()
    }
}

impl Number for F8E4M3 {
    fn of(value: f64) -> Self {
        Self::from_f32(value as f32)
    }
    fn to_f64(self) -> f64 {
        self.to_f32().into()
    }
}

/// A, B and C.
type Set<T, O> = (Matrix<T>, Matrix<T>, Matrix<O>);

/// Parts of A, B and C.
pub type Parts<'a, T, O> = (MatrixView<'a, T>, MatrixView<'a, T>, MatrixViewMut<'a, O>);

/// Operands of type `T` and results of type `O`, used in turns: more than fit into L2, or one set on the simulator.
pub struct Turns<T: Element, O: Element = T> {
    sets: Vec<Set<T, O>>,
    turn: usize,
    /// Unread elements at the end of each row or column.
    gap: usize,
}

impl<T: Element, O: Element> Turns<T, O> {
    /// Sets with `bytes` bytes each, made by `set`.
    pub fn new(device: &Device, bytes: usize, set: impl Fn() -> Result<Set<T, O>>) -> Result<Self> {
        let count = match device.is_simulator() {
            true => 1,
            false => OPERAND_BYTES.div_ceil(bytes),
        };
        let sets = (0..count).map(|_| set()).collect::<Result<_>>()?;
        Ok(Self {
            sets,
            turn: 0,
            gap: 0,
        })
    }

    /// Excludes the last `gap` elements of each row or column from the matrices.
    pub fn with_gap(self, gap: usize) -> Self {
        Self { gap, ..self }
    }

    /// The next matrices without the gaps.
    pub fn next_parts(&mut self) -> Result<Parts<'_, T, O>> {
        let gap = self.gap;
        let part = |rows: usize, columns: usize, order: Order| match order {
            Order::RowMajor => (rows, columns - gap),
            Order::ColumnMajor => (rows - gap, columns),
        };
        let (a, b, c) = self.next();
        let of_a = part(a.rows(), a.cols(), a.order());
        let of_b = part(b.rows(), b.cols(), b.order());
        let of_c = part(c.rows(), c.cols(), c.order());
        Ok((
            a.slice(..of_a.0, ..of_a.1)?,
            b.slice(..of_b.0, ..of_b.1)?,
            c.slice_mut(..of_c.0, ..of_c.1)?,
        ))
    }

    pub fn next(&mut self) -> (&Matrix<T>, &Matrix<T>, &mut Matrix<O>) {
        self.turn = (self.turn + 1) % self.sets.len();
        let (a, b, c) = &mut self.sets[self.turn];
        (a, b, c)
    }

    /// The result of the last turn.
    fn last(&self) -> &Matrix<O> {
        &self.sets[self.turn].2
    }
}

/// Operands of type `T` and results of type `O` of products of `size` x `size` matrices, used in turns.
pub struct Sets<T: Element, O: Element = T> {
    pub size: usize,
    order_of_b: Order,
    /// The elements of the first A and B, in their orders.
    elements: [Vec<T>; 2],
    pub turns: Turns<T, O>,
}

impl<T: Number, O: Number> Sets<T, O> {
    pub fn new(
        device: &Device,
        size: usize,
        order_of_b: Order,
        mut draw: impl FnMut(&mut Random) -> T,
    ) -> Result<Self> {
        let mut random = Random::new(size as u64);
        let mut elements = || -> Vec<T> { (0..size * size).map(|_| draw(&mut random)).collect() };
        let elements = [elements(), elements()];
        let bytes = size * size * (2 * size_of::<T>() + size_of::<O>());
        let turns = Turns::new(device, bytes, || {
            Ok((
                device.matrix((size, size), &elements[0])?,
                device.matrix((size, size, order_of_b), &elements[1])?,
                device.matrix_zeros((size, size))?,
            ))
        })?;
        Ok(Self {
            size,
            order_of_b,
            elements,
            turns,
        })
    }

    pub fn next(&mut self) -> (&Matrix<T>, &Matrix<T>, &mut Matrix<O>) {
        self.turns.next()
    }

    /// The error of the last result, at outputs spread over it.
    pub fn error(&self) -> Result<Error> {
        let c = self.turns.last().to_vec()?;
        let [a, b] = &self.elements;
        let size = self.size;
        let unit = match size_of::<T>() {
            8 => (-53.0_f64).exp2(),
            _ => (-24.0_f64).exp2(),
        };
        let mut random = Random::new(17);
        let (mut squares, mut of_error, mut largest) = (0.0, 0.0, 0.0_f64);
        for _ in 0..MEASURED {
            let at = (random.bits() % c.len() as u64) as usize;
            let (row, column) = (at / size, at % size);
            // Dot2: what the sums lose is added at the end (Ogita, Rump and Oishi, 2005).
            let (mut sum, mut lost, mut magnitude) = (0.0_f64, 0.0, 0.0);
            for k in 0..size {
                let of_b = match self.order_of_b {
                    Order::RowMajor => b[k * size + column],
                    Order::ColumnMajor => b[column * size + k],
                };
                let (x, y) = (a[row * size + k].to_f64(), of_b.to_f64());
                let term = x * y;
                let next = sum + term;
                let of_term = next - sum;
                lost += (sum - (next - of_term)) + (term - of_term) + x.mul_add(y, -term);
                sum = next;
                magnitude += term.abs();
            }
            let error = (c[at].to_f64() - sum) - lost;
            squares += sum * sum;
            of_error += error * error;
            largest = largest.max(error.abs() / (magnitude * unit));
        }
        Ok(Error {
            relative_l2: (of_error / squares).sqrt(),
            largest,
        })
    }
}
