//! The driver's copies within one device: the memory bandwidth, in bytes read and written.

use super::Result;
use super::cases::Case;
use super::contest::Contest;
use super::samples;
use super::sums::label;
use crate::rivals::Rivals;
use tilewright::{Buffer, Device};

/// Elements on a GPU: 64 MiB, 256 MiB and 1 GiB.
const SIZES: [usize; 3] = [1 << 24, 1 << 26, 1 << 28];

/// Elements on the simulator.
const SIMULATOR_SIZE: usize = 1 << 14;

/// The copies to measure on `device`.
pub fn cases(device: &Device) -> Vec<Case> {
    match device.is_simulator() {
        true => vec![case(SIMULATOR_SIZE)],
        false => SIZES.map(case).into(),
    }
}

fn case(len: usize) -> Case {
    Case {
        name: format!("copy f32 {}", label(len)),
        size: len,
        device_bytes: bytes(len),
        build: contest,
    }
}

/// Bytes read plus bytes written.
fn bytes(len: usize) -> u64 {
    2 * (len * size_of::<f32>()) as u64
}

pub fn contest(device: &Device, _rivals: &Rivals, len: usize) -> Result<Contest> {
    let (elements, _) = samples::elements::<f32>(len);
    let x = device.upload(&elements)?;
    let mut contest = Contest::of_bytes(device, "copy", "f32", (len, label(len)), bytes(len));
    contest.admit(
        "copy_from_buffer",
        device.zeros::<f32>(len)?,
        move |calls, copy| {
            for _ in 0..calls {
                copy.copy_from_buffer(&x)?;
            }
            Ok(())
        },
        |copy: &Buffer<f32>| match copy.to_vec()? == elements {
            true => Ok(()),
            false => Err("wrong answer: another array".into()),
        },
    )?;
    Ok(contest)
}
