//! Code that the entry and the descriptor share.

use crate::compiler::{device_library, device_library_at};
use crate::parse::{KernelFunction, Parameter, Passing, View};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Attribute, Block, Type};

/// The kernel's code as a nested function, whose parameters have the source's types and patterns.
///
/// Its name, like each that the code can see, begins with two underscores, which no function that the code calls has.
pub fn body(kernel: &KernelFunction, block: &Block) -> TokenStream {
    let signature = &kernel.function.sig;
    let (safety, inputs) = (&signature.safety, &signature.inputs);
    quote! {
        #[inline(always)]
        #safety fn __body(#inputs) #block
    }
}

/// The function's attributes with one of these `names`.
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

/// The kernel's signature: its path, its parameters, and its requirements on launches.
pub fn signature(kernel: &KernelFunction) -> TokenStream {
    let cuda_std = device_library();
    let name = kernel.name();
    let types = kernel.parameters.iter().map(|parameter| {
        // Compilers may print a type with different spaces.
        let text = parameter.ty.to_token_stream().to_string();
        text.split_whitespace().collect::<String>()
    });
    // A source may have a kernel of one name for each target. The host's must require of its launches what the entry
    // requires.
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

/// The name of a parameter in generated code. Names derived from the source could collide: a view
/// `x` needs a length, and `x_len` may be another parameter.
pub fn argument_name(index: usize) -> Ident {
    format_ident!("argument_{index}")
}

/// The names of a view's lengths.
pub fn length_names(index: usize, view: View) -> impl Iterator<Item = Ident> {
    (0..view.lengths).map(move |length| format_ident!("length_{index}_{length}"))
}

/// Compiles only if the parameter is passed as its type's name indicates. Checked on both targets: an alias may name
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
