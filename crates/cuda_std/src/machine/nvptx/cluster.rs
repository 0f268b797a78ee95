//! Clusters of blocks (PTX ISA, 9.7.12.4: `barrier.cluster`; 9.7.8.21: `mapa`), from compute
//! capability 9.0 on.

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

/// Arrives at the barrier of the cluster: what the thread has done is released to its threads.
#[inline(always)]
pub fn cluster_barrier_arrive() {
    // SAFETY: a barrier touches no memory of its own; without `nomem`, no access of memory is moved
    // across it.
    unsafe { asm!("barrier.cluster.arrive.aligned;", options(nostack)) }
}

/// Waits until all threads of the cluster have arrived at its barrier.
#[inline(always)]
pub fn cluster_barrier_wait() {
    // SAFETY: as for the arrival.
    unsafe { asm!("barrier.cluster.wait.aligned;", options(nostack)) }
}

/// The address of a byte of shared memory in the block of rank `rank`.
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
