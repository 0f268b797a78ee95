//! The arithmetic of a product.

use super::operand::{Descriptor, ElementType, Major, Wgmma};
use super::queue::Product;
use super::rows::Rows;
use crate::tensor::{FloatUnit, IntegerUnit, Operands, wgmma};

/// Rows of a product.
const M: usize = 64;

/// The rows of A or columns of B: `k` elements for each index of m or n.
enum Lines {
    Floats(Operands),
    Integers(Vec<u8>),
}

/// The unit that multiplies.
enum Unit {
    Float(FloatUnit),
    Integer(IntegerUnit),
}

impl Unit {
    fn of(instruction: &Wgmma) -> Self {
        use ElementType::{Bf16, E4m3, E5m2, F16, S8, Tf32, U8};
        let format = |element| match element {
            E5m2 => wgmma::E5M2.a,
            _ => wgmma::E4M3.a,
        };
        match (instruction.a, instruction.b) {
            (F16, _) => Self::Float(wgmma::F16),
            (Bf16, _) => Self::Float(wgmma::BF16),
            (Tf32, _) => Self::Float(wgmma::TF32),
            (a @ (E4m3 | E5m2), b) => Self::Float(wgmma::E4M3.of(format(a), format(b))),
            (a @ (S8 | U8), b) => Self::Integer(IntegerUnit {
                a_signed: a == S8,
                b_signed: b == S8,
                ..crate::tensor::S8
            }),
        }
    }
}

impl Product {
    /// Reads both operands from the shared memory that begins at `shared`, and adds their product
    /// to the accumulators. `accumulators` gives those of each thread of the warpgroup.
    ///
    /// # Safety
    ///
    /// 1. Each element that the descriptors name is in the shared memory that begins at `shared`.
    pub unsafe fn perform(
        &self,
        shared: *const u8,
        mut accumulators: impl FnMut(usize, &mut dyn FnMut(&mut [u32])),
    ) {
        let Wgmma { a, b, n, .. } = self.instruction;
        let (a_major, b_major) = (self.instruction.a_major, self.instruction.b_major);
        let n = n as usize;
        let k = a.k();
        let (rows, columns) = (
            Descriptor::of(self.a.descriptor),
            Descriptor::of(self.b.descriptor),
        );
        let unit = Unit::of(&self.instruction);
        // SAFETY: the elements are in the shared memory that begins at `shared`: the caller's contract.
        let (rows, columns) = unsafe {
            let rows = match &self.a_rows {
                None => unit.read(shared, &rows, a_major, a, M),
                // They have all of a descriptor's elements.
                Some(own) => unit.read(own.start(), &Rows::DESCRIPTOR, Major::K, a, M),
            };
            (rows, unit.read(shared, &columns, b_major, b, n))
        };
        let dot = |row: usize, column: usize, sum: u32| match (&unit, &rows, &columns) {
            (Unit::Float(unit), Lines::Floats(a), Lines::Floats(b)) => {
                unit.dot_operands((a, row), (b, column), sum)
            }
            (Unit::Integer(unit), Lines::Integers(a), Lines::Integers(b)) => {
                let (a, b) = (&a[row * k..][..k], &b[column * k..][..k]);
                unit.dot(a, b, sum.cast_signed()).cast_unsigned()
            }
            _ => unreachable!("operands and unit are of one instruction"),
        };
        for thread in 0..2 * M {
            accumulators(thread, &mut |values| {
                if !self.accumulate {
                    values.fill(0);
                }
                // The layout of D (PTX ISA, "Register Fragments" of wgmma).
                let first_row = thread / 32 * 16 + thread % 32 / 4;
                for (index, value) in values.iter_mut().enumerate().take(n / 2) {
                    let row = first_row + index / 2 % 2 * 8;
                    let column = index / 4 * 8 + thread % 4 * 2 + index % 2;
                    *value = dot(row, column, *value);
                }
            });
        }
    }
}

impl Unit {
    /// Reads the elements of an operand.
    ///
    /// # Safety
    ///
    /// 1. As [`Product::perform`].
    unsafe fn read(
        &self,
        shared: *const u8,
        operand: &Descriptor,
        major: Major,
        element: ElementType,
        count: usize,
    ) -> Lines {
        let (bytes, k) = (element.bytes(), element.k());
        let bits = (0..count * k).map(|index| {
            let place = operand.place(major, bytes, index / k, index % k);
            let mut bits = [0; 4];
            // SAFETY: the element is in shared memory: the caller's contract. `bits` is at least as long as an
            // element. No other host thread writes shared memory, because the threads of a cluster all run on this
            // one.
            unsafe { std::ptr::copy_nonoverlapping(shared.add(place), bits.as_mut_ptr(), bytes) };
            u32::from_le_bytes(bits)
        });
        let format = match element {
            ElementType::F16 => wgmma::F16.a,
            ElementType::Bf16 => wgmma::BF16.a,
            ElementType::Tf32 => wgmma::TF32.a,
            ElementType::E4m3 => wgmma::E4M3.a,
            ElementType::E5m2 => wgmma::E5M2.a,
            ElementType::S8 | ElementType::U8 => {
                return Lines::Integers(bits.map(|bits| bits as u8).collect());
            }
        };
        let bits: Vec<u32> = bits.collect();
        match self {
            Self::Float(unit) => Lines::Floats(unit.operands(format, k, &bits)),
            Self::Integer(_) => unreachable!("operands and unit are of one instruction"),
        }
    }
}
