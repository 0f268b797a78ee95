// What the kernels of this folder share: the memory that each is given, and the words for what CUDA has and
// OpenCL C calls otherwise. The Rust kernels of the same names are in `defects/kernels/public/`.

// The kernel with the mistake, or its twin.
#ifdef TWIN
#define RIGHT 1
#else
#define RIGHT 0
#endif

// Elements of each buffer, and words of local memory.
#define ELEMENTS 256

// A kernel: ones to read, zeros to write, what nothing has written, and local memory.
#define DEFECT(name) \
    kernel void name(global const uint *input, global uint *data, global uint *out, local uint *shared)

// Macros and not functions: a report names the line of the kernel, and barriers at two lines stay two.
#define me() ((uint)get_local_id(0))
#define block() ((uint)get_group_id(0))
#define global_index() ((uint)get_global_id(0))

// A barrier of the block in CUDA orders shared and global memory.
#define sync_threads() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

// OpenCL C 1.2 has no barrier of a warp. Where the group is one warp, all of which comes, that of the group is the
// same.
#define sync_warp() sync_threads()

// OpenCL C 1.2 has no atomic load and no atomic store: an update that changes nothing, and an exchange.
#define load_atomically(place) atomic_or(place, 0u)
#define store_atomically(place, value) ((void)atomic_xchg(place, value))

// The fences of OpenCL C 1.2 have no scope; those of 2.0 have one.
#if __OPENCL_C_VERSION__ >= 200
#define fence_device() atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device)
#define fence_block() atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_work_group)
#else
#define fence_device() mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
