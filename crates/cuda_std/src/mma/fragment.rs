//! Fragments: a lane's parts of a product's matrices.

use super::element::{Element, Registers, per_register};
use super::matrices::Multiply;
use crate::float::HalfFloat;
use crate::warp;

/// The warp width that tensor cores support.
const LANES: usize = 32;

macro_rules! fragments {
    ($($(#[$documentation:meta])* $name:ident<$rows:ident, $columns:ident>;)*) => {$(
        $(#[$documentation])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<T: Element<$rows, $columns>, const $rows: usize, const $columns: usize> {
            pub(crate) registers: T::Registers,
        }

        impl<T: Element<$rows, $columns>, const $rows: usize, const $columns: usize>
            $name<T, $rows, $columns>
        {
            /// The number of elements in each lane.
            pub const LEN: usize = $rows * $columns / LANES;

            /// Elements in a register, which are neighbours in a row or column that 4 lanes share.
            const PER_REGISTER: usize = per_register::<T, T::Registers>();

            /// The calling lane's element number `index`, below [`Self::LEN`].
            #[inline(always)]
            #[must_use]
            pub fn get(&self, index: usize) -> T {
                let bits = self.registers.bits(index / Self::PER_REGISTER);
                T::from_lane_bits(bits >> Self::shift(index))
            }

            /// Makes a fragment of `element(row, column)`.
            #[inline(always)]
            #[track_caller]
            #[must_use]
            pub fn from_fn(element: impl FnMut(usize, usize) -> T) -> Self {
                Self::of_lane(warp::lane() as usize, element)
            }

            /// [`Self::from_fn`] for a given lane.
            #[inline(always)]
            #[track_caller]
            pub(crate) fn of_lane(lane: usize, mut element: impl FnMut(usize, usize) -> T) -> Self {
                let mut fragment = Self::zero();
                for index in 0..Self::LEN {
                    let (row, column) = Self::place_in(lane, index);
                    fragment.set(index, element(row, column));
                }
                fragment
            }

            /// Combines two fragments, element by element.
            #[inline(always)]
            #[must_use]
            pub fn zip(self, other: Self, element: impl Fn(T, T) -> T) -> Self {
                let mut fragment = Self::zero();
                for index in 0..Self::LEN {
                    fragment.set(index, element(self.get(index), other.get(index)));
                }
                fragment
            }

            /// Zeros.
            #[inline(always)]
            #[must_use]
            pub fn zero() -> Self {
                Self { registers: T::Registers::zeroed() }
            }

            /// The row and the column of the calling lane's element number `index` (see
            /// [`Self::place_in`]).
            #[inline(always)]
            #[track_caller]
            #[must_use]
            pub fn place(index: usize) -> (usize, usize) {
                Self::place_in(warp::lane() as usize, index)
            }

            /// Replaces element number `index`, whose bits are zeros.
            #[inline(always)]
            fn set(&mut self, index: usize, element: T) {
                let register = index / Self::PER_REGISTER;
                let others = self.registers.bits(register);
                let bits = element.to_lane_bits() << Self::shift(index);
                self.registers.set_bits(register, others | bits);
            }

            /// The place of an element in its register, in bits.
            #[inline(always)]
            const fn shift(index: usize) -> usize {
                index % Self::PER_REGISTER * size_of::<T>() * 8
            }
        }
    )*};
}
fragments! {
    /// A lane's part of the left factor, of `M` rows and `K` columns.
    A<M, K>;
    /// A lane's part of the right factor, of `K` rows and `N` columns.
    B<K, N>;
    /// A lane's part of the accumulators, of `M` rows and `N` columns.
    C<M, N>;
}

impl<T: Element<M, K>, const M: usize, const K: usize> A<T, M, K> {
    /// The row and the column of lane `lane`'s element number `index`.
    ///
    /// A register holds P elements: as many as fit into 4 bytes, or one `f64`. Register 0 has
    /// columns P (lane % 4) .. of row lane / 4. Odd registers are 8 rows below even ones, and each
    /// pair of registers is 4 P columns to the right of the one before. With 8 rows there are no
    /// odd ones: each register is 4 P columns to the right.
    #[inline(always)]
    #[must_use]
    pub const fn place_in(lane: usize, index: usize) -> (usize, usize) {
        let (register, within) = (index / Self::PER_REGISTER, index % Self::PER_REGISTER);
        let (half, block) = (register % (M / 8), register / (M / 8));
        let column = (lane % 4 + 4 * block) * Self::PER_REGISTER + within;
        (lane / 4 + 8 * half, column)
    }
}

impl<T: Element<K, N>, const K: usize, const N: usize> B<T, K, N> {
    /// The row and the column of lane `lane`'s element number `index`.
    ///
    /// A register holds P elements: as many as fit into 4 bytes, or one `f64`. Register r has rows
    /// P (lane % 4 + 4 r) .. of column lane / 4.
    #[inline(always)]
    #[must_use]
    pub const fn place_in(lane: usize, index: usize) -> (usize, usize) {
        let (register, within) = (index / Self::PER_REGISTER, index % Self::PER_REGISTER);
        let row = (lane % 4 + 4 * register) * Self::PER_REGISTER + within;
        (row, lane / 4)
    }
}

impl<T: Element<M, N>, const M: usize, const N: usize> C<T, M, N> {
    /// The row and the column of lane `lane`'s element number `index`: columns 2 (lane % 4) and 2
    /// (lane % 4) + 1 of row lane / 4, then of the row 8 below.
    #[inline(always)]
    #[must_use]
    pub const fn place_in(lane: usize, index: usize) -> (usize, usize) {
        (lane / 4 + 8 * (index / 2), 2 * (lane % 4) + index % 2)
    }

    /// Adds the product of `a` and `b` to the accumulators. (`mma.sync`)
    ///
    /// # Safety
    /// 1. All threads of the warp make the call together, converged.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub unsafe fn add_product<L, R, const K: usize>(self, a: A<L, M, K>, b: B<R, K, N>) -> Self
    where
        L: Multiply<R, T, M, N, K>,
        R: Element<K, N>,
    {
        Self {
            // SAFETY: the caller's contract.
            registers: unsafe { L::multiply(a.registers, b.registers, self.registers) },
        }
    }
}

impl<const M: usize, const N: usize> C<f32, M, N>
where
    f32: Element<M, N>,
{
    /// Rounds each accumulator to a 16-bit format, ties to even.
    #[inline(always)]
    #[track_caller]
    #[must_use]
    pub fn narrow<T: HalfFloat + Element<M, N>>(&self) -> C<T, M, N> {
        let mut narrow = C::<T, M, N>::zero();
        for index in 0..Self::LEN {
            narrow.set(index, T::narrow(self.get(index)));
        }
        narrow
    }
}
