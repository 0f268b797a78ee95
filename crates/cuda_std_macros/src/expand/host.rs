//! The descriptor of a kernel, which programs launch.

use super::common::{argument_name, attributes, body, grid, parameter_check, signature};
use crate::bounds::{Bound, Bounds};
use crate::compiler::{self, device_library, device_library_at};
use crate::parse::{KernelFunction, Parameter, Passing};
use crate::rounds::with_rounds;
use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{GenericArgument, Lifetime, PathArguments, Type, parse_quote};

/// A type and a function with the kernel's name.
///
/// The value is a function because only a function lets a variable have the same name: with a
/// constant, a static or a unit struct `sum`, `let sum = ...` is a pattern and does not compile.
/// Documentation shows a unit struct, so that a link to the kernel has one target.
pub fn descriptor(kernel: &KernelFunction) -> TokenStream {
    let (visibility, name) = (&kernel.function.vis, &kernel.function.sig.ident);
    let documentation: Vec<_> = attributes(kernel, &["doc", "cfg", "deprecated"]).collect();
    let conditions: Vec<_> = attributes(kernel, &["cfg"]).collect();
    let implementation = host_implementation(kernel);
    let only_one = only_one_of_its_name(kernel);
    let of_type: Vec<_> = attributes(kernel, &["cfg", "deprecated"]).collect();
    // Documentation only for rustdoc: the compiler would read a second copy of the text again.
    let documented = compiler::may_set_doc().then(|| {
        quote! {
            #(#documentation)*
            #[cfg(all(doc, not(target_arch = "nvptx64")))]
            #[allow(non_camel_case_types)]
            #visibility struct #name;
        }
    });
    quote! {
        #documented

        #(#of_type)*
        #[cfg(not(any(doc, target_arch = "nvptx64")))]
        #[allow(missing_docs, non_camel_case_types)]
        #visibility struct #name {}

        #(#documentation)*
        #[cfg(not(any(doc, target_arch = "nvptx64")))]
        #[allow(deprecated)]
        #[must_use]
        #visibility const fn #name() -> #name {
            #name {}
        }

        #(#conditions)*
        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(deprecated)]
        const _: () = { #implementation };

        #only_one
    }
}

/// An item that a crate can have only once. PTX entries have no paths, so two kernels of one name
/// in different modules collide; on the host they would not.
fn only_one_of_its_name(kernel: &KernelFunction) -> Option<TokenStream> {
    let name = kernel.name();
    let item = Ident::new(
        &format!("__rename_one_kernel_{name}_because_ptx_entries_have_no_paths"),
        kernel.function.sig.ident.span(),
    );
    let conditions = attributes(kernel, &["cfg"]);
    crate::device_code::is_library().then(|| {
        quote! {
            #(#conditions)*
            #[cfg(not(target_arch = "nvptx64"))]
            #[doc(hidden)]
            #[macro_export]
            macro_rules! #item {
                () => {};
            }
        }
    })
}

