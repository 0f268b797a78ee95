//! The machine underneath: a GPU. Each function is one instruction, or a handful.
//!
//! `simulated.rs` has the same functions with the same meaning. Where LLVM has an intrinsic it is
//! used, because it is convergent by itself; the builder marks the `asm!` calls convergent.

use bytemuck::Pod;
use core::arch::asm;

/// Lanes of a warp.
#[inline(always)]
pub const fn warp_width() -> u32 {
    32
}

macro_rules! intrinsics {
    ($($(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),*) $(-> $ret:ty)? = $link:literal;)*) => {
        unsafe extern "C" {
            $(
                $(#[$meta])*
                #[link_name = $link]
                fn $name($($arg: $ty),*) $(-> $ret)?;
            )*
        }
    };
}

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
    fn barrier_sync_all(id: i32) = "llvm.nvvm.barrier.cta.sync.aligned.all";
    fn barrier_sync_count(id: i32, threads: i32) = "llvm.nvvm.barrier.cta.sync.aligned.count";
    fn warp_sync(mask: i32) = "llvm.nvvm.bar.warp.sync";
    fn shfl_idx(mask: i32, value: i32, lane: i32, clamp: i32) -> i32 = "llvm.nvvm.shfl.sync.idx.i32";
    fn shfl_up(mask: i32, value: i32, delta: i32, clamp: i32) -> i32 = "llvm.nvvm.shfl.sync.up.i32";
    fn shfl_down(mask: i32, value: i32, delta: i32, clamp: i32) -> i32 = "llvm.nvvm.shfl.sync.down.i32";
    fn shfl_bfly(mask: i32, value: i32, lanes: i32, clamp: i32) -> i32 = "llvm.nvvm.shfl.sync.bfly.i32";
    fn vote_ballot(mask: i32, predicate: bool) -> i32 = "llvm.nvvm.vote.ballot.sync";
    fn match_any_32(mask: i32, value: i32) -> i32 = "llvm.nvvm.match.any.sync.i32";
    fn match_any_64(mask: i32, value: i64) -> i32 = "llvm.nvvm.match.any.sync.i64";
    fn membar_cta() = "llvm.nvvm.membar.cta";
    fn membar_gl() = "llvm.nvvm.membar.gl";
    fn membar_sys() = "llvm.nvvm.membar.sys";
    fn fma_f32(a: f32, b: f32, c: f32) -> f32 = "llvm.fma.f32";
    fn fma_f64(a: f64, b: f64, c: f64) -> f64 = "llvm.fma.f64";
}

// Supplied by the builder as LLVM IR, which has the address spaces that Rust lacks.
unsafe extern "C" {
    fn __cuda_std_dynamic_shared() -> *mut u8;
    fn __cuda_std_shared_address(pointer: *const u8) -> u32;
    fn __cuda_std_global_address(pointer: *const u8) -> u64;
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
    thread_idx_x = read_tid_x; thread_idx_y = read_tid_y; thread_idx_z = read_tid_z;
    block_dim_x = read_ntid_x; block_dim_y = read_ntid_y; block_dim_z = read_ntid_z;
    block_idx_x = read_ctaid_x; block_idx_y = read_ctaid_y; block_idx_z = read_ctaid_z;
    grid_dim_x = read_nctaid_x; grid_dim_y = read_nctaid_y; grid_dim_z = read_nctaid_z;
    lane_index = read_laneid;
}

// ---- barriers and fences -------------------------------------------------------------------

#[inline(always)]
pub fn block_barrier() {
    // SAFETY: a barrier touches no memory of its own; that all threads reach it is what
    // `thread::sync_threads` asks of its caller, and a GPU that waits forever is not unsound.
    unsafe { barrier_sync_all(0) }
}

#[inline(always)]
pub fn block_barrier_part(id: u32, threads: u32) {
    // SAFETY: as for `block_barrier`.
    unsafe { barrier_sync_count(id as i32, threads as i32) }
}

