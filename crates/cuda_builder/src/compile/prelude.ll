; What Rust cannot say because it has no address spaces, as functions that kernels call.
;
; Every function is inlined before address spaces are inferred, so that an access through a
; returned pointer becomes ld.shared or ld.global. The module has no data layout: it takes the
; one of the kernel module it is linked into.

; Dynamic shared memory: its size is given at the launch. 128 bytes is the alignment that a bulk
; copy needs.
@smem = external addrspace(3) global [0 x i8], align 128

; The same memory for kernels with swizzled tiles, whose pattern repeats every 1024 bytes. All
; external shared arrays of a kernel begin at one address (PTX ISA, 5.1.8), the strictest alignment's.
@smem_of_tiles = external addrspace(3) global [0 x i8], align 1024

; The start of dynamic shared memory, as a generic pointer.
define ptr @__cuda_std_dynamic_shared() alwaysinline nounwind {
  ret ptr addrspacecast (ptr addrspace(3) @smem to ptr)
}

; The same, for swizzled tiles.
define ptr @__cuda_std_dynamic_shared_of_tiles() alwaysinline nounwind {
  ret ptr addrspacecast (ptr addrspace(3) @smem_of_tiles to ptr)
}

; The 32-bit shared-window address of a generic pointer into shared memory.
define i32 @__cuda_std_shared_address(ptr %pointer) alwaysinline nounwind {
  %shared = addrspacecast ptr %pointer to ptr addrspace(3)
  %address = ptrtoint ptr addrspace(3) %shared to i32
  ret i32 %address
}

; The global address of a generic pointer into global memory.
define i64 @__cuda_std_global_address(ptr %pointer) alwaysinline nounwind {
  %global = addrspacecast ptr %pointer to ptr addrspace(1)
  %address = ptrtoint ptr addrspace(1) %global to i64
  ret i64 %address
}

; The same pointer, now known to point into global memory. Without the call in the middle LLVM
; removes the two casts, and the knowledge with them; the call itself becomes no instruction.
define ptr @__cuda_std_assume_global(ptr %pointer) alwaysinline nounwind {
  %global = addrspacecast ptr %pointer to ptr addrspace(1)
  %kept = call ptr addrspace(1) @llvm.strip.invariant.group.p1(ptr addrspace(1) %global)
  %generic = addrspacecast ptr addrspace(1) %kept to ptr
  ret ptr %generic
}

declare ptr addrspace(1) @llvm.strip.invariant.group.p1(ptr addrspace(1))
