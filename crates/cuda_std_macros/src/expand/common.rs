//! What the entry and the descriptor have in common.

use crate::parse::{KernelFunction, Parameter, Passing, View};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident, quote};
use syn::{Attribute, Block, Type};

/// The kernel's own code as a nested function, so that its parameters keep the types and patterns
/// that its source gives them.
pub fn body(kernel: &KernelFunction, block: &Block) -> TokenStream {
    let signature = &kernel.function.sig;
    let (safety, inputs) = (&signature.safety, &signature.inputs);
    quote! {
        #[inline(always)]
        #safety fn body(#inputs) #block
    }
}

/// The function's attributes whose name is one of `names`.
pub fn attributes<'a>(
    kernel: &'a KernelFunction,
    names: &'a [&str],
) -> impl Iterator<Item = &'a Attribute> {
    kernel
        .function
        .attrs
        .iter()
        .filter(|attribute| names.iter().any(|name| attribute.path().is_ident(name)))
}

/// The first argument of a cooperative kernel.
pub fn grid(kernel: &KernelFunction) -> Option<TokenStream> {
    kernel.bounds.cooperative.then(|| {
        quote! { cuda_std::cooperative_groups::GridGroup::of_cooperative_launch(), }
    })
}

pub fn layout_of_value(ty: &Type) -> TokenStream {
    quote! {
        cuda_std::signature::Layout::of::<<#ty as cuda_std::grid_constant::ByValue>::Value>()
    }
}

/// What tells the kernel from others of its name: where it is declared and its parameters.
pub fn signature(kernel: &KernelFunction) -> TokenStream {
    let name = &kernel.function.sig.ident;
    let types = kernel.parameters.iter().map(|parameter| {
        // Two compilers may print one type with other spaces.
        let text = parameter.ty.to_token_stream().to_string();
        text.split_whitespace().collect::<String>()
    });
    let source = format!("::{name}({})", types.collect::<Vec<_>>().join(","));
    let layouts = kernel
        .parameters
        .iter()
        .map(|Parameter { ty, passing, .. }| {
            let element = match passing {
                Passing::View(_) => quote! { <#ty as cuda_std::global::View>::Element },
                Passing::GridConstant => return layout_of_value(ty),
                Passing::Texture { .. } | Passing::Scalar | Passing::Block => quote! { #ty },
            };
            quote! { cuda_std::signature::Layout::of::<#element>() }
        });
    quote! {
        cuda_std::signature::Signature::new(
            ::core::concat!(::core::module_path!(), #source),
            &[#(#layouts),*],
        )
    }
}

/// The name of a parameter in the code that is written here. Names of the source would meet each
/// other: a view `x` needs a length, and `x_len` may be a parameter of its own.
pub fn argument_name(index: usize) -> Ident {
    format_ident!("argument_{index}")
}

/// The names of the numbers beside a view's pointer.
pub fn length_names(index: usize, view: View) -> impl Iterator<Item = Ident> {
    (0..view.lengths).map(move |length| format_ident!("length_{index}_{length}"))
}