#[inline(always)]
pub fn block_barrier_count(predicate: bool) -> u32 {
    let count: u32;
    // SAFETY: as for `block_barrier`; the instruction also counts the predicates (PTX ISA 8.0, 9.7.12.1, bar.red.popc).
    unsafe {
        asm!(
            "{{ .reg .pred p; setp.ne.u32 p, {predicate}, 0; bar.red.popc.u32 {count}, 0, p; }}",
            predicate = in(reg32) u32::from(predicate),
            count = out(reg32) count,
        );
    }
    count
}

#[inline(always)]
pub fn warp_barrier(mask: u64) {
    // SAFETY: orders the memory accesses of the lanes in the mask, and touches no memory.
    unsafe { warp_sync(mask as i32) }
}

#[inline(always)]
pub fn fence_block() {
    // SAFETY: a fence only orders this thread's accesses.
    unsafe { membar_cta() }
}

#[inline(always)]
pub fn fence_device() {
    // SAFETY: a fence only orders this thread's accesses.
    unsafe { membar_gl() }
}

#[inline(always)]
pub fn fence_system() {
    // SAFETY: a fence only orders this thread's accesses.
    unsafe { membar_sys() }
}

#[inline(always)]
pub fn yield_now() {}

// ---- warps -----------------------------------------------------------------------------------

/// How a shuffle finds its source lane.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Shuffle {
    Index,
    Up,
    Down,
    Xor,
}

#[inline(always)]
fn shuffle_word(kind: Shuffle, mask: u64, word: u32, lane: u32, width: u32) -> u32 {
    // PTX ISA 8.0, 9.7.8.6: bits 8-12 of the clamp operand cut the warp into segments.
    let segments = (warp_width() - width) << 8;
    let (mask, word, lane) = (mask as i32, word as i32, lane as i32);
    // SAFETY: exchanges registers; a lane missing from the mask gives an unspecified value, never
    // undefined memory.
    let word = unsafe {
        match kind {
            Shuffle::Index => shfl_idx(mask, word, lane, (segments | 31) as i32),
            Shuffle::Up => shfl_up(mask, word, lane, segments as i32),
            Shuffle::Down => shfl_down(mask, word, lane, (segments | 31) as i32),
            Shuffle::Xor => shfl_bfly(mask, word, lane, (segments | 31) as i32),
        }
    };
    word as u32
}

#[inline(always)]
pub fn shuffle(kind: Shuffle, mask: u64, bits: u64, bytes: usize, lane: u32, width: u32) -> u64 {
    let low = u64::from(shuffle_word(kind, mask, bits as u32, lane, width));
    if bytes <= 4 {
        return low;
    }
    let high = shuffle_word(kind, mask, (bits >> 32) as u32, lane, width);
    low | u64::from(high) << 32
}

#[inline(always)]
pub fn ballot(mask: u64, predicate: bool) -> u64 {
    // SAFETY: votes touch no memory.
    u64::from(unsafe { vote_ballot(mask as i32, predicate) } as u32)
}

#[inline(always)]
pub fn match_any(mask: u64, bits: u64, bytes: usize) -> u64 {
    // SAFETY: matches touch no memory.
    let lanes = unsafe {
        if bytes <= 4 {
            match_any_32(mask as i32, bits as i32)
        } else {
            match_any_64(mask as i32, bits as i64)
        }
    };
    u64::from(lanes as u32)
}

#[inline(always)]
pub fn active_lanes() -> u64 {
    let mask: u32;
    // SAFETY: reads which lanes run this instruction together.
    unsafe { asm!("activemask.b32 {0};", out(reg32) mask, options(nomem, nostack)) };
    u64::from(mask)
}

/// `redux.sync.add.u32` where the GPU has it (compute capability 8.0).
#[inline(always)]
pub fn reduce_add_u32(mask: u64, value: u32) -> Option<u32> {
    #[cfg(cuda_arch_at_least = "80")]
    {
        let sum: u32;
        // SAFETY: touches no memory.
        unsafe {
            asm!(
                "redux.sync.add.u32 {0}, {1}, {2};",
                out(reg32) sum, in(reg32) value, in(reg32) mask as u32,
                options(nomem, nostack),
            );
        }
        Some(sum)
    }
    #[cfg(not(cuda_arch_at_least = "80"))]
    {
        let _ = (mask, value);
        None
    }
}

