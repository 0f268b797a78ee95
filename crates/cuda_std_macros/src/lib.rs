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
/// On `nvptx64` the function becomes a PTX entry of its name. On every other target it becomes the kernel's
/// descriptor: a type of that name that implements `cuda_std::kernel::Kernel`, to launch on a GPU or in the
/// simulator, and a function of the same name as its value. Safe code can launch a kernel that is a safe `fn`.
///
/// A kernel has at most 16 parameters. The views and textures must be written by these names:
///
/// | parameter | meaning | in PTX |
/// |---|---|---|
/// | a number, a `bool` | a value | a parameter of its type |
/// | an array of numbers, a struct of them without padding (`bytemuck::Pod`) | a value | a block of bytes |
/// | `Global<T>` | elements that no thread writes during the launch | a pointer and a length |
/// | `GlobalMut<T>`, `GlobalAtomic<T>` | elements that the launch may write | a pointer and a length |
/// | `GlobalMatrix<T>`, `GlobalMatrixMut<T>` | the same for matrices | a pointer, rows, columns and leading dimension |
/// | `GridConstant<T>` | a block of bytes that the kernel reads in place, such as a tensor map | a block of bytes |
/// | `Texture1d`, `Texture2d` | a texture | its handle |
///
/// A view ends with its launch and stays with its thread: its type has a lifetime, which parameters omit, and is
/// neither `Send` nor `Sync`. So a kernel cannot keep a view for a later launch.
///
/// Kernels may use `core` and `cuda_std`; there is no operating system. They must not use thread-locals, nor keep a
/// future in one. In a host program a thread-local compiles, but the simulator runs the threads of many blocks in
/// turns on one host thread. They would all see the variable, and a reference in it, as the crate `scoped-tls` keeps
/// them, could outlive its target. A variable whose initialiser waits is replaced while another thread borrows its
/// value.
///
/// A library with kernels is also compiled for the GPU. So its build for the host rejects code that a GPU does not
/// support:
///
/// - a crate without `#![no_std]`;
/// - float methods of the standard library, which a `no_std` crate sees if a dependency uses `std`;
/// - `extern crate alloc`, `println!`, `thread_local!` and similar;
/// - a static that threads can write, which the simulator cannot check;
/// - a shared array of generic length;
/// - two kernels of one name, because PTX entries have no paths.
///
/// Items under `#[cfg(test)]` or `#[cfg(not(target_arch = "nvptx64"))]` are not checked. Neither are the kernels of
/// programs, tests and documentation, which run only in the simulator.
///
/// `#[kernel(max_threads = 256, min_blocks = 2, max_registers = 128)]` sets launch bounds: the maximum threads per
/// block (up to 1024), the minimum resident blocks per multiprocessor, and the maximum registers per thread (up to
/// 255). Each is optional, and a constant of type u32, such as `THREADS` or `TILE.threads`.
///
/// A `#[kernel(cooperative)]` is launched with all of its blocks resident at once, so they can wait for each other.
/// Its first parameter is a `GridGroup`, which the host does not pass.
///
/// A `#[kernel(arch = "sm_90", dependent_launch)]` may start while the kernel before it in the stream still runs, so
/// work before `dependent_launch::wait` costs no time. It must be an `unsafe fn`: each of its threads must make that
/// call before it accesses global memory or ends.
///
/// `#[kernel(arch = "sm_90a", cluster = (2, 1, 1))]` requires an architecture: images for older ones do not have the
/// kernel, and its body, which may use that architecture's features, is not compiled for them. A suffix `a` means
/// only that architecture. `cluster` launches the blocks in clusters of this many in x, y and z, at most 8 in all,
/// from `sm_90`.
///
/// The crate must depend on `tilewright-cuda-std` or on `tilewright`, under any name. The expansion's paths begin
/// there, whatever names are in scope.
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

/// Makes the simulator count a function's loops by round, as it does a kernel's.
///
/// The accesses of a warp's lanes in the same round are then one request, even if some lanes skip rounds. On a GPU
/// the attribute changes nothing. Unlike CUDA C++'s `__device__` it is optional: kernels can call any function.
///
/// Functions and methods that are `const` cannot have it.
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
