//! A load cannot release: the orders of loads, stores and updates are types.

use cuda_std::atomic::Release;
use cuda_std::prelude::*;

#[kernel]
pub fn read(flags: GlobalAtomic<u32>) {
    if let Some(flag) = flags.atomic_ref(0) {
        let _ = flag.load(Release);
    }
}

fn main() {}