// ---- memory ----------------------------------------------------------------------------------

/// Where a view's memory lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Space {
    Global,
    Shared,
    Constant,
}

#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Aligned8<T>(T);

#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Aligned16<T>(T);

/// # Safety
/// 1. `index..index + N` lies within the `len` elements at `base`, which are initialised.
/// 2. The address of element `index` is a multiple of `N * size_of::<T>()` where that is 8 or 16.
/// 3. Nobody writes the elements meanwhile.
#[inline(always)]
pub unsafe fn load<T: Pod, const N: usize>(_: Space, base: *const T, _len: usize, index: usize) -> [T; N] {
    // SAFETY: (1), (2), (3) are the caller's.
    unsafe {
        let first = base.add(index);
        match N * size_of::<T>() {
            16 => first.cast::<Aligned16<[T; N]>>().read().0,
            8 => first.cast::<Aligned8<[T; N]>>().read().0,
            _ => first.cast::<[T; N]>().read(),
        }
    }
}

/// # Safety
/// 1. `index..index + N` lies within the `len` elements at `base`.
/// 2. The address of element `index` is a multiple of `N * size_of::<T>()` where that is 8 or 16.
/// 3. Nobody else reads or writes the elements meanwhile.
#[inline(always)]
pub unsafe fn store<T: Pod, const N: usize>(_: Space, base: *mut T, _len: usize, index: usize, values: [T; N]) {
    // SAFETY: (1), (2), (3) are the caller's.
    unsafe {
        let first = base.add(index);
        match N * size_of::<T>() {
            16 => first.cast::<Aligned16<[T; N]>>().write(Aligned16(values)),
            8 => first.cast::<Aligned8<[T; N]>>().write(Aligned8(values)),
            _ => first.cast::<[T; N]>().write(values),
        }
    }
}

#[inline(always)]
fn shared_address<T>(pointer: *const T) -> u32 {
    // SAFETY: turns a pointer into a number.
    unsafe { __cuda_std_shared_address(pointer.cast()) }
}

#[inline(always)]
fn global_address<T>(pointer: *const T) -> u64 {
    // SAFETY: turns a pointer into a number.
    unsafe { __cuda_std_global_address(pointer.cast()) }
}

/// A load that is evicted first (`ld.global.cs`): for data that is read once.
///
/// # Safety
/// As for [`load`].
#[inline(always)]
pub unsafe fn load_streaming<T: Pod, const N: usize>(base: *const T, len: usize, index: usize) -> [T; N] {
    // SAFETY: (1), (2), (3) of `load` are the caller's; the copies keep size and hold plain data.
    unsafe {
        let address = global_address(base.add(index));
        match N * size_of::<T>() {
            16 => {
                let (a, b, c, d): (u32, u32, u32, u32);
                asm!(
                    "ld.global.cs.v4.u32 {{{0}, {1}, {2}, {3}}}, [{4}];",
                    out(reg32) a, out(reg32) b, out(reg32) c, out(reg32) d, in(reg64) address,
                    options(readonly, nostack),
                );
                core::mem::transmute_copy(&[a, b, c, d])
            }
            8 => {
                let (a, b): (u32, u32);
                asm!(
                    "ld.global.cs.v2.u32 {{{0}, {1}}}, [{2}];",
                    out(reg32) a, out(reg32) b, in(reg64) address,
                    options(readonly, nostack),
                );
                core::mem::transmute_copy(&[a, b])
            }
            4 => {
                let a: u32;
                asm!(
                    "ld.global.cs.u32 {0}, [{1}];",
                    out(reg32) a, in(reg64) address,
                    options(readonly, nostack),
                );
                core::mem::transmute_copy(&a)
            }
            _ => load(Space::Global, base, len, index),
        }
    }
}

