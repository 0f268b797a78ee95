//! The atomic access that a thread is about to make, between its announcement and the operation.

use crate::basics::{AccessKind, AtomicOrder};

/// An atomic access that is about to be made.
#[derive(Clone, Copy)]
pub(in crate::check) struct Announced {
    pub kind: AccessKind,
    pub order: AtomicOrder,
}

impl Announced {
    /// The default, without an announced access.
    pub const UPDATE: Self = Self {
        kind: AccessKind::Atomic,
        order: AtomicOrder::RELAXED,
    };

    /// Whether it reads the word.
    pub fn reads(self) -> bool {
        self.kind != AccessKind::AtomicWrite
    }
}
