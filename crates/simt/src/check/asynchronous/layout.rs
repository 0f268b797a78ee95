//! The layout of a tile that a bulk copy has written.

use crate::state::Swizzle;
use std::panic::Location;

/// A tile that a bulk copy has written.
#[derive(Clone, Copy)]
pub(in crate::check) struct Layout {
    pub start: usize,
    pub end: usize,
    pub swizzle: Swizzle,
    pub site: &'static Location<'static>,
}
