//! The class of a row, for cross entropy.

use super::element::RowElement;
use super::terms::{Finish, Terms};
use super::vectors::Row;
use cuda_std::math::approximate::exp_nonpositive;
use cuda_std::prelude::*;

/// The class of a row without loss: its loss and its gradient are 0.
pub const IGNORED: u32 = u32::MAX;

/// What is known of a row's class.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Rows have no classes.
    None,
    /// The row has no loss.
    Ignored,
    /// The class is not an element of the row.
    Invalid,
    /// The class is an element of the row.
    Element,
}

/// A row's class, as one of the row's threads sees it.
#[derive(Clone, Copy)]
pub struct Class {
    kind: Kind,
    pub index: usize,
    /// Whether the thread has the class's element, or is the row's first if there is none.
    pub is_here: bool,
    /// The element, if the thread has it.
    element: f32,
}

impl Class {
    /// That of a row that does not exist.
    pub const NONE: Self = Self {
        kind: Kind::None,
        index: 0,
        is_here: false,
        element: 0.0,
    };

    /// The class of row `row` of `targets`, if there are any. The row's elements are the `len` of `x`. Of its threads,
    /// one is the first, and one has the element of each index.
    ///
    /// # Safety
    /// 1. `targets` has the row's class, or nothing. `x` has the row's elements.
    /// 2. No thread has written an element of another thread since the last barrier.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn of_row<T: RowElement>(
        (targets, row): (Global<u32>, usize),
        (x, len): (Row<T>, usize),
        (is_first, has): (bool, impl FnOnce(usize) -> bool),
    ) -> Self {
        let none = Self {
            is_here: is_first,
            ..Self::NONE
        };
        if targets.is_empty() {
            return none;
        }
        // SAFETY: there is a class for the row: the caller's contract.
        let class = unsafe { targets.load(row) };
        if class == IGNORED {
            return Self {
                kind: Kind::Ignored,
                ..none
            };
        }
        let index = class as usize;
        if index >= len {
            return Self {
                kind: Kind::Invalid,
                ..none
            };
        }
        let is_here = has(index);
        let element = match is_here {
            // SAFETY: the row has the element: compared above. No other thread has written it: the caller's contract.
            true => unsafe { x.load(index) }.widen(),
            false => 0.0,
        };
        Self {
            kind: Kind::Element,
            index,
            is_here,
            element,
        }
    }

    /// The row's value, for the thread that has the class: the loss, or the logarithm of the sum without classes.
    #[inline(always)]
    #[track_caller]
    pub fn value(self, terms: Terms) -> f32 {
        match self.kind {
            Kind::None => terms.log_sum(),
            Kind::Ignored => 0.0,
            Kind::Invalid => f32::NAN,
            Kind::Element => terms.log_sum_less(self.element),
        }
    }

    /// How results follow where the class decides: 0 for ignored rows, and NaN for invalid classes.
    #[inline(always)]
    pub fn applied(self, finish: Finish) -> Finish {
        match self.kind {
            Kind::Ignored => Finish {
                factor: 0.0,
                ..finish
            },
            Kind::Invalid => Finish {
                factor: f32::NAN,
                ..finish
            },
            Kind::None | Kind::Element => finish,
        }
    }

    /// The gradient of the class's element, in the thread that has it: `scale` less than the softmax times `scale`.
    #[inline(always)]
    #[track_caller]
    pub fn gradient(self, finish: Finish, scale: f32) -> Option<f32> {
        if self.kind != Kind::Element || !self.is_here {
            return None;
        }
        let power = exp_nonpositive(self.element - finish.base);
        Some(Float::mul_add(power, finish.factor, -scale))
    }
}
