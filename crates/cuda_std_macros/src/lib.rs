//! The attributes `#[kernel]` and `#[device_function]` of the device-side standard library; see their
//! documentation there.

mod bounds;
mod catalogue;
mod compiler;
mod device_code;
mod device_function;
mod expand;
mod parse;
mod print;
mod rounds;

use proc_macro::TokenStream;
use proc_macro2::Literal;
use quote::ToTokens;

/// Makes a function a GPU kernel.
///
/// On `nvptx64` it becomes a PTX entry under the function's name. On every other target it
/// becomes a type of that name, the kernel as the host sees it: an implementation of
/// `cuda_std::kernel::Kernel` with the parameters' types, to launch on a GPU or in the simulator. A
/// function of the same name stands for its value. A kernel that is a safe `fn` can be launched from
/// safe code.
///
/// Parameters, at most 16, are values and the types below, written by their names. A value is a
/// number, a `bool`, an array of numbers or a struct of them without padding (`bytemuck::Pod`):
/// numbers are PTX parameters of their types, the rest blocks of bytes. A view (`Global<T>`,
/// `GlobalMut<T>`, `GlobalAtomic<T>`) becomes a pointer and a length in the PTX, so that the pointer
/// keeps its address space, and a matrix (`GlobalMatrix<T>`, `GlobalMatrixMut<T>`) a pointer, rows,
/// columns and leading dimension. A `Global` and a `GlobalMatrix` promise the compiler that no thread
/// writes their elements during the launch. A `GridConstant<T>` is a block of bytes that the host
/// passes by value and the kernel reads where it is, such as a tensor map; a `Texture1d` or
/// `Texture2d` is a handle.
///
/// A view ends with its launch and stays with its thread: its type has a lifetime, which a parameter
/// leaves out, and is neither `Send` nor `Sync`. So a kernel cannot keep a view for a later launch.
///
/// A kernel's code is what a GPU runs: `core` and `cuda_std`, without an operating system. In a host
/// program a thread-local variable would compile, but the simulator runs the threads of many blocks
/// on one host thread, in turns: they would all see the variable, and a reference in it, as the crate
/// `scoped-tls` keeps them, could outlive what it refers to. A variable whose initialiser waits is replaced
/// while another thread borrows its value. Kernels must not use thread-locals, nor keep a future in one.
///
/// A library with kernels is compiled for the GPU, too. So the build for the host refuses what a GPU
/// does not have: a crate without `#![no_std]`; the standard library's methods of floats, which
/// `no_std` crates see where a dependency uses `std`; `extern crate alloc`; `println!`, `thread_local!` and
/// the like.
/// It refuses a static that threads can write, which the simulator cannot check, a shared array of
/// generic length, and two kernels of one name, because entries of PTX have no paths. Items under `#[cfg(test)]` or
/// `#[cfg(not(target_arch = "nvptx64"))]` are the host's own. Kernels of programs, tests and
/// documentation run in the simulator alone, and are not checked.
///
/// `#[kernel(max_threads = 256, min_blocks = 2, max_registers = 128)]` bounds the launches: the most
/// threads of a block (up to 1024), the blocks that are to be resident on one multiprocessor, the most
/// registers of a thread (up to 255). Each is optional, and a constant of type u32, such as `THREADS`
/// or `TILE.threads`.
///
/// A `#[kernel(cooperative)]` is launched with all of its blocks resident at once, so that they can
/// wait for each other. Its first parameter is a `GridGroup`, which the host does not give.
///
/// A `#[kernel(arch = "sm_90", dependent_launch)]` may begin while the kernel before it in the stream still
/// runs, so that what it does before `dependent_launch::wait` costs no time. It is an `unsafe fn`: each of its
/// threads makes that call, before it accesses global memory or ends.
///
/// `#[kernel(arch = "sm_90a", cluster = (2, 1, 1))]` needs an architecture: images for older ones do
/// not have the kernel, and its body is not compiled for them, so it may use what only that
/// architecture has. An `a` stands for that architecture alone. `cluster` launches the blocks in
/// clusters of so many in x, y and z, at most 8, from `sm_90` on.
///
/// The crate depends on `tilewright-cuda-std` or on `tilewright`, under any name: the attribute's code begins
/// its paths there, whatever names are in scope.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    let errors = device_code::errors(&item);
    let expanded = bounds::Bounds::from_tokens(arguments.into()).and_then(|bounds| {
        let function = syn::parse2::<syn::ItemFn>(item)?;
        Ok(expand::expand(&parse::KernelFunction::new(
            function, bounds,
        )?))
    });
    let mut tokens = expanded.unwrap_or_else(syn::Error::into_compile_error);
    tokens.extend(errors.into_iter().map(syn::Error::into_compile_error));
    tokens.into()
}

/// Has the simulator's counters tell apart the rounds of a function's loops, as they do those of a kernel: what
/// the lanes of a warp do in one round is one request, though some lanes skip rounds. On a GPU the
/// attribute changes nothing. Kernels call functions without it just as well (CUDA C++'s `__device__` is
/// needed by the compiler; this is not).
///
/// It is for functions and methods that are not `const`.
///
/// ```text
/// #[device_function]
/// fn dot(x: Global<f32>, y: Global<f32>) -> f32 { .. }
/// ```
#[proc_macro_attribute]
pub fn device_function(arguments: TokenStream, item: TokenStream) -> TokenStream {
    device_function::expand(&arguments.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// `cuda_std::gpu_println`; see its documentation there.
#[proc_macro]
pub fn gpu_println(tokens: TokenStream) -> TokenStream {
    print::expand(tokens.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Calls a macro with the rows of a table of kernels, which are all combinations of some alternatives.
///
/// ```text
/// catalogue! { with of tiled;
///     let types = {f32: f32 in f32, f16: f16 in f32};
///     tiled: product_tiled x {_: LARGE, small: SMALL} x types;
/// }
/// ```
///
/// is a call of `with!` with rows such as `tiled product_tiled_small_f16 { SMALL } { f16 in f32 };`: the family,
/// the head and the parts of the alternatives as one name, and what the alternatives mean. `_` adds no part, and
/// a part alone means itself. `types{f16}` is the axis with that alternative alone. `with by types` asks for the
/// rows of all families in groups, each under an alternative: `{ f16 in f32 } { tiled product_tiled_f16 { LARGE }; .. }`.
#[doc(hidden)]
#[proc_macro]
pub fn catalogue(tokens: TokenStream) -> TokenStream {
    catalogue::expand(tokens.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// The fingerprint of this crate's sources: a crate of macros cannot export a constant.
#[doc(hidden)]
#[proc_macro]
pub fn source_hash(_: TokenStream) -> TokenStream {
    Literal::string(env!("SOURCE_HASH"))
        .to_token_stream()
        .into()
}
