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

/// The memory space of a view.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Space {
    Global,
    Shared,
    Constant,
}

/// States to LLVM that an address is a multiple of 2, so that one instruction moves all elements.
#[repr(C, align(2))]
#[derive(Clone, Copy)]
struct Aligned2<T>(T);

/// [`Aligned2`] for multiples of 4.
#[repr(C, align(4))]
#[derive(Clone, Copy)]
struct Aligned4<T>(T);

/// [`Aligned2`] for multiples of 8.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Aligned8<T>(T);

/// [`Aligned2`] for multiples of 16.
#[repr(C, align(16))]
#[derive(Clone, Copy)]
struct Aligned16<T>(T);

/// The bytes of a vector access. A single element is aligned to its type.
///
/// Match on it in a `const` block: otherwise LLVM sees all arms, and reduces them to single-element
/// accesses.
const fn vector_bytes<T, const N: usize>() -> usize {
    if N > 1 { N * size_of::<T>() } else { 0 }
}

/// Whether one instruction moves the elements as a vector.
const fn is_vector<T, const N: usize>() -> bool {
    matches!(vector_bytes::<T, N>(), 4 | 8 | 16)
}

/// Elements `index..index + N`.
///
/// # Safety
/// 1. The elements lie within the `len` elements at `base`, and have been written.
/// 2. If N > 1 and `N * size_of::<T>()` is 2, 4, 8 or 16, the address of element `index` is a multiple
///    of it.
/// 3. No thread writes the elements meanwhile.
#[inline(always)]
pub unsafe fn load<T: Pod, const N: usize>(
    space: Space,
    base: *const T,
    _len: usize,
    index: usize,
) -> [T; N] {
    if const { is_vector::<T, N>() } && space == Space::Global {
        // SAFETY: the caller's contract.
        return unsafe { load_global(Operator::Plain, base, index) };
    }
    // SAFETY: the caller's contract.
    unsafe {
        let first = base.add(index);
        match const { vector_bytes::<T, N>() } {
            16 => first.cast::<Aligned16<[T; N]>>().read().0,
            8 => first.cast::<Aligned8<[T; N]>>().read().0,
            4 => first.cast::<Aligned4<[T; N]>>().read().0,
            2 => first.cast::<Aligned2<[T; N]>>().read().0,
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
    if const { is_vector::<T, N>() } {
        // SAFETY: the caller's contract.
        return unsafe { load_global(Operator::ReadOnly, base, index) };
    }
    // SAFETY: the caller's contract.
    unsafe { load(Space::Global, base, len, index) }
}

/// Writes elements `index..index + N`.
///
/// # Safety
/// 1. The elements lie within the `len` elements at `base`.
/// 2. If N > 1 and `N * size_of::<T>()` is 2, 4, 8 or 16, the address of element `index` is a multiple
///    of it.
/// 3. No other thread reads or writes the elements meanwhile.
#[inline(always)]
pub unsafe fn store<T: Pod, const N: usize>(
    space: Space,
    base: *mut T,
    _len: usize,
    index: usize,
    values: [T; N],
) {
    if const { vector_bytes::<T, N>() == 16 } && space == Space::Global {
        // SAFETY: the caller's contract.
        return unsafe { store_16(base, index, &values) };
    }
    // SAFETY: the caller's contract.
    unsafe {
        let first = base.add(index);
        match const { vector_bytes::<T, N>() } {
            16 => first.cast::<Aligned16<[T; N]>>().write(Aligned16(values)),
            8 => first.cast::<Aligned8<[T; N]>>().write(Aligned8(values)),
            4 => first.cast::<Aligned4<[T; N]>>().write(Aligned4(values)),
            2 => first.cast::<Aligned2<[T; N]>>().write(Aligned2(values)),
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
    /// L1 and L2, in lines that are evicted first (`.cs`).
    Streaming,
}

/// Loads elements `index..index + N` of global memory, 4, 8 or 16 bytes, through the given caches.
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
    let operator = match cache {
        Cache::All => Operator::All,
        Cache::L2 => Operator::L2,
        Cache::Streaming => Operator::Streaming,
    };
    // SAFETY: the caller's contract.
    unsafe { load_global(operator, base, index) }
}

/// The cache operator of a load from global memory.
#[derive(Clone, Copy)]
enum Operator {
    /// The GPU's default.
    Plain,
    /// For memory that the launch does not write (`.nc`).
    ReadOnly,
    All,
    L2,
    Streaming,
}

/// Loads elements `index..index + N` of global memory in one instruction that LLVM cannot split. (LLVM splits a
/// vector whose elements another branch loads one by one.)
///
/// # Safety
/// As for [`load_cached`].
#[inline(always)]
unsafe fn load_global<T: Pod, const N: usize>(
    operator: Operator,
    base: *const T,
    index: usize,
) -> [T; N] {
    // SAFETY: `index` lies within the elements: the caller's contract.
    let address = global_address(unsafe { base.add(index) });
    // SAFETY: the caller's contract. Each copy has as many bytes as the elements, which are plain
    // data.
    unsafe {
        match const { (N * size_of::<T>(), size_of::<T>()) } {
            (16, 8) => core::mem::transmute_copy(&load_two_longs(operator, address)),
            (16, _) => core::mem::transmute_copy(&load_16(operator, address)),
            (8, 8) => core::mem::transmute_copy(&load_long(operator, address)),
            (8, _) => core::mem::transmute_copy(&load_8(operator, address)),
            _ => core::mem::transmute_copy(&load_4(operator, address)),
        }
    }
}

/// The instruction with its operator, a compile-time constant.
macro_rules! load_with_operator {
    ($operator:expr, $width:literal, $operands:literal, $($operand:tt)*) => {
        match $operator {
            Operator::Plain => asm!(concat!("ld.global", $width, $operands), $($operand)*
                options(pure, readonly, nostack)),
            Operator::ReadOnly => asm!(concat!("ld.global.nc", $width, $operands), $($operand)*
                options(pure, readonly, nostack)),
            Operator::All => asm!(concat!("ld.global.ca", $width, $operands), $($operand)*
                options(readonly, nostack)),
            Operator::L2 => asm!(concat!("ld.global.cg", $width, $operands), $($operand)*
                options(readonly, nostack)),
            Operator::Streaming => asm!(concat!("ld.global.cs", $width, $operands), $($operand)*
                options(readonly, nostack)),
        }
    };
}

macro_rules! loads {
    ($($(#[$doc:meta])* $name:ident($width:literal, $operands:literal, $register:ident)
        -> [$word:ty; $count:literal]: $($value:ident)*;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        unsafe fn $name(operator: Operator, address: u64) -> [$word; $count] {
            $(let $value: $word;)*
            // SAFETY: the caller's contract.
            unsafe {
                load_with_operator!(
                    operator,
                    $width,
                    $operands,
                    $($value = out($register) $value,)*
                    address = in(reg64) address,
                );
            }
            [$($value),*]
        }
    )*};
}
loads! {
    /// # Safety
    /// 1. The 16 bytes at `address` lie in global memory, and no thread writes them meanwhile.
    /// 2. The address is a multiple of 16.
    load_16(".v4.b32", " {{{a}, {b}, {c}, {d}}}, [{address}];", reg32) -> [u32; 4]: a b c d;
    /// # Safety
    /// As for [`load_16`].
    load_two_longs(".v2.b64", " {{{a}, {b}}}, [{address}];", reg64) -> [u64; 2]: a b;
    /// # Safety
    /// As for [`load_16`], with 8 bytes.
    load_8(".v2.b32", " {{{a}, {b}}}, [{address}];", reg32) -> [u32; 2]: a b;
    /// # Safety
    /// As for [`load_8`].
    load_long(".b64", " {a}, [{address}];", reg64) -> [u64; 1]: a;
    /// # Safety
    /// As for [`load_16`], with 4 bytes.
    load_4(".b32", " {a}, [{address}];", reg32) -> [u32; 1]: a;
}

/// Writes elements `index..index + N` of global memory, 16 bytes, in one instruction that LLVM cannot split (see
/// [`load_global`]).
///
/// # Safety
/// As for [`store`].
#[inline(always)]
unsafe fn store_16<T: Pod, const N: usize>(base: *mut T, index: usize, values: &[T; N]) {
    // SAFETY: `index` lies within the elements: the caller's contract.
    let address = global_address(unsafe { base.add(index) });
    // SAFETY: the caller's contract. The elements are plain data, and each copy has as many bytes.
    unsafe {
        if const { size_of::<T>() == 8 } {
            let [a, b]: [u64; 2] = core::mem::transmute_copy(values);
            asm!("st.global.v2.b64 [{0}], {{{1}, {2}}};", in(reg64) address, in(reg64) a,
                in(reg64) b, options(nostack));
        } else {
            let [a, b, c, d]: [u32; 4] = core::mem::transmute_copy(values);
            asm!("st.global.v4.b32 [{0}], {{{1}, {2}, {3}, {4}}};", in(reg64) address, in(reg32) a,
                in(reg32) b, in(reg32) c, in(reg32) d, options(nostack));
        }
    }
}

/// Prefetches the cache line of element `index` into L2.
///
/// # Safety
/// 1. `index` lies within the `len` elements at `base`.
#[inline(always)]
pub unsafe fn prefetch_l2<T: Pod>(base: *const T, _len: usize, index: usize) {
    // SAFETY: the caller's contract. A prefetch changes no memory.
    unsafe {
        let address = global_address(base.add(index));
        asm!("prefetch.global.L2 [{0}];", in(reg64) address, options(readonly, nostack));
    }
}

/// Does nothing: the caller guarantees that `count` elements from `place` lie in one row of a tile
/// of `extent` rows and columns.
#[inline(always)]
pub fn check_in_tile(_place: (usize, usize), _count: usize, _extent: (usize, usize)) {}

/// The first element of a static array: the module's own array.
#[inline(always)]
pub fn static_array<T>(first: *mut T) -> *mut T {
    first
}

/// The launch's dynamic shared memory: its address, a multiple of 128, and its size in bytes.
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

/// [`dynamic_shared`] at a multiple of 1024, for swizzled tiles.
#[inline(always)]
pub fn dynamic_shared_of_tiles() -> (*mut u8, usize) {
    let (_, bytes) = dynamic_shared();
    // SAFETY: reads a symbol's address.
    (unsafe { __cuda_std_dynamic_shared_of_tiles() }, bytes)
}

/// Converts a pointer to an address for instructions on shared memory.
#[inline(always)]
pub fn shared_address<T>(pointer: *const T) -> u32 {
    // SAFETY: turns a pointer into a number.
    unsafe { __cuda_std_shared_address(pointer.cast()) }
}

/// Converts a pointer to an address for instructions on global memory.
#[inline(always)]
pub(super) fn global_address<T>(pointer: *const T) -> u64 {
    // SAFETY: turns a pointer into a number.
    unsafe { __cuda_std_global_address(pointer.cast()) }
}
