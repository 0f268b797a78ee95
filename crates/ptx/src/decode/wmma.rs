//! `wmma`: fragments whose order this crate chooses, as NVIDIA does not document it.
//!
//! The order is that of `mma` with 16 rows and 8 columns: a fragment of B or of a sum has its left half first.
//! Registers after a fragment's last element repeat it from the first on.

use super::at::{At, Decoded};
use super::decoder::Decoder;
use super::error::DecodeErrorKind::Unsupported;
use super::op::Op;
use super::parts::{FragmentKind, FragmentMove, List, ProductOp};
use crate::numbers::{is_clamped, registers_of, warp_product};
use crate::operations::{
    Product, ProductName, WmmaHalfProduct, WmmaProduct, WmmaProductName, WmmaTransfer,
    WmmaTransferName,
};
use crate::syntax::Operand;
use crate::words::{MatrixLayout, MatrixShape, Type};

/// The shape of the products that one is made of.
fn halves_of(shape: MatrixShape) -> Option<MatrixShape> {
    match shape {
        MatrixShape::M16n16k16 => Some(MatrixShape::M16n8k16),
        MatrixShape::M16n16k8 => Some(MatrixShape::M16n8k8),
        _ => None,
    }
}

impl Decoder<'_> {
    pub(super) fn wmma_transfer(&mut self, at: At<'_>, it: &WmmaTransfer) -> Decoded<()> {
        halves_of(it.shape).ok_or(Unsupported)?;
        let is_load = it.name != WmmaTransferName::Store;
        let (registers, address, rest) = match (is_load, at.operands) {
            (true, [Operand::Vector(registers), address, rest @ ..]) => (registers, address, rest),
            (false, [address, Operand::Vector(registers), rest @ ..]) => (registers, address, rest),
            _ => return Err(Unsupported),
        };
        let kind = match it.name {
            WmmaTransferName::LoadA => FragmentKind::A,
            WmmaTransferName::LoadB => FragmentKind::B,
            WmmaTransferName::LoadC | WmmaTransferName::Store => FragmentKind::Sum,
        };
        let bytes = match it.of {
            Type::F16 | Type::Bf16 => 2,
            Type::F32 | Type::Tf32 | Type::S32 => 4,
            Type::S8 | Type::U8 => 1,
            _ => return Err(Unsupported),
        };
        let is_by_rows = it.layout == MatrixLayout::Row;
        let depth = match it.shape {
            MatrixShape::M16n16k8 => 8,
            _ => 16,
        };
        let stride = match (rest, kind, is_by_rows) {
            ([stride], ..) => self.source(at, stride, Type::U32)?,
            (_, FragmentKind::A, true) | (_, FragmentKind::B, false) => self.constant(depth),
            _ => self.constant(16),
        };
        let registers = self.moved(at, is_load, registers)?;
        let pointer = self.pointer(at, it.memory, address)?;
        self.emit(Op::MoveFragment(FragmentMove {
            is_load,
            kind,
            is_by_rows,
            bytes,
            pointer,
            stride,
            registers,
        }));
        Ok(())
    }

    pub(super) fn wmma_half_product(&mut self, at: At<'_>, it: &WmmaHalfProduct) -> Decoded<()> {
        let product = WmmaProduct {
            name: WmmaProductName::Product,
            sync: it.sync,
            aligned: it.aligned,
            a_layout: it.a_layout,
            b_layout: it.b_layout,
            shape: it.shape,
            d: it.d,
            a: Type::F16,
            b: Type::F16,
            c: it.c,
            satfinite: it.satfinite,
        };
        self.wmma_product(at, &product)
    }

    pub(super) fn wmma_product(&mut self, at: At<'_>, it: &WmmaProduct) -> Decoded<()> {
        let half = Product {
            name: ProductName::Product,
            sync: it.sync,
            aligned: it.aligned,
            shape: halves_of(it.shape).ok_or(Unsupported)?,
            a_layout: MatrixLayout::Row,
            b_layout: MatrixLayout::Column,
            satfinite: it.satfinite,
            d: it.d,
            a: it.a,
            b: it.b,
            c: it.c,
        };
        let f = warp_product(&half).ok_or(Unsupported)?;
        let [d, a, b, c] = at.vectors()?;
        let [of_a, of_b, of_sum] = registers_of(&half).ok_or(Unsupported)?;
        let a = self.sources(at, a, Type::B32)?;
        let b = self.sources(at, b, Type::B32)?;
        let (c, d) = (self.sources(at, c, it.d)?, self.destinations(at, d)?);
        let part = |list: List, first: u32, count: u32| List {
            first: list.first + first,
            count,
        };
        let are_sums = c.count == 2 * of_sum && d.count == c.count;
        if a.count < of_a || b.count < 2 * of_b || !are_sums {
            return Err(Unsupported);
        }
        for side in 0..2 {
            self.emit(Op::Product(ProductOp {
                f,
                is_clamped: is_clamped(&half),
                a: part(a, 0, of_a),
                b: part(b, side * of_b, of_b),
                c: part(c, side * of_sum, of_sum),
                d: part(d, side * of_sum, of_sum),
            }));
        }
        Ok(())
    }
}
