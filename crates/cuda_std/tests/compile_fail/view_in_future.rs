//! A view ends with its launch: a future that holds one cannot outlive it.

use cuda_std::prelude::*;
use std::cell::RefCell;
use std::future::{Future, ready};
use std::pin::Pin;

thread_local! {
    static KEPT: RefCell<Option<Pin<Box<dyn Future<Output = ()>>>>> = const { RefCell::new(None) };
}

#[kernel]
pub fn keep(y: GlobalMut<f32>) {
    KEPT.set(Some(Box::pin(async move {
        ready(()).await;
        if let Some(y) = y.own(thread::unique_index()) {
            y.set(1.0);
        }
    })));
}

fn main() {}