/// # Safety
/// 1. `index` is at most the length of the view: prefetching past the end has no effect but must
///    stay within the allocation's address range.
#[inline(always)]
pub unsafe fn prefetch_l2<T: Pod>(base: *const T, _len: usize, index: usize) {
    // SAFETY: a prefetch has no visible effect; (1) keeps the address computation in bounds.
    unsafe {
        let address = global_address(base.add(index));
        asm!("prefetch.global.L2 [{0}];", in(reg64) address, options(nostack));
    }
}

#[inline(always)]
pub fn dynamic_shared() -> (*mut u8, usize) {
    let bytes: u32;
    // SAFETY: reads a special register and a symbol's address.
    let base = unsafe {
        asm!("mov.u32 {0}, %dynamic_smem_size;", out(reg32) bytes, options(pure, nomem, nostack));
        __cuda_std_dynamic_shared()
    };
    (base, bytes as usize)
}

// ---- asynchronous copies -------------------------------------------------------------------

/// # Safety
/// 1. `source_index..source_index + N` lies within the source, but for the part behind
///    `source_bytes`, which is not read.
/// 2. `index..index + N` lies within the destination.
/// 3. Both addresses are multiples of `N * size_of::<T>()`, which is 4, 8 or 16.
/// 4. Until the copy has been waited for nobody writes the source or touches the destination.
#[inline(always)]
pub unsafe fn async_copy<T: Pod, const N: usize>(
    base: *mut T,
    len: usize,
    index: usize,
    source: *const T,
    source_len: usize,
    source_index: usize,
    source_bytes: u32,
) {
    #[cfg(cuda_arch_at_least = "80")]
    // SAFETY: (1) to (4) are the caller's.
    unsafe {
        let _ = (len, source_len);
        let to = shared_address(base.add(index));
        let from = global_address(source.wrapping_add(source_index));
        match N * size_of::<T>() {
            16 => asm!("cp.async.cg.shared.global [{0}], [{1}], 16, {2};", in(reg32) to, in(reg64) from, in(reg32) source_bytes, options(nostack)),
            8 => asm!("cp.async.ca.shared.global [{0}], [{1}], 8, {2};", in(reg32) to, in(reg64) from, in(reg32) source_bytes, options(nostack)),
            _ => asm!("cp.async.ca.shared.global [{0}], [{1}], 4, {2};", in(reg32) to, in(reg64) from, in(reg32) source_bytes, options(nostack)),
        }
    }
    #[cfg(not(cuda_arch_at_least = "80"))]
    // SAFETY: (1) to (4) are the caller's; elements behind `source_bytes` are not read.
    unsafe {
        let present = source_bytes as usize / size_of::<T>();
        let values: [T; N] = if present >= N {
            load(Space::Global, source, source_len, source_index)
        } else {
            core::array::from_fn(|i| {
                if i < present { source.add(source_index + i).read() } else { T::zeroed() }
            })
        };
        store(Space::Shared, base, len, index, values);
    }
}

/// The same with all of the source present.
///
/// # Safety
/// As for [`async_copy`], with `source_bytes` the whole copy.
#[inline(always)]
pub unsafe fn async_copy_whole<T: Pod, const N: usize>(
    base: *mut T,
    len: usize,
    index: usize,
    source: *const T,
    source_len: usize,
    source_index: usize,
) {
    #[cfg(cuda_arch_at_least = "80")]
    // SAFETY: (1) to (4) are the caller's.
    unsafe {
        let _ = (len, source_len);
        let to = shared_address(base.add(index));
        let from = global_address(source.add(source_index));
        match N * size_of::<T>() {
            16 => asm!("cp.async.cg.shared.global [{0}], [{1}], 16;", in(reg32) to, in(reg64) from, options(nostack)),
            8 => asm!("cp.async.ca.shared.global [{0}], [{1}], 8;", in(reg32) to, in(reg64) from, options(nostack)),
            _ => asm!("cp.async.ca.shared.global [{0}], [{1}], 4;", in(reg32) to, in(reg64) from, options(nostack)),
        }
    }
    #[cfg(not(cuda_arch_at_least = "80"))]
    // SAFETY: (1) to (4) are the caller's.
    unsafe {
        let values: [T; N] = load(Space::Global, source, source_len, source_index);
        store(Space::Shared, base, len, index, values);
    }
}

