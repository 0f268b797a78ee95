//! What the attribute leaves in its place: an entry for the GPU, a descriptor for the host.
//!
//! Paths start with `cuda_std` and not with `::cuda_std`: it is either the crate that the kernel's
//! crate depends on, or what `use tilewright::cuda_std::prelude::*` brings into scope.

mod common;
mod device;
mod host;

use crate::parse::KernelFunction;
use proc_macro2::TokenStream;
use quote::quote;

pub fn expand(kernel: &KernelFunction) -> TokenStream {
    let entry = device::entry(kernel);
    let descriptor = host::descriptor(kernel);
    quote! { #entry #descriptor }
}
