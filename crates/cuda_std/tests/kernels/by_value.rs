//! Parameters that the host passes by value, and kernels for one architecture.

use cuda_std::prelude::*;

/// 128 bytes at a multiple of 64, as a tensor map has them.
#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct Table(pub [u32; 32]);

/// `out[i] = table[i % 32] + added`.
#[kernel]
pub fn read_table(added: u32, table: GridConstant<Table>, out: GlobalMut<u32>) {
    let index = thread::own_index();
    let value = table.0[index.get() % 32];
    if let Some(out) = out.own(index) {
        out.set(value + added);
    }
}

/// `out[i]` is the last value of the first table and the first one of the second.
#[kernel]
pub fn read_two_tables(a: GridConstant<Table>, b: GridConstant<[u16; 3]>, out: GlobalMut<u32>) {
    if let Some(out) = out.own(thread::own_index()) {
        out.set(a.0[31] + u32::from(b[0]));
    }
}

/// [`read_table`] in clusters of two blocks.
#[kernel(arch = "sm_90a", cluster = (2, 1, 1))]
pub fn read_table_in_clusters(added: u32, table: GridConstant<Table>, out: GlobalMut<u32>) {
    let index = thread::own_index();
    let value = table.0[index.get() % 32];
    if let Some(out) = out.own(index) {
        out.set(value + added);
    }
}
