//! The calling thread's position: special registers (PTX ISA, 10).

use super::intrinsics::intrinsics;

intrinsics! {
    fn read_tid_x() -> i32 = "llvm.nvvm.read.ptx.sreg.tid.x";
    fn read_tid_y() -> i32 = "llvm.nvvm.read.ptx.sreg.tid.y";
    fn read_tid_z() -> i32 = "llvm.nvvm.read.ptx.sreg.tid.z";
    fn read_ntid_x() -> i32 = "llvm.nvvm.read.ptx.sreg.ntid.x";
    fn read_ntid_y() -> i32 = "llvm.nvvm.read.ptx.sreg.ntid.y";
    fn read_ntid_z() -> i32 = "llvm.nvvm.read.ptx.sreg.ntid.z";
    fn read_ctaid_x() -> i32 = "llvm.nvvm.read.ptx.sreg.ctaid.x";
    fn read_ctaid_y() -> i32 = "llvm.nvvm.read.ptx.sreg.ctaid.y";
    fn read_ctaid_z() -> i32 = "llvm.nvvm.read.ptx.sreg.ctaid.z";
    fn read_nctaid_x() -> i32 = "llvm.nvvm.read.ptx.sreg.nctaid.x";
    fn read_nctaid_y() -> i32 = "llvm.nvvm.read.ptx.sreg.nctaid.y";
    fn read_nctaid_z() -> i32 = "llvm.nvvm.read.ptx.sreg.nctaid.z";
    fn read_laneid() -> i32 = "llvm.nvvm.read.ptx.sreg.laneid";
}

macro_rules! special_registers {
    ($($name:ident = $read:ident;)*) => {$(
        #[inline(always)]
        pub fn $name() -> u32 {
            // SAFETY: reads a special register, which every thread has.
            unsafe { $read() as u32 }
        }
    )*};
}

special_registers! {
    thread_idx_x = read_tid_x;
    thread_idx_y = read_tid_y;
    thread_idx_z = read_tid_z;
    block_dim_x = read_ntid_x;
    block_dim_y = read_ntid_y;
    block_dim_z = read_ntid_z;
    block_idx_x = read_ctaid_x;
    block_idx_y = read_ctaid_y;
    block_idx_z = read_ctaid_z;
    grid_dim_x = read_nctaid_x;
    grid_dim_y = read_nctaid_y;
    grid_dim_z = read_nctaid_z;
    lane_index = read_laneid;
}

/// The number of lanes in a warp.
#[inline(always)]
pub fn warp_width() -> u32 {
    32
}
