//! Sums and products of host data that a limited part of the device's memory does not hold.

use crate::common::Result;
use crate::times::{median_of, print_ratio, print_speed};
use std::time::Duration;
use tilewright::{Device, HostMatrix, ops};

/// The simulated limit of a device's memory: half of the data to be summed.
const LIMIT_BYTES: usize = 4 << 30;

/// Sums of host memory in chunks of two sizes, beside a copy of the same memory to the device.
pub fn sums(device: &Device) -> Result {
    let (bytes, chunks): (usize, [usize; 2]) = match device.is_simulator() {
        true => (1 << 18, [1 << 16, 1 << 17]),
        false => (2 * LIMIT_BYTES, [64 << 20, 256 << 20]),
    };
    println!("\nSums of {} KiB of f32 in host memory:", bytes >> 10);
    let mut pinned = device.pinned::<f32>(bytes / size_of::<f32>())?;
    pinned.fill(0.5);
    sums_beside_copy(device, "page-locked memory", &pinned, chunks)?;
    let plain = pinned.to_vec();
    drop(pinned);
    sums_beside_copy(device, "a plain slice", &plain, chunks)
}

fn sums_beside_copy(device: &Device, name: &str, host: &[f32], chunks: [usize; 2]) -> Result {
    let bytes = size_of_val(host);
    let mut x = device.uninit(host.len())?;
    let copied = median_of(|| Ok(x.copy_from_slice(host)?))?;
    print_speed(&format!("{name} to the device"), bytes, copied);
    drop(x);
    device.synchronize()?;
    let before = device.memory()?.used;
    for chunk in chunks {
        let mut reducer = device.host_reducer(chunk / size_of::<f32>())?;
        let added = median_of(|| {
            let sum: f32 = reducer.reduce(host, ops::Sum)?;
            assert_eq!(sum, host.len() as f32 * 0.5);
            Ok(())
        })?;
        let used = device.memory()?.used - before;
        assert!(used <= LIMIT_BYTES as u64, "{used} bytes of the device");
        let name = format!("its sum in chunks of {} KiB", chunk >> 10);
        print_speed(&name, bytes, added);
        print_ratio("time of the copy / time of the sum", copied, added);
    }
    Ok(())
}

/// Products of host matrices in panels, beside the product of the same matrices on the device.
pub fn products(device: &Device) -> Result {
    let (side, memory): (usize, u64) = match device.is_simulator() {
        true => (160, 160 << 10),
        false => (24_576, 3 << 30),
    };
    println!(
        "\nProduct of {side}x{side} f32 in host memory, in panels of {} MiB in total:",
        memory >> 20
    );
    let elements = side * side;
    let value = |index: usize| (index % 31) as f32 - 15.0;
    let mut pinned = device.pinned::<f32>(elements)?;
    pinned
        .iter_mut()
        .zip(0..)
        .for_each(|(it, index)| *it = value(index));
    let plain = pinned.to_vec();
    let mut c = vec![0.0; elements];
    let expected = {
        let x = device.matrix((side, side), &pinned)?;
        let mut y = device.matrix_uninit((side, side))?;
        let time = median_of(|| {
            device.matmul_into(&x, &x, &mut y)?;
            Ok(device.synchronize()?)
        })?;
        print_product("the product on the device", side, time);
        y.to_vec()?
    };
    device.trim_memory(0)?;
    let mut multiplier = device.host_multiplier::<f32, f32>(memory)?;
    for (name, x) in [
        ("page-locked operands", &pinned[..]),
        ("plain slices", &plain),
    ] {
        let x = HostMatrix::new((side, side), x)?;
        let time = median_of(|| Ok(multiplier.multiply(x, x, &mut c)?))?;
        assert!(c == expected, "the bits of the product on the device");
        print_product(name, side, time);
    }
    Ok(())
}

fn print_product(name: &str, side: usize, time: Duration) {
    println!(
        "  {name:<40} {:8.1} ms {:6.1} TFLOP/s",
        time.as_secs_f64() * 1e3,
        2.0 * (side as f64).powi(3) / time.as_secs_f64() * 1e-12
    );
}
