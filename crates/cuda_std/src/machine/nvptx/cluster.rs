//! Clusters of blocks (PTX ISA, 9.7.12.4: `barrier.cluster`; 9.7.8.21: `mapa`), from compute
//! capability 9.0.

use super::memory::shared_address;
use bytemuck::Pod;
use core::arch::asm;

macro_rules! special_registers {
    ($($name:ident = $register:literal;)*) => {$(
        #[inline(always)]
        pub fn $name() -> u32 {
            let value;
            // SAFETY: reads a special register, which every thread has.
            unsafe {
                asm!(
                    concat!("mov.u32 {0}, %", $register, ";"),
                    out(reg32) value,
                    options(pure, nomem, nostack),
                );
            }
            value
        }
    )*};
}

special_registers! {
    cluster_rank = "cluster_ctarank";
    cluster_blocks = "cluster_nctarank";
}

/// Arrives at the cluster's barrier, and releases the thread's earlier accesses to the cluster.
#[inline(always)]
pub fn cluster_barrier_arrive() {
    // SAFETY: a barrier accesses no memory. Without `nomem`, the compiler moves no memory access
    // across it. Without `.aligned` the lanes of a warp may arrive separately.
    unsafe { asm!("barrier.cluster.arrive;", options(nostack)) }
}

/// Waits until all threads of the cluster have arrived at its barrier.
#[inline(always)]
pub fn cluster_barrier_wait() {
    // SAFETY: as for the arrival.
    unsafe { asm!("barrier.cluster.wait;", options(nostack)) }
}

/// Maps an address in shared memory to the same offset in the block of rank `rank`.
#[inline(always)]
pub fn map_shared(address: u32, rank: u32) -> u32 {
    let mapped;
    // SAFETY: computes an address.
    unsafe {
        asm!(
            "mapa.shared::cluster.u32 {0}, {1}, {2};",
            out(reg32) mapped,
            in(reg32) address,
            in(reg32) rank,
            options(pure, nomem, nostack),
        );
    }
    mapped
}

/// Loads elements `index..index + N` at `base` in the block of rank `rank`: 4, 8 or 16 bytes.
///
/// # Safety
/// 1. The elements lie within the `len` elements at `base`, and have been written.
/// 2. The address of element `index` is a multiple of `N * size_of::<T>()`.
/// 3. No thread writes the elements meanwhile, and that block of the cluster is running.
#[inline(always)]
pub unsafe fn load_in_block<T: Pod, const N: usize>(
    base: *const T,
    _len: usize,
    index: usize,
    rank: u32,
) -> [T; N] {
    // SAFETY: the caller's contract. Each copy has as many bytes as the elements, which are plain data.
    unsafe {
        let address = map_shared(shared_address(base.add(index)), rank);
        match const { N * size_of::<T>() } {
            16 => {
                let (a, b, c, d): (u32, u32, u32, u32);
                asm!(
                    "ld.shared::cluster.v4.u32 {{{0}, {1}, {2}, {3}}}, [{4}];",
                    out(reg32) a,
                    out(reg32) b,
                    out(reg32) c,
                    out(reg32) d,
                    in(reg32) address,
                    options(readonly, nostack),
                );
                core::mem::transmute_copy(&[a, b, c, d])
            }
            8 => {
                let (a, b): (u32, u32);
                asm!(
                    "ld.shared::cluster.v2.u32 {{{0}, {1}}}, [{2}];",
                    out(reg32) a,
                    out(reg32) b,
                    in(reg32) address,
                    options(readonly, nostack),
                );
                core::mem::transmute_copy(&[a, b])
            }
            _ => {
                let value: u32;
                asm!(
                    "ld.shared::cluster.u32 {0}, [{1}];",
                    out(reg32) value,
                    in(reg32) address,
                    options(readonly, nostack),
                );
                core::mem::transmute_copy(&value)
            }
        }
    }
}

/// Writes elements `index..index + N` at `base` in the block of rank `rank`: 4, 8 or 16 bytes.
///
/// # Safety
/// 1. The elements lie within the `len` elements at `base`.
/// 2. The address of element `index` is a multiple of `N * size_of::<T>()`.
/// 3. No other thread touches the elements meanwhile, and that block of the cluster is running.
#[inline(always)]
pub unsafe fn store_in_block<T: Pod, const N: usize>(
    base: *mut T,
    _len: usize,
    index: usize,
    rank: u32,
    values: [T; N],
) {
    // SAFETY: the caller's contract. Each copy has as many bytes as the elements, which are plain data.
    unsafe {
        let address = map_shared(shared_address(base.add(index)), rank);
        match const { N * size_of::<T>() } {
            16 => {
                let [a, b, c, d]: [u32; 4] = core::mem::transmute_copy(&values);
                asm!(
                    "st.shared::cluster.v4.u32 [{0}], {{{1}, {2}, {3}, {4}}};",
                    in(reg32) address,
                    in(reg32) a,
                    in(reg32) b,
                    in(reg32) c,
                    in(reg32) d,
                    options(nostack),
                );
            }
            8 => {
                let [a, b]: [u32; 2] = core::mem::transmute_copy(&values);
                asm!(
                    "st.shared::cluster.v2.u32 [{0}], {{{1}, {2}}};",
                    in(reg32) address,
                    in(reg32) a,
                    in(reg32) b,
                    options(nostack),
                );
            }
            _ => {
                let value: u32 = core::mem::transmute_copy(&values);
                asm!(
                    "st.shared::cluster.u32 [{0}], {1};",
                    in(reg32) address,
                    in(reg32) value,
                    options(nostack),
                );
            }
        }
    }
}
