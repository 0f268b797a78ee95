//! Devices, their memory, and launches on them.

use crate::{Line, says};
use cuda_std::cooperative_groups::{GridGroup, Group as _};
use cuda_std::prelude::*;
use tilewright::{Device, Error, LaunchConfig, ModuleSource, Order, SimulatorOptions, ops};

/// Adds to each element the one after it, which another thread may have changed before.
#[kernel(max_threads = 256)]
pub fn store_own(x: GlobalMut<f32>) {
    if let Some(x) = x.own(thread::unique_index()) {
        x.set(1.0);
    }
}

/// Stores past the end.
///
/// # Safety
/// 1. Never met: the simulator finds it.
#[kernel]
pub unsafe fn store_past_the_end(x: GlobalMut<f32>) {
    // SAFETY: none; the simulator refuses the store.
    unsafe { x.store(x.len(), 1.0) };
}

/// Reads a matrix.
#[kernel]
pub fn read_matrix(_x: GlobalMatrix<f32>) {}

/// Waits for all blocks.
#[kernel(cooperative, max_threads = 1024, min_blocks = 1)]
pub fn meet(grid: GridGroup) {
    grid.sync();
}

/// Blocks in pairs.
#[kernel(arch = "sm_90", cluster = (2, 1, 1))]
pub fn in_pairs() {}

// SAFETY: (1) there are no images, so none that could differ from the kernels.
static KERNELS: ModuleSource = unsafe { ModuleSource::new("messages", &[]) };

pub fn table() -> Vec<Line> {
    [memory(), launches(), other_devices()]
        .into_iter()
        .flatten()
        .collect()
}

fn memory() -> Vec<Line> {
    let small = Device::simulator_with(SimulatorOptions::default().with_memory_bytes(1 << 10));
    let device = Device::simulator();
    let new = device.uninit::<f32>(2).unwrap();
    let named = device.uninit::<u8>(1).unwrap().named("input");
    vec![
        says(
            small.zeros::<f32>(1000),
            "zeros: simulator #1 cannot allocate 4000 bytes: 1024 of its 1024 bytes are free; drop buffers that are no \
             longer needed, or work on smaller parts",
        ),
        says(
            new.to_vec(),
            "to_vec: byte 0 of the 8 bytes read from memory on simulator #1 was never written, neither by the host nor \
             by a kernel; let a kernel write every element, or start from Device::zeros",
        ),
        says(
            named.to_vec(),
            "to_vec: byte 0 of the 1 byte read from memory of buffer `input` on simulator #1 was never written, neither \
             by the host nor by a kernel; let a kernel write every element, or start from Device::zeros",
        ),
        says(
            device.launch_report(),
            "launch_report: this simulator counts only within Device::with_report; open it with \
             SimulatorOptions::with_counters(true) to have every launch counted",
        ),
    ]
}

