//! What the entry and the descriptor have in common.

use crate::compiler::{device_library, device_library_at};
use crate::parse::{KernelFunction, Parameter, Passing, View};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
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
    let cuda_std = device_library();
    kernel.bounds.cooperative.then(|| {
        quote! { #cuda_std::cooperative_groups::GridGroup::of_cooperative_launch(), }
    })
}

pub fn layout_of_value(ty: &Type) -> TokenStream {
    let cuda_std = device_library();
    quote! {
        #cuda_std::signature::Layout::of::<<#ty as #cuda_std::grid_constant::ByValue>::Value>()
    }
}

/// What tells the kernel from others of its name: where it is declared, its parameters, and what it asks of its
/// launches.
pub fn signature(kernel: &KernelFunction) -> TokenStream {
    let cuda_std = device_library();
    let name = &kernel.function.sig.ident;
    let types = kernel.parameters.iter().map(|parameter| {
        // Two compilers may print one type with other spaces.
        let text = parameter.ty.to_token_stream().to_string();
        text.split_whitespace().collect::<String>()
    });
    // A source may have a kernel for each target by one name: the one that the host launches asks of its launches
    // what the entry does.
    let safety = if kernel.is_unsafe() { "unsafe:" } else { "" };
    let residency = if kernel.bounds.cooperative {
        "cooperative:"
    } else {
        ""
    };
    let types = types.collect::<Vec<_>>().join(",");
    let source = format!("::{name}({types}){safety}{residency}");
    let layouts = kernel
        .parameters
        .iter()
        .map(|Parameter { ty, passing, .. }| {
            let element = match passing {
                Passing::View(_) => quote! { <#ty as #cuda_std::global::View>::Element },
                Passing::GridConstant => return layout_of_value(ty),
                Passing::Scalar => {
                    return quote! { #cuda_std::signature::Layout::of_scalar::<#ty>() };
                }
                Passing::Texture { .. } | Passing::Block => quote! { #ty },
            };
            quote! { #cuda_std::signature::Layout::of::<#element>() }
        });
    quote! {
        #cuda_std::signature::Signature::new(
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

/// Compiles only if the parameter crosses as its type's name says. Both targets have it: an alias may name
/// one type on the host and another on the GPU.
pub fn parameter_check(parameter: &Parameter) -> TokenStream {
    let ty = &parameter.ty;
    let cuda_std = device_library_at(ty.span());
    match parameter.passing {
        Passing::Texture { dimensions } => {
            quote_spanned! { ty.span() => #cuda_std::parameter::assert_texture::<#ty>(#dimensions); }
        }
        Passing::GridConstant => {
            quote_spanned! { ty.span() => #cuda_std::parameter::assert_grid_constant::<#ty>(); }
        }
        Passing::Scalar => {
            quote_spanned! { ty.span() => #cuda_std::parameter::assert_scalar::<#ty>(); }
        }
        Passing::Block => {
            quote_spanned! { ty.span() => #cuda_std::parameter::assert_block::<#ty>(); }
        }
        Passing::View(view) => {
            let kind = format_ident!("{}", view.name);
            let kind = quote! { #cuda_std::global::ViewKind::#kind };
            quote_spanned! { ty.span() => #cuda_std::parameter::assert_view::<#ty>(#kind); }
        }
    }
}