#[inline(always)]
pub fn async_commit() {
    #[cfg(cuda_arch_at_least = "80")]
    // SAFETY: closes the group of copies that this thread issued.
    unsafe {
        asm!("cp.async.commit_group;", options(nostack))
    };
}

#[inline(always)]
pub fn async_wait<const PENDING: u32>() {
    #[cfg(cuda_arch_at_least = "80")]
    // SAFETY: waits for this thread's copies.
    unsafe {
        asm!("cp.async.wait_group {0};", const PENDING, options(nostack))
    };
}

// ---- atomics -----------------------------------------------------------------------------------

/// A word on which the GPU has atomic operations.
pub trait AtomicWord: Pod {
    unsafe fn add(space: Space, base: *mut Self, len: usize, index: usize, value: Self) -> Self;
}

/// An integer word: the further operations.
pub trait AtomicInteger: AtomicWord {
    unsafe fn rmw_min(space: Space, base: *mut Self, len: usize, index: usize, value: Self) -> Self;
    unsafe fn rmw_max(space: Space, base: *mut Self, len: usize, index: usize, value: Self) -> Self;
    unsafe fn rmw_and(space: Space, base: *mut Self, len: usize, index: usize, value: Self) -> Self;
    unsafe fn rmw_or(space: Space, base: *mut Self, len: usize, index: usize, value: Self) -> Self;
    unsafe fn rmw_xor(space: Space, base: *mut Self, len: usize, index: usize, value: Self) -> Self;
    unsafe fn rmw_exchange(space: Space, base: *mut Self, len: usize, index: usize, value: Self) -> Self;
    unsafe fn compare_exchange(space: Space, base: *mut Self, len: usize, index: usize, current: Self, new: Self) -> Self;
    unsafe fn load(space: Space, base: *mut Self, len: usize, index: usize) -> Self;
    unsafe fn store(space: Space, base: *mut Self, len: usize, index: usize, value: Self);
}

macro_rules! atomic {
    ($function:ident, $word:ty, $class:ident, $instruction:expr) => {
        #[inline(always)]
        unsafe fn $function(space: Space, base: *mut Self, _len: usize, index: usize, value: Self) -> Self {
            let old: $word;
            // SAFETY: the caller's element is valid; the instruction is atomic (PTX ISA 8.0,
            // 9.7.12.4), relaxed, with the scope of the device.
            unsafe {
                let pointer = base.add(index);
                if let Space::Shared = space {
                    asm!(concat!("atom.shared.", $instruction, " {0}, [{1}], {2};"),
                        out($class) old, in(reg32) shared_address(pointer), in($class) value, options(nostack));
                } else {
                    asm!(concat!("atom.global.", $instruction, " {0}, [{1}], {2};"),
                        out($class) old, in(reg64) global_address(pointer), in($class) value, options(nostack));
                }
            }
            old
        }
    };
}

