//! What the attribute leaves in its place: an entry for the GPU, a descriptor for the host.
//!
//! Paths start with `cuda_std` and not with `::cuda_std`: it is either the crate that the kernel's
//! crate depends on, or what `use tilewright::cuda_std::prelude::*` brings into scope.

use crate::bounds::Bounds;
use crate::parse::{KernelFunction, Parameter, Passing};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{ToTokens as _, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, GenericArgument, Lifetime, PathArguments, Type, parse_quote};

pub fn expand(kernel: &KernelFunction) -> TokenStream {
    let entry = for_architecture(kernel, device_entry(kernel));
    let descriptor = host_descriptor(kernel);
    quote! { #entry #descriptor }
}

/// The entry where the architecture that is compiled for has it.
///
/// The builder declares the `cfg`; a host's compiler, which would warn of it, never comes to it.
fn for_architecture(kernel: &KernelFunction, entry: TokenStream) -> TokenStream {
    let Some(arch) = &kernel.bounds.arch else {
        return entry;
    };
    let number = arch.trim_start_matches("sm_");
    quote! {
        #[cfg(target_arch = "nvptx64")]
        const _: () = {
            #[cfg(cuda_arch_at_least = #number)]
            const _: () = { #entry };
        };
    }
}

/// The kernel's own code as a nested function, so that its parameters keep the types and patterns
/// that its source gives them.
fn body(kernel: &KernelFunction) -> TokenStream {
    let signature = &kernel.function.sig;
    let (unsafety, inputs, block) = (
        &signature.unsafety,
        &signature.inputs,
        &kernel.function.block,
    );
    quote! {
        #[inline(always)]
        #unsafety fn body(#inputs) #block
    }
}

/// The function's attributes whose name is one of `names`.
fn attributes<'a>(
    kernel: &'a KernelFunction,
    names: &'a [&str],
) -> impl Iterator<Item = &'a Attribute> {
    kernel
        .function
        .attrs
        .iter()
        .filter(|attribute| names.iter().any(|name| attribute.path().is_ident(name)))
}

