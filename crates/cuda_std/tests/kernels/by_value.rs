//! Parameters that the host passes by value, and kernels for one architecture.

use cuda_std::prelude::*;

/// 128 bytes, aligned to 64, like a tensor map.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct Table(pub [u32; 32]);

/// `out[i] = table[i % 32] + added`.
#[kernel]
pub fn read_table(added: u32, table: GridConstant<Table>, out: GlobalMut<u32>) {
    let index = thread::unique_index();
    let value = table.0[index.get() % 32];
    if let Some(out) = out.own(index) {
        out.set(value + added);
    }
}

/// `out[i]` is the sum of the first table's last value and the second table's first value.
#[kernel]
pub fn read_two_tables(a: GridConstant<Table>, b: GridConstant<[u16; 3]>, out: GlobalMut<u32>) {
    if let Some(out) = out.own(thread::unique_index()) {
        out.set(a.0[31] + u32::from(b[0]));
    }
}

/// [`read_table`] in clusters of two blocks.
#[kernel(arch = "sm_90a", cluster = (2, 1, 1))]
pub fn read_table_in_clusters(added: u32, table: GridConstant<Table>, out: GlobalMut<u32>) {
    let index = thread::unique_index();
    let value = table.0[index.get() % 32];
    if let Some(out) = out.own(index) {
        out.set(value + added);
    }
}

/// The line that [`draw`] draws: 12 bytes without padding.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Line {
    /// Its rise from one element to the next.
    pub slope: f32,
    /// Its value at element `first`.
    pub offset: f32,
    /// Its first element.
    pub first: u32,
}

/// `out[i] = slope * (i - first) + offset`, clamped to `limits` if `clamped`.
#[kernel]
pub fn draw(line: Line, limits: [f32; 2], clamped: bool, out: GlobalMut<f32>) {
    let index = thread::unique_index();
    let x = index.get() as f32 - line.first as f32;
    let value = line.slope.mul_add(x, line.offset);
    let value = if clamped {
        value.max(limits[0]).min(limits[1])
    } else {
        value
    };
    if let Some(out) = out.own(index) {
        out.set(value);
    }
}

/// `out[i]` is the value of `table` at an index known only at run time; with `negated`, its
/// complement.
#[kernel]
pub fn pick(table: [u32; 5], negated: bool, places: Global<u8>, out: GlobalMut<u32>) {
    let index = thread::unique_index();
    let Some(place) = places.get(index.get()) else {
        return;
    };
    let value = table[usize::from(place) % 5];
    if let Some(out) = out.own(index) {
        out.set(if negated { !value } else { value });
    }
}
