//! The layout of a tile that a bulk copy has written.

use crate::basics::CallSite;
use crate::state::Swizzle;

/// A tile that a bulk copy has written.
#[derive(Clone, Copy)]
pub(in crate::check) struct Layout {
    pub start: usize,
    pub end: usize,
    pub swizzle: Swizzle,
    pub site: CallSite,
}