fn device_entry(kernel: &KernelFunction) -> TokenStream {
    let KernelFunction {
        function,
        parameters,
        ..
    } = kernel;
    let (all_attributes, visibility, name) = (&function.attrs, &function.vis, &function.sig.ident);
    let conditions = attributes(kernel, &["cfg"]);
    let flat = parameters.iter().enumerate().map(flat_parameter);
    let rebuilt = parameters.iter().enumerate().map(rebuilt_argument);
    let body = body(kernel);
    let grid = grid(kernel);
    let annotation = annotation(kernel);
    let signature = device_signature(kernel);
    quote! {
        #(#conditions)*
        #[cfg(target_arch = "nvptx64")]
        const _: () = { #annotation #signature };

        #(#all_attributes)*
        #[cfg(target_arch = "nvptx64")]
        #[unsafe(no_mangle)]
        #[allow(clippy::too_many_arguments)]
        #visibility unsafe extern "ptx-kernel" fn #name(#(#flat),*) {
            #body
            // SAFETY: the host passes a pointer and a length of one buffer for each view; a block of
            // bytes stands, aligned, in parameter memory, which nothing writes. The host keeps the kernel's own requirements: `Kernel::run` and the launch say so. A kernel
            // whose bounds are cooperative it launches cooperatively, one launch after the other.
            #[allow(unused_unsafe)]
            unsafe { body(#grid #(#rebuilt),*) }
        }
    }
}

/// The first argument of a cooperative kernel.
fn grid(kernel: &KernelFunction) -> Option<TokenStream> {
    kernel.bounds.cooperative.then(|| {
        quote! { cuda_std::cooperative_groups::GridGroup::of_cooperative_launch(), }
    })
}

/// The name of a parameter in the code that is written here. Names of the source would meet each
/// other: a view `x` needs a length, and `x_len` may be a parameter of its own.
fn argument_name(index: usize) -> Ident {
    format_ident!("argument_{index}")
}

fn length_name(index: usize) -> Ident {
    format_ident!("length_{index}")
}

fn flat_parameter((index, parameter): (usize, &Parameter)) -> TokenStream {
    let Parameter { ty, passing } = parameter;
    let (name, length) = (argument_name(index), length_name(index));
    match passing {
        Passing::Global => {
            quote! { #name: *const <#ty as cuda_std::global::View>::Element, #length: usize }
        }
        Passing::GlobalMut => {
            quote! { #name: *mut <#ty as cuda_std::global::View>::Element, #length: usize }
        }
        Passing::GridConstant => {
            quote! { #name: *const <#ty as cuda_std::grid_constant::ByValue>::Value }
        }
        Passing::Texture { .. } | Passing::Scalar => quote! { #name: #ty },
    }
}

fn rebuilt_argument((index, parameter): (usize, &Parameter)) -> TokenStream {
    let Parameter { ty, passing } = parameter;
    let (name, length) = (argument_name(index), length_name(index));
    match passing {
        Passing::Global | Passing::GlobalMut => quote! { <#ty>::from_raw_parts(#name, #length) },
        Passing::GridConstant => quote! { <#ty>::from_raw(#name) },
        Passing::Texture { .. } | Passing::Scalar => quote! { #name },
    }
}

/// The note that the builder reads from the section `.tilewright.kernel`: what LLVM IR can say of
/// a kernel and Rust cannot.
fn annotation(kernel: &KernelFunction) -> TokenStream {
    let mut text = kernel.function.sig.ident.to_string() + &bounds_note(&kernel.bounds);
    text.push_str("|params=");
    // Only the compiler knows the layout of a parameter that is passed by value.
    let mut parts = Vec::new();
    for (index, Parameter { ty, passing }) in kernel.parameters.iter().enumerate() {
        text.push_str(if index > 0 { "," } else { "" });
        match passing {
            Passing::Global => text.push_str("r,v"),
            // No promise that nothing else reaches the memory: other threads of the launch do, and LLVM
            // would keep values of such memory in registers across barriers and fences.
            Passing::GlobalMut => text.push_str("p,v"),
            Passing::Texture { .. } | Passing::Scalar => text.push('v'),
            Passing::GridConstant => {
                let before = std::mem::take(&mut text);
                let layout = layout_of_value(ty);
                parts.push(quote! { cuda_std::annotation::Part::Text(#before) });
                parts.push(quote! { cuda_std::annotation::Part::ByValue(#layout) });
            }
        }
    }
    if parts.is_empty() {
        return literal_annotation(&text);
    }
    quote! {
        const NOTE: cuda_std::annotation::Annotation = cuda_std::annotation::Annotation(
            &[#(#parts,)* cuda_std::annotation::Part::Text(#text)],
        );
        #[used]
        #[unsafe(link_section = ".tilewright.kernel")]
        static ANNOTATION: [u8; NOTE.text_len()] = NOTE.text();
    }
}

fn literal_annotation(text: &str) -> TokenStream {
    let bytes = Literal::byte_string(text.as_bytes());
    let length = text.len();
    quote! {
        #[used]
        #[unsafe(link_section = ".tilewright.kernel")]
        static ANNOTATION: [u8; #length] = *#bytes;
    }
}

/// The launch bounds as the annotation has them.
fn bounds_note(bounds: &Bounds) -> String {
    let numbers = [
        ("maxntid", bounds.max_threads),
        ("minctasm", bounds.min_blocks),
        ("maxnreg", bounds.max_registers),
    ];
    let mut text = String::new();
    for (key, value) in numbers {
        if let Some(value) = value {
            text.push_str(&format!("|{key}={value}"));
        }
    }
    if let Some([x, y, z]) = bounds.cluster {
        text.push_str(&format!("|cluster_dim={x},{y},{z}"));
    }
    text
}

fn layout_of_value(ty: &Type) -> TokenStream {
    quote! {
        cuda_std::signature::Layout::of::<<#ty as cuda_std::grid_constant::ByValue>::Value>()
    }
}

/// What tells the kernel from others of its name: where it is declared and its parameters.
fn signature(kernel: &KernelFunction) -> TokenStream {
    let name = &kernel.function.sig.ident;
    let types = kernel.parameters.iter().map(|parameter| {
        // Two compilers may print one type with other spaces.
        let text = parameter.ty.to_token_stream().to_string();
        text.split_whitespace().collect::<String>()
    });
    let source = format!("::{name}({})", types.collect::<Vec<_>>().join(","));
    let layouts = kernel.parameters.iter().map(|Parameter { ty, passing }| {
        let element = match passing {
            Passing::Global | Passing::GlobalMut => {
                quote! { <#ty as cuda_std::global::View>::Element }
            }
            Passing::GridConstant => return layout_of_value(ty),
            Passing::Texture { .. } | Passing::Scalar => quote! { #ty },
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

/// The static array beside the entry from which the host reads what the entry is.
fn device_signature(kernel: &KernelFunction) -> TokenStream {
    let symbol = format_ident!("__signature_of_{}", kernel.function.sig.ident);
    let signature = signature(kernel);
    quote! {
        const SIGNATURE: cuda_std::signature::Signature = #signature;
        #[used]
        #[unsafe(no_mangle)]
        #[unsafe(link_section = ".global")]
        #[allow(non_upper_case_globals)]
        static #symbol: [u8; SIGNATURE.text_len()] = SIGNATURE.text();
    }
}

fn host_descriptor(kernel: &KernelFunction) -> TokenStream {
    let (visibility, name) = (&kernel.function.vis, &kernel.function.sig.ident);
    let documentation = attributes(kernel, &["doc", "cfg", "deprecated"]);
    let conditions = attributes(kernel, &["cfg"]);
    let implementation = host_implementation(kernel);
    quote! {
        #(#documentation)*
        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug)]
        #visibility struct #name;

        #(#conditions)*
        #[cfg(not(target_arch = "nvptx64"))]
        #[allow(deprecated)]
        const _: () = { #implementation };
    }
}

fn host_implementation(kernel: &KernelFunction) -> TokenStream {
    let KernelFunction {
        function,
        parameters,
        ..
    } = kernel;
    let name = &function.sig.ident;
    let types = parameters.iter().map(type_in_launch);
    let signature = signature(kernel);
    let arguments = (0..parameters.len()).map(argument_name).collect::<Vec<_>>();
    let text = name.to_string();
    let bounds = bounds(&kernel.bounds);
    let arch = arch(&kernel.bounds);
    let body = body(kernel);
    let grid = grid(kernel);
    let lints = attributes(kernel, &["allow", "expect"]);
    let checks = parameters.iter().map(parameter_check);
    let safe = (!kernel.is_unsafe()).then(|| {
        quote! {
            // Errors about an unsafe kernel do not list the safe ones of all crates.
            #[diagnostic::do_not_recommend]
            // SAFETY: (1) the kernel is a safe function: whatever it is given, it is defined. (2) The
            // attribute wrote the signature for the entry and for the descriptor.
            unsafe impl cuda_std::kernel::SafeKernel for #name {}
        }
    });
    quote! {
        #(#lints)*
        #body

        #(#checks)*

        impl cuda_std::kernel::Kernel for #name {
            type Params<'launch> = (#(#types,)*);
            const NAME: &'static str = #text;
            const SIGNATURE: ::core::option::Option<cuda_std::signature::Signature> =
                ::core::option::Option::Some(#signature);
            const BOUNDS: cuda_std::kernel::LaunchBounds = #bounds;
            #arch

            unsafe fn run<'launch>((#(#arguments,)*): Self::Params<'launch>) {
                // SAFETY: (1) and (2) of `Kernel::run` are the caller's; whether the launch is
                // cooperative the simulator checks.
                #[allow(unused_unsafe)]
                unsafe { body(#grid #(#arguments),*) }
            }
        }
        #safe
    }
}

/// A parameter's type with the lifetime of a launch: views leave it out in the source.
fn type_in_launch(Parameter { ty, passing }: &Parameter) -> Type {
    let mut ty = ty.clone();
    if *passing == Passing::Scalar {
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

/// Whether a parameter crosses as its type's name says: only the compiler knows the types.
fn parameter_check(parameter: &Parameter) -> TokenStream {
    let ty = &parameter.ty;
    match parameter.passing {
        Passing::Texture { dimensions } => {
            quote_spanned! { ty.span() => cuda_std::kernel::assert_texture::<#ty>(#dimensions); }
        }
        Passing::GridConstant => {
            quote_spanned! { ty.span() => cuda_std::kernel::assert_grid_constant::<#ty>(); }
        }
        Passing::Scalar => {
            quote_spanned! { ty.span() => cuda_std::kernel::assert_scalar::<#ty>(); }
        }
        Passing::Global | Passing::GlobalMut => {
            let is_mutable = parameter.passing == Passing::GlobalMut;
            quote_spanned! { ty.span() => cuda_std::kernel::assert_view::<#ty>(#is_mutable); }
        }
    }
}

fn bounds(bounds: &Bounds) -> TokenStream {
    let option = |value: Option<u32>| match value {
        Some(value) => quote! { ::core::option::Option::Some(#value) },
        None => quote! { ::core::option::Option::None },
    };
    let (threads, blocks, registers) = (
        option(bounds.max_threads),
        option(bounds.min_blocks),
        option(bounds.max_registers),
    );
    let cooperative = bounds
        .cooperative
        .then(|| quote! { .with_cooperative(true) });
    let cluster = bounds
        .cluster
        .map(|[x, y, z]| quote! { .with_cluster([#x, #y, #z]) });
    quote! {
        cuda_std::kernel::LaunchBounds::new(#threads, #blocks, #registers) #cooperative #cluster
    }
}

fn arch(bounds: &Bounds) -> Option<TokenStream> {
    bounds.arch.as_ref().map(|name| {
        quote! {
            const ARCH: ::core::option::Option<cuda_std::kernel::Architecture> =
                cuda_std::kernel::Architecture::parse(#name);
        }
    })
}
