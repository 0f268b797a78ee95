//! A unique index belongs to one thread of one launch: a thread-local cannot keep it for another.

use cuda_std::prelude::*;
use cuda_std::thread::{UniqueIndex, UniqueIndex2d};
use std::cell::Cell;

thread_local! {
    static KEPT: Cell<Option<UniqueIndex<'static>>> = const { Cell::new(None) };
    static KEPT_2D: Cell<Option<UniqueIndex2d<'static>>> = const { Cell::new(None) };
}

#[kernel]
pub fn use_kept(y: GlobalMut<f32>) {
    if let Some(kept) = KEPT.replace(Some(thread::unique_index()))
        && let Some(y) = y.own(kept)
    {
        y.set(1.0);
    }
}

#[kernel]
pub fn use_kept_2d(y: GlobalMatrixMut<f32>) {
    if let Some(kept) = KEPT_2D.replace(Some(thread::unique_index_2d()))
        && let Some(y) = y.own(kept)
    {
        y.set(1.0);
    }
}

fn main() {}
