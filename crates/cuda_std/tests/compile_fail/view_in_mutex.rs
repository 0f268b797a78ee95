//! A view stays with its thread, so a mutex that threads share cannot hold it.

use cuda_std::prelude::*;
use std::sync::Mutex;

static KEPT: Mutex<Option<GlobalMut<'static, f32>>> = Mutex::new(None);

#[kernel]
pub fn keep(y: GlobalMut<f32>) {
    *KEPT.lock().unwrap() = Some(y);
}

fn main() {}