macro_rules! atomic_integer {
    ($word:ty, $class:ident, $bits:expr, $ordered:expr, $unsigned:expr) => {
        impl AtomicWord for $word {
            atomic!(add, $word, $class, concat!("add.", $unsigned));
        }
        impl AtomicInteger for $word {
            atomic!(rmw_min, $word, $class, concat!("min.", $ordered));
            atomic!(rmw_max, $word, $class, concat!("max.", $ordered));
            atomic!(rmw_and, $word, $class, concat!("and.", $bits));
            atomic!(rmw_or, $word, $class, concat!("or.", $bits));
            atomic!(rmw_xor, $word, $class, concat!("xor.", $bits));
            atomic!(rmw_exchange, $word, $class, concat!("exch.", $bits));

            #[inline(always)]
            unsafe fn compare_exchange(space: Space, base: *mut Self, _len: usize, index: usize, current: Self, new: Self) -> Self {
                let old: $word;
                // SAFETY: as for the other atomics.
                unsafe {
                    let pointer = base.add(index);
                    if let Space::Shared = space {
                        asm!(concat!("atom.shared.cas.", $bits, " {0}, [{1}], {2}, {3};"),
                            out($class) old, in(reg32) shared_address(pointer), in($class) current, in($class) new, options(nostack));
                    } else {
                        asm!(concat!("atom.global.cas.", $bits, " {0}, [{1}], {2}, {3};"),
                            out($class) old, in(reg64) global_address(pointer), in($class) current, in($class) new, options(nostack));
                    }
                }
                old
            }

            #[inline(always)]
            unsafe fn load(space: Space, base: *mut Self, _len: usize, index: usize) -> Self {
                let value: $word;
                // SAFETY: as for the other atomics.
                unsafe {
                    let pointer = base.add(index);
                    if let Space::Shared = space {
                        asm!(concat!("ld.relaxed.gpu.shared.", $bits, " {0}, [{1}];"),
                            out($class) value, in(reg32) shared_address(pointer), options(nostack));
                    } else {
                        asm!(concat!("ld.relaxed.gpu.global.", $bits, " {0}, [{1}];"),
                            out($class) value, in(reg64) global_address(pointer), options(nostack));
                    }
                }
                value
            }

            #[inline(always)]
            unsafe fn store(space: Space, base: *mut Self, _len: usize, index: usize, value: Self) {
                // SAFETY: as for the other atomics.
                unsafe {
                    let pointer = base.add(index);
                    if let Space::Shared = space {
                        asm!(concat!("st.relaxed.gpu.shared.", $bits, " [{0}], {1};"),
                            in(reg32) shared_address(pointer), in($class) value, options(nostack));
                    } else {
                        asm!(concat!("st.relaxed.gpu.global.", $bits, " [{0}], {1};"),
                            in(reg64) global_address(pointer), in($class) value, options(nostack));
                    }
                }
            }
        }
    };
}
atomic_integer!(u32, reg32, "b32", "u32", "u32");
atomic_integer!(i32, reg32, "b32", "s32", "u32");
atomic_integer!(u64, reg64, "b64", "u64", "u64");
atomic_integer!(i64, reg64, "b64", "s64", "u64");

impl AtomicWord for f32 {
    atomic!(add, f32, reg32, "add.f32");
}
impl AtomicWord for f64 {
    atomic!(add, f64, reg64, "add.f64");
}

// ---- arithmetic --------------------------------------------------------------------------------

#[inline(always)]
pub fn mul_add_f32(a: f32, b: f32, c: f32) -> f32 {
    // SAFETY: arithmetic on values.
    unsafe { fma_f32(a, b, c) }
}

#[inline(always)]
pub fn mul_add_f64(a: f64, b: f64, c: f64) -> f64 {
    // SAFETY: arithmetic on values.
    unsafe { fma_f64(a, b, c) }
}

#[inline(always)]
pub fn f16_to_f32(bits: u16) -> f32 {
    let value: f32;
    // SAFETY: arithmetic on values.
    unsafe { asm!("cvt.f32.f16 {0}, {1};", out(reg32) value, in(reg16) bits, options(pure, nomem, nostack)) };
    value
}

#[inline(always)]
pub fn f32_to_f16(value: f32) -> u16 {
    let bits: u16;
    // SAFETY: arithmetic on values.
    unsafe { asm!("cvt.rn.f16.f32 {0}, {1};", out(reg16) bits, in(reg32) value, options(pure, nomem, nostack)) };
    bits
}

/// A kernel that panics stops its launch with an error that the host sees.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    // SAFETY: ends the launch.
    unsafe { asm!("trap;", options(noreturn, nomem, nostack)) }
}
