//! Cache policies for tensor maps and views.

use super::boxes::{TensorMap, TensorMapMut};
use super::policy::{CachePolicy, Hinted};
use crate::global::{Global, GlobalMut};
use crate::grid_constant::GridConstant;
use bytemuck::Pod;

macro_rules! hinted {
    ($([$($generics:tt)*] $side:ty;)*) => {$(
        impl<T: Pod $($generics)*> $side {
            /// Adds a cache policy to copies.
            #[inline(always)]
            #[must_use]
            pub fn hinted(self, policy: CachePolicy) -> Hinted<Self> {
                Hinted { side: self, policy }
            }
        }
    )*};
}
hinted! {
    [, const ROWS: usize, const COLUMNS: usize] GridConstant<'_, TensorMap<T, ROWS, COLUMNS>>;
    [, const ROWS: usize, const COLUMNS: usize] GridConstant<'_, TensorMapMut<T, ROWS, COLUMNS>>;
    [] Global<'_, T>;
    [] GlobalMut<'_, T>;
}