fn host_implementation(kernel: &KernelFunction) -> TokenStream {
    let KernelFunction {
        function,
        parameters,
        ..
    } = kernel;
    let cuda_std = device_library();
    let name = &function.sig.ident;
    let types = parameters.iter().map(type_in_launch);
    let signature = signature(kernel);
    let arguments = (0..parameters.len()).map(argument_name).collect::<Vec<_>>();
    let text = kernel.name();
    let bounds = bounds(&kernel.bounds);
    let arch = arch(&kernel.bounds);
    let views = parameters.iter().flat_map(names_in_entry);
    let body = body(kernel, &with_rounds(&kernel.function.block));
    let grid = grid(kernel);
    let lints = attributes(kernel, &["allow", "expect"]);
    let checks = parameters.iter().map(parameter_check);
    let in_launch = parameters.iter().filter_map(lifetime_check);
    // Without optimisation, a program compiles only the kernels that it launches. In an optimised package, kernels
    // are compiled with the package, at its optimisation level.
    let inlined = compiler::leaves_kernels_to_launches().then(|| quote! { #[inline] });
    let safe = (!kernel.is_unsafe()).then(|| {
        quote! {
            // Keeps errors about an unsafe kernel from listing the safe ones of all crates.
            #[diagnostic::do_not_recommend]
            // SAFETY: the kernel is a safe function, so any valid parameters are sound. The attribute wrote one
            // signature for both entry and descriptor.
            unsafe impl #cuda_std::kernel::SafeKernel for #name {}
        }
    });
    quote! {
        #(#lints)*
        #body

        #(#checks)*

        // An alias may ignore its lifetime argument.
        #[allow(clippy::extra_unused_lifetimes)]
        const fn __ends_with_its_launch<'launch>() {
            #(#in_launch)*
        }
        const _: () = __ends_with_its_launch();

        // Evaluated here, so that an invalid bound is an error at its location.
        const _: #cuda_std::kernel::LaunchBounds = #bounds;

        impl ::core::clone::Clone for #name {
            #[inline]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl ::core::marker::Copy for #name {}
        impl ::core::fmt::Debug for #name {
            #[inline]
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.write_str(#text)
            }
        }

        impl #cuda_std::kernel::Kernel for #name {
            type Params<'launch> = (#(#types,)*);
            const NAME: &'static ::core::primitive::str = #text;
            const SIGNATURE: ::core::option::Option<#cuda_std::signature::Signature> =
                ::core::option::Option::Some(#signature);
            const BOUNDS: #cuda_std::kernel::LaunchBounds = #bounds;
            #arch
            const VIEWS: &'static [&'static ::core::primitive::str] = &[#(#views),*];

            #inlined
            unsafe fn run<'launch>((#(#arguments,)*): Self::Params<'launch>) {
                // SAFETY: the kernel's requirements and the views: the contract of `Kernel::run`.
                // The simulator checks that the launch is cooperative.
                #[allow(unused_unsafe)]
                unsafe { __body(#grid #(#arguments),*) }
            }
        }
        #safe
    }
}

/// For each PTX parameter, the name of the view if it is a view's address, otherwise empty. Two underscores keep the
/// names of a macro's parameters apart from those of its caller, and are left out.
fn names_in_entry(parameter: &Parameter) -> impl Iterator<Item = &str> {
    let (name, others) = match parameter.passing {
        Passing::View(view) => {
            let name = parameter.name.as_str();
            (name.strip_prefix("__").unwrap_or(name), view.lengths)
        }
        _ => ("", 0),
    };
    std::iter::once(name).chain(std::iter::repeat_n("", others))
}

/// A parameter's type with the lifetime of a launch, which the source omits.
fn type_in_launch(Parameter { ty, passing, .. }: &Parameter) -> Type {
    let mut ty = ty.clone();
    if matches!(passing, Passing::Scalar | Passing::Block) {
        return ty;
    }
    let Type::Path(path) = &mut ty else {
        unreachable!("views and textures are known by their path");
    };
    let Some(last) = path.path.segments.last_mut() else {
        unreachable!("a path has a segment");
    };
    let launch = GenericArgument::Lifetime(Lifetime::new("'launch", last.span()));
    match &mut last.arguments {
        PathArguments::AngleBracketed(arguments) => {
            let types = std::mem::take(&mut arguments.args).into_iter();
            let types = types.filter(|it| !matches!(it, GenericArgument::Lifetime(_)));
            arguments.args = std::iter::once(launch).chain(types).collect();
        }
        arguments => *arguments = PathArguments::AngleBracketed(parse_quote! { <#launch> }),
    }
    ty
}

/// Compiles only if a parameter's lifetime is the launch's.
fn lifetime_check(parameter: &Parameter) -> Option<TokenStream> {
    if matches!(parameter.passing, Passing::Scalar | Passing::Block) {
        return None;
    }
    let ty = type_in_launch(parameter);
    let cuda_std = device_library_at(parameter.ty.span());
    let check = quote_spanned! { parameter.ty.span() =>
        #cuda_std::parameter::assert_in_launch::<'launch, #ty>();
    };
    Some(check)
}

fn bounds(bounds: &Bounds) -> TokenStream {
    let cuda_std = device_library();
    let option = |bound: &Option<Bound>| match bound.as_ref().map(Bound::value) {
        Some(value) => quote! { ::core::option::Option::Some(#value) },
        None => quote! { ::core::option::Option::None },
    };
    let (threads, blocks, registers) = (
        option(&bounds.max_threads),
        option(&bounds.min_blocks),
        option(&bounds.max_registers),
    );
    let cooperative = bounds
        .cooperative
        .then(|| quote! { .with_cooperative(true) });
    let dependent = bounds
        .dependent_launch
        .then(|| quote! { .with_dependent_launch(true) });
    let cluster = bounds
        .cluster
        .map(|[x, y, z]| quote! { .with_cluster([#x, #y, #z]) });
    quote! {
        #cuda_std::kernel::LaunchBounds::new(#threads, #blocks, #registers)
            #cooperative #dependent #cluster
    }
}

fn arch(bounds: &Bounds) -> Option<TokenStream> {
    let cuda_std = device_library();
    bounds.arch.as_ref().map(|name| {
        quote! {
            const ARCH: ::core::option::Option<#cuda_std::kernel::Architecture> =
                #cuda_std::kernel::Architecture::parse(#name);
        }
    })
}
