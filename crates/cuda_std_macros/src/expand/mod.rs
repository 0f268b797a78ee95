//! What the attribute leaves in its place: an entry for the GPU, a descriptor for the host. The compiler, where it
//! is known, is given the one that it compiles for, and does not read the other only to leave it out.
//!
//! No name of the kernel's crate can take the place of what this code means: paths begin at the crates that
//! the compiler was given ([`device_library`](crate::compiler::device_library)), and primitive types at `core`.

mod common;
mod device;
mod host;

use crate::compiler::Target;
use crate::parse::KernelFunction;
use proc_macro2::TokenStream;
use quote::quote;

pub fn expand(kernel: &KernelFunction) -> TokenStream {
    let target = Target::of_compiler();
    let entry = target.may_be_gpu().then(|| device::entry(kernel));
    let descriptor = target.may_be_host().then(|| host::descriptor(kernel));
    quote! { #entry #descriptor }
}
