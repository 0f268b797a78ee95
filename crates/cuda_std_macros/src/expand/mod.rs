//! What the attribute leaves in its place: an entry for the GPU, a descriptor for the host. The compiler, where it
//! is known, is given the one that it compiles for, and does not read the other only to leave it out.
//!
//! Paths start with `cuda_std` and not with `::cuda_std`: it is either the crate that the kernel's
//! crate depends on, or what `use tilewright::cuda_std::prelude::*` brings into scope.

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
