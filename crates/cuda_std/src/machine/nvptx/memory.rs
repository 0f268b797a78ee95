//! Loads and stores (PTX ISA, 9.7.9).

use bytemuck::Pod;
use core::arch::asm;

// Supplied by the builder as LLVM IR, which has the address spaces that Rust lacks.
unsafe extern "C" {
    fn __cuda_std_dynamic_shared() -> *mut u8;
    fn __cuda_std_dynamic_shared_of_tiles() -> *mut u8;
    fn __cuda_std_shared_address(pointer: *const u8) -> u32;
    fn __cuda_std_global_address(pointer: *const u8) -> u64;
}

/// Where a view's memory lies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Space {
    Global,
    Shared,
    Constant,
}

/// Tells LLVM that an address is a multiple of 4, so that one instruction moves all elements.
#[repr(C, align(4))]
#[derive(Clone, Copy)]
struct Aligned4<T>(T);

/// The same for multiples of 8.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Aligned8<T>(T);

/// The same for multiples of 16.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Aligned16<T>(T);

/// The bytes of one access, if it is of a vector; a single element is aligned as its type says.
///
/// To be matched on in a `const` block: otherwise LLVM meets all arms at once, and what it leaves
/// of them are single-element accesses.
const fn vector_bytes<T, const N: usize>() -> usize {
    if N > 1 { N * size_of::<T>() } else { 0 }
}

/// Elements `index..index + N`.
///
/// # Safety
/// 1. The elements lie within the `len` elements at `base`, and have been written.
/// 2. Where N > 1 and `N * size_of::<T>()` is 4, 8 or 16, the address of element `index` is a
///    multiple of that.
/// 3. No thread writes the elements meanwhile.
#[inline(always)]
pub unsafe fn load<T: Pod, const N: usize>(
    _space: Space,
    base: *const T,
    _len: usize,
    index: usize,
) -> [T; N] {
    // SAFETY: (1), (2), (3) are the caller's.
    unsafe {
        let first = base.add(index);
        match const { vector_bytes::<T, N>() } {
            16 => first.cast::<Aligned16<[T; N]>>().read().0,
            8 => first.cast::<Aligned8<[T; N]>>().read().0,
            4 => first.cast::<Aligned4<[T; N]>>().read().0,
            _ => first.cast::<[T; N]>().read(),
        }
    }
}

/// [`load`] of global memory that the launch does not write: the parameter's `noalias readonly` makes
/// it `ld.global.nc`.
///
/// # Safety
/// As for [`load`].
#[inline(always)]
pub unsafe fn load_read_only<T: Pod, const N: usize>(
    base: *const T,
    len: usize,
    index: usize,
) -> [T; N] {
    // SAFETY: (1), (2), (3) are the caller's.
    unsafe { load(Space::Global, base, len, index) }
}

/// Writes elements `index..index + N`.
///
/// # Safety
/// 1. The elements lie within the `len` elements at `base`.
/// 2. Where N > 1 and `N * size_of::<T>()` is 4, 8 or 16, the address of element `index` is a
///    multiple of that.
/// 3. No other thread reads or writes the elements meanwhile.
#[inline(always)]
pub unsafe fn store<T: Pod, const N: usize>(
    _space: Space,
    base: *mut T,
    _len: usize,
    index: usize,
    values: [T; N],
) {
    // SAFETY: (1), (2), (3) are the caller's.
    unsafe {
        let first = base.add(index);
        match const { vector_bytes::<T, N>() } {
            16 => first.cast::<Aligned16<[T; N]>>().write(Aligned16(values)),
            8 => first.cast::<Aligned8<[T; N]>>().write(Aligned8(values)),
            4 => first.cast::<Aligned4<[T; N]>>().write(Aligned4(values)),
            _ => first.cast::<[T; N]>().write(values),
        }
    }
}

/// Which caches a load from global memory uses (PTX ISA, 9.7.9.1).
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// L1 and L2 (`.ca`).
    All,
    /// L2 alone (`.cg`).
    L2,
    /// L1 and L2, in lines that are the first to be evicted (`.cs`).
    Streaming,
}

/// Elements `index..index + N` of global memory, 4, 8 or 16 bytes, by way of certain caches.
///
/// # Safety
/// 1. The elements lie within the `len` elements at `base`, and have been written.
/// 2. The address of element `index` is a multiple of `N * size_of::<T>()`.
/// 3. No thread writes the elements meanwhile.
#[inline(always)]
pub unsafe fn load_cached<T: Pod, const N: usize>(
    cache: Cache,
    base: *const T,
    _len: usize,
    index: usize,
) -> [T; N] {
    // SAFETY: `index` lies within the elements by (1).
    let address = global_address(unsafe { base.add(index) });
    // SAFETY: (1), (2), (3) are the caller's; each copy has as many bytes as the elements, which
    // are plain data.
    unsafe {
        match const { N * size_of::<T>() } {
            16 => core::mem::transmute_copy(&load_16(cache, address)),
            8 => core::mem::transmute_copy(&load_8(cache, address)),
            _ => core::mem::transmute_copy(&load_4(cache, address)),
        }
    }
}