fn launches() -> Vec<Line> {
    let device = Device::simulator();
    let module = device.load(&KERNELS).unwrap();
    let mut x = device.zeros::<f32>(4).unwrap();
    let columns = device
        .matrix_zeros::<f32>((2, 3, Order::ColumnMajor))
        .unwrap();
    let mut launch = |config| module.launch(store_own, config, (&mut x,));
    let mut lines = vec![
        says(
            launch(LaunchConfig::new(0, 32)),
            "launch: kernel `store_own` cannot be launched: its grid has 0 blocks in dimension x; from 1 to 2147483647 \
             are allowed",
        ),
        says(
            launch(LaunchConfig::new(1, 512)),
            "launch: kernel `store_own` cannot be launched: its block has 512 threads; the kernel allows at most 256",
        ),
        says(
            launch(LaunchConfig::new(1, (32, 64))),
            "launch: kernel `store_own` cannot be launched: its block has 2048 threads; the device allows at most 1024",
        ),
        says(
            launch(LaunchConfig::new(1, 32).with_dynamic_shared(1 << 20)),
            "launch: kernel `store_own` cannot be launched: it asks for 1048576 bytes of dynamic shared memory, and a \
             block of this device has at most 232448",
        ),
        says(
            module.launch(in_pairs, LaunchConfig::new(1, 32), ()),
            "launch: kernel `in_pairs` cannot be launched: its grid has 1 block in dimension x, and the kernel's \
             clusters need a multiple of 2",
        ),
        says(
            module.launch(read_matrix, LaunchConfig::new(1, 32), (&columns,)),
            "launch: kernel `read_matrix` cannot be launched: argument 1 is a column-major matrix, and kernels take \
             row-major ones; make it row-major, or pass its transpose, which is row-major",
        ),
        says(
            module.launch(meet, LaunchConfig::new(1000, 1024), ()),
            "launch: kernel `meet` cannot be launched cooperatively: all of its 1000 blocks of 1024 threads and 0 bytes of \
             dynamic shared memory must be resident at once, and simulator #1 holds 8 (1 on each of 8 multiprocessors, \
             limited by registers); launch at most as many as Module::max_resident_blocks returns, and give each more \
             work",
        ),
    ];
    lines.push(defect(&device));
    lines
}

/// The simulator's own report, which names the line of this file, after the words of the library.
fn defect(device: &Device) -> Line {
    let mut x = device.zeros::<f32>(4).unwrap();
    let module = device.load(&KERNELS).unwrap();
    let config = LaunchConfig::new(1, 1);
    // SAFETY: (1) the simulator refuses the store.
    let launched = unsafe { module.launch_unsafe(store_past_the_end, config, (&mut x,)) };
    let mut line = says(launched, "launch: the simulator found a defect: ...");
    let words = line.expected.len() - "...".len();
    assert!(line.said.len() > words + 20, "{}", line.said);
    line.said.truncate(words);
    line.said += "...";
    line
}

fn other_devices() -> Vec<Line> {
    let (device, other) = (Device::simulator(), Device::simulator());
    let foreign = other.upload(&[1.0_f32]).unwrap();
    let own = device.upload(&[1.0_f32]).unwrap();
    let segments = other.segments(&[0, 1]).unwrap();
    let matrix = other.matrix((1, 1), &[1.0_f32]).unwrap();
    let mut mine = device.zeros::<f32>(1).unwrap();
    vec![
        says(
            device.reduce_sum(&foreign),
            "reduce_sum: the buffer to reduce is on simulator #1, and this call runs on simulator #2; create all operands \
             with one `Device` or its clones",
        ),
        says(
            device.reduce_segments(&own, &segments, ops::Sum),
            "reduce_segments: the list of segments is on simulator #1, and this call runs on simulator #2; create all \
             operands with one `Device` or its clones",
        ),
        says(
            device.matmul(&matrix, &matrix),
            "matmul: the matrix A is on simulator #1, and this call runs on simulator #2; create all operands with one \
             `Device` or its clones",
        ),
        says(
            mine.copy_from_buffer(&foreign),
            "copy_from_buffer: the source is on simulator #1, and this call runs on simulator #2; create all operands with \
             one `Device` or its clones",
        ),
    ]
}

/// A message names a device as its `Debug` does, and two devices differently.
#[test]
fn the_devices_of_a_message_are_told_apart() {
    let (device, other) = (Device::simulator(), Device::simulator());
    let [device_name, other_name] = [&device, &other].map(|it| {
        let debug = format!("{it:?}");
        let name = debug
            .strip_prefix("Device(")
            .and_then(|it| it.strip_suffix(')'));
        name.unwrap().to_owned()
    });
    assert_ne!(device_name, other_name);
    let foreign = other.upload(&[1.0_f32]).unwrap();
    let error: Error = device.reduce_sum(&foreign).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(&format!("is on {other_name}, ")), "{text}");
    assert!(text.contains(&format!("runs on {device_name};")), "{text}");
}
