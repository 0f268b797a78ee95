//! Copies of host memory.

use crate::common::Result;
use crate::times::{median_of, print_ratio, print_speed};
use std::time::Duration;
use tilewright::Device;

/// Copies of host memory to the device and back.
pub fn copies(device: &Device) -> Result {
    let bytes: usize = if device.is_simulator() {
        1 << 20
    } else {
        1 << 30
    };
    println!("\nCopies of {} MiB:", bytes >> 20);
    let mut plain = vec![1_u8; bytes];
    let mut pinned = device.pinned::<u8>(bytes)?;
    pinned.fill(2);
    let mut x = device.zeros::<u8>(bytes)?;
    let print = |name: &str, time: Duration| print_speed(name, bytes, time);
    // Copies of fewer bytes than this library divides among threads.
    let part = 15 << 20;
    let of_pinned = median_of(|| Ok(x.copy_from_slice(&pinned)?))?;
    print("page-locked memory to the device", of_pinned);
    let of_plain = median_of(|| Ok(x.copy_from_slice(&plain)?))?;
    print("a plain slice to the device", of_plain);
    print_ratio("speed of a plain slice / page-locked", of_pinned, of_plain);
    print(
        "the same, by the driver alone",
        median_of(|| {
            for start in (0..bytes).step_by(part) {
                let range = start..bytes.min(start + part);
                x.slice_mut(range.clone())?.copy_from_slice(&plain[range])?;
            }
            Ok(())
        })?,
    );
    print(
        "the device to page-locked memory",
        median_of(|| Ok(x.copy_to_slice(&mut pinned)?))?,
    );
    print(
        "the device to a plain slice",
        median_of(|| Ok(x.copy_to_slice(&mut plain)?))?,
    );
    print(
        "the same, by the driver alone",
        median_of(|| {
            for start in (0..bytes).step_by(part) {
                let range = start..bytes.min(start + part);
                x.slice(range.clone())?.copy_to_slice(&mut plain[range])?;
            }
            Ok(())
        })?,
    );
    print(
        "the device to a new vector",
        median_of(|| {
            std::hint::black_box(x.to_vec()?);
            Ok(())
        })?,
    );
    Ok(())
}
