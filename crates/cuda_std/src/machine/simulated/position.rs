//! The calling thread's position.

macro_rules! special_registers {
    ($($name:ident = $($field:ident).+;)*) => {$(
        // Not inlined: many places in a kernel call it, and finding the running thread takes code.
        #[inline(never)]
        #[track_caller]
        pub fn $name() -> u32 {
            simt::position().$($field).+
        }
    )*};
}

special_registers! {
    thread_idx_x = thread_idx.x;
    thread_idx_y = thread_idx.y;
    thread_idx_z = thread_idx.z;
    block_dim_x = block_dim.x;
    block_dim_y = block_dim.y;
    block_dim_z = block_dim.z;
    block_idx_x = block_idx.x;
    block_idx_y = block_idx.y;
    block_idx_z = block_idx.z;
    grid_dim_x = grid_dim.x;
    grid_dim_y = grid_dim.y;
    grid_dim_z = grid_dim.z;
    lane_index = lane;
    warp_width = warp_width;
}
