//! Everything that `#[kernel]` accepts, including names that its generated code might use.

use cuda_std::kernel::{Architecture, EntryParams, Kernel, SafeKernel};
use cuda_std::prelude::*;

/// Every kind of parameter, one of them changed by the kernel.
#[kernel(max_threads = 1024, min_blocks = 1, max_registers = 255)]
#[allow(unused_variables, clippy::too_many_arguments)]
pub fn everything(mut a: u8, b: i64, x: Global<f32>, x_len: usize, body: cuda_std::global::GlobalMut<half::f16>, argument_0: f64, length_2: u32, _unused: bool32, texture: Texture2d) {
    a += 1;
}

/// Another name for a scalar is a scalar.
#[allow(non_camel_case_types)]
type bool32 = u32;

/// No parameter.
#[kernel()]
pub unsafe fn nothing() {}

/// Compiled only on request.
#[cfg(any())]
#[kernel]
pub fn never(x: Global<DoesNotExist>) {}

/// Bytes that a kernel gets by value.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct Block([u8; 64]);

/// Threads of a block.
const THREADS: u32 = 128;

/// For one architecture, in clusters, bounded by constants, with a block of bytes.
#[kernel(arch = "sm_90a", cluster = (2, 2, 1), max_threads = 2 * THREADS, min_blocks = THREADS / 64)]
pub fn by_value(block: GridConstant<Block>, last: u16) {
    assert!(u16::from(block.0[0]) > last);
}

/// A struct of a flag and a number.
#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Switch {
    on: u8,
    level: u8,
}

/// Values and views of every kind.
#[kernel]
pub fn values(on: bool, switch: Switch, weights: [f32; 3], x: GlobalMatrix<f32>, y: cuda_std::global::GlobalMatrixMut<f32>, bins: GlobalAtomic<u32>) {
    assert!(on == (switch.on != 0) && switch.level > 0 && weights.len() == x.rows());
    let _ = (y, bins);
}

fn is_safe<K: SafeKernel>(_: K) {}

fn main() {
    is_safe(everything);
    assert_eq!((everything::NAME, nothing::NAME), ("everything", "nothing"));
    assert_eq!(everything::BOUNDS.max_threads, Some(1024));
    assert_eq!(nothing::BOUNDS.max_threads, None);
    assert_eq!(by_value::BOUNDS.max_threads, Some(256));
    assert_eq!(by_value::BOUNDS.min_blocks, Some(2));
    // SAFETY: (1), (2) no element is touched.
    let (x, y) = unsafe { (Global::from_raw_parts(8 as *const f32, 5), GlobalMut::from_raw_parts(16 as *mut half::f16, 6)) };
    // SAFETY: (1) it is not read.
    let texture = unsafe { Texture2d::from_handle(77) };
    let params = (1_u8, -1_i64, x, 2_usize, y, 1.0_f64, 3_u32, 4_u32, texture);
    let expected: [&[u8]; 11] = [
        &[1],
        &(-1_i64).to_le_bytes(),
        &8_u64.to_le_bytes(),
        &5_u64.to_le_bytes(),
        &2_u64.to_le_bytes(),
        &16_u64.to_le_bytes(),
        &6_u64.to_le_bytes(),
        &1.0_f64.to_le_bytes(),
        &3_u32.to_le_bytes(),
        &4_u32.to_le_bytes(),
        &77_u64.to_le_bytes(),
    ];
    assert_eq!(EntryParams::of(&params).bytes().collect::<Vec<_>>(), expected);
    assert!(EntryParams::of(&()).addresses().is_empty());

    assert_eq!(by_value::ARCH, Architecture::parse("sm_90a"));
    assert_eq!(by_value::BOUNDS.cluster, Some([2, 2, 1]));
    assert_eq!(everything::ARCH, None);
    let block = Block([7; 64]);
    let params = (GridConstant::new(&block), 5_u16);
    let entry = EntryParams::of(&params);
    assert_eq!(entry.bytes().collect::<Vec<_>>(), [&block.0[..], &[5, 0]]);
    assert_eq!(entry.addresses()[0], (&raw const block).cast());

    let switch = Switch { on: 1, level: 3 };
    // SAFETY: (1), (2), (3) no element is touched.
    let (x, y, bins) = unsafe {
        (
            GlobalMatrix::from_raw_parts(8 as *const f32, 2, 3, 4),
            GlobalMatrixMut::from_raw_parts(16 as *mut f32, 5, 6, 7),
            GlobalAtomic::from_raw_parts(32 as *mut u32, 9),
        )
    };
    let params = (true, switch, [1.0_f32, 2.0, 3.0], x, y, bins);
    let entry = EntryParams::of(&params);
    let bytes: Vec<_> = entry.bytes().collect();
    assert_eq!((bytes[0], bytes[1], bytes[2].len()), (&[1_u8][..], &[1_u8, 3][..], 12));
    let numbers: Vec<u64> = bytes[3..].iter().map(|it| u64::from_le_bytes((*it).try_into().unwrap())).collect();
    assert_eq!(numbers, [8, 2, 3, 4, 16, 5, 6, 7, 32, 9]);
}