/// The instruction with the operator of `cache`, which is known when it is compiled.
macro_rules! load_with_operator {
    ($cache:expr, $width:literal, $operands:literal, $($operand:tt)*) => {
        match $cache {
            Cache::All => asm!(concat!("ld.global.ca", $width, $operands), $($operand)*),
            Cache::L2 => asm!(concat!("ld.global.cg", $width, $operands), $($operand)*),
            Cache::Streaming => asm!(concat!("ld.global.cs", $width, $operands), $($operand)*),
        }
    };
}

/// # Safety
/// 1. The 16 bytes at `address` lie in global memory, and no thread writes them meanwhile.
/// 2. The address is a multiple of 16.
#[inline(always)]
unsafe fn load_16(cache: Cache, address: u64) -> [u32; 4] {
    let (a, b, c, d);
    // SAFETY: (1), (2) are the caller's.
    unsafe {
        load_with_operator!(
            cache,
            ".v4.u32",
            " {{{0}, {1}, {2}, {3}}}, [{4}];",
            out(reg32) a,
            out(reg32) b,
            out(reg32) c,
            out(reg32) d,
            in(reg64) address,
            options(readonly, nostack),
        );
    }
    [a, b, c, d]
}

/// # Safety
/// As for [`load_16`], with 8 bytes.
#[inline(always)]
unsafe fn load_8(cache: Cache, address: u64) -> [u32; 2] {
    let (a, b);
    // SAFETY: (1), (2) are the caller's.
    unsafe {
        load_with_operator!(
            cache,
            ".v2.u32",
            " {{{0}, {1}}}, [{2}];",
            out(reg32) a,
            out(reg32) b,
            in(reg64) address,
            options(readonly, nostack),
        );
    }
    [a, b]
}

/// # Safety
/// As for [`load_16`], with 4 bytes.
#[inline(always)]
unsafe fn load_4(cache: Cache, address: u64) -> u32 {
    let value;
    // SAFETY: (1), (2) are the caller's.
    unsafe {
        load_with_operator!(
            cache,
            ".u32",
            " {0}, [{1}];",
            out(reg32) value,
            in(reg64) address,
            options(readonly, nostack),
        );
    }
    value
}

/// Asks for the cache line of element `index` to be brought into L2.
///
/// # Safety
/// 1. `index` lies within the `len` elements at `base`.
#[inline(always)]
pub unsafe fn prefetch_l2<T: Pod>(base: *const T, _len: usize, index: usize) {
    // SAFETY: (1) is the caller's; a prefetch changes no memory.
    unsafe {
        let address = global_address(base.add(index));
        asm!("prefetch.global.L2 [{0}];", in(reg64) address, options(readonly, nostack));
    }
}

/// Nothing: that `count` elements from `place` on lie in one row of a tile of `extent` rows and
/// columns is the caller's promise.
#[inline(always)]
pub fn check_in_tile(_place: (usize, usize), _count: usize, _extent: (usize, usize)) {}

/// The first element of a static array: itself, as the launch's module has it.
#[inline(always)]
pub fn static_array<T>(first: *mut T) -> *mut T {
    first
}

/// The launch's dynamic shared memory: its address, a multiple of 128, and its bytes.
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

/// [`dynamic_shared`] at a multiple of 1024, as swizzled tiles need it.
#[inline(always)]
pub fn dynamic_shared_of_tiles() -> (*mut u8, usize) {
    let (_, bytes) = dynamic_shared();
    // SAFETY: reads a symbol's address.
    (unsafe { __cuda_std_dynamic_shared_of_tiles() }, bytes)
}

/// The address in the shared window, as instructions on shared memory want it.
#[inline(always)]
pub fn shared_address<T>(pointer: *const T) -> u32 {
    // SAFETY: turns a pointer into a number.
    unsafe { __cuda_std_shared_address(pointer.cast()) }
}

/// The address in global memory, as instructions on global memory want it.
#[inline(always)]
pub(super) fn global_address<T>(pointer: *const T) -> u64 {
    // SAFETY: turns a pointer into a number.
    unsafe { __cuda_std_global_address(pointer.cast()) }
}
