//! What functions the attribute accepts.

use crate::bounds::Bounds;
use syn::spanned::Spanned;
use syn::{
    Error, FnArg, GenericArgument, ItemFn, Pat, PathArguments, Result, ReturnType, Signature, Type,
};

/// The most parameters that the host gives: `cuda_std` and the host library have tuples of as many.
const MAX_PARAMETERS: usize = 16;

/// How a parameter crosses from the host to the kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    /// `Global<T>`: a read-only pointer and a length.
    Global,
    /// `GlobalMut<T>`: a pointer and a length.
    GlobalMut,
    /// `GridConstant<T>`: the bytes of a `T`, in parameter memory.
    GridConstant,
    /// `Texture1d` or `Texture2d`: a handle.
    Texture { dimensions: usize },
    /// By value.
    Scalar,
}

pub struct Parameter {
    pub ty: Type,
    pub passing: Passing,
}

pub struct KernelFunction {
    pub function: ItemFn,
    /// What the host gives: all but the grid of a cooperative kernel.
    pub parameters: Vec<Parameter>,
    pub bounds: Bounds,
}

impl KernelFunction {
    pub fn new(function: ItemFn, bounds: Bounds) -> Result<Self> {
        check_signature(&function)?;
        let signature = &function.sig;
        let mut inputs = signature.inputs.iter();
        if bounds.cooperative && !inputs.next().is_some_and(is_grid) {
            return Err(Error::new(
                signature.ident.span(),
                "the first parameter of a cooperative kernel is its grid, as in `grid: GridGroup`",
            ));
        }
        let parameters = inputs.map(parameter).collect::<Result<Vec<_>>>()?;
        if parameters.len() > MAX_PARAMETERS {
            return Err(Error::new(
                signature.inputs.span(),
                "a kernel has at most 16 parameters",
            ));
        }
        Ok(Self {
            function,
            parameters,
            bounds,
        })
    }

    pub fn is_unsafe(&self) -> bool {
        self.function.sig.unsafety.is_some()
    }
}

fn check_signature(function: &ItemFn) -> Result<()> {
    let signature = &function.sig;
    check_not_generic(signature)?;
    if !matches!(signature.output, ReturnType::Default) {
        return Err(Error::new(
            signature.output.span(),
            "a kernel returns nothing: write results through a `GlobalMut`",
        ));
    }
    if let Some(asyncness) = &signature.asyncness {
        return Err(Error::new(asyncness.span(), "a kernel cannot be `async`"));
    }
    if let Some(abi) = &signature.abi {
        return Err(Error::new(abi.span(), "`#[kernel]` chooses the ABI itself"));
    }
    if let Some(constness) = &signature.constness {
        return Err(Error::new(constness.span(), "a kernel cannot be `const`"));
    }
    Ok(())
}

fn check_not_generic(signature: &Signature) -> Result<()> {
    let generics = &signature.generics;
    let message = "a kernel is one PTX entry and cannot be generic: write one kernel for each type, \
                   which calls a common `#[inline(always)]` function";
    if !generics.params.is_empty() {
        return Err(Error::new(generics.span(), message));
    }
    match &generics.where_clause {
        Some(clause) => Err(Error::new(clause.span(), message)),
        None => Ok(()),
    }
}

fn parameter(argument: &FnArg) -> Result<Parameter> {
    let FnArg::Typed(argument) = argument else {
        return Err(Error::new(argument.span(), "a kernel is a free function"));
    };
    if let Some(attribute) = argument.attrs.first() {
        return Err(Error::new(
            attribute.span(),
            "a kernel's parameter has no attributes",
        ));
    }
    let Pat::Ident(_) = &*argument.pat else {
        return Err(Error::new(
            argument.pat.span(),
            "a kernel's parameter is a plain name",
        ));
    };
    if matches!(&*argument.ty, Type::Reference(_) | Type::Ptr(_)) {
        return Err(Error::new(
            argument.ty.span(),
            "host memory is out of a kernel's reach: take a `Global<T>` to read device memory, a `GlobalMut<T>` to write it",
        ));
    }
    if has_name(&argument.ty, "GridGroup") {
        return Err(Error::new(
            argument.ty.span(),
            "a grid is the first parameter of a `#[kernel(cooperative)]`, and of no other; \
             `this_grid()` has its size and ranks",
        ));
    }
    let passing = passing(&argument.ty);
    if passing != Passing::Scalar {
        check_lifetimes(&argument.ty)?;
    }
    Ok(Parameter {
        ty: (*argument.ty).clone(),
        passing,
    })
}

/// A view ends with its launch, whatever the source would like.
fn check_lifetimes(ty: &Type) -> Result<()> {
    let Type::Path(path) = ty else { return Ok(()) };
    let last = path.path.segments.last();
    let Some(PathArguments::AngleBracketed(arguments)) = last.map(|last| &last.arguments) else {
        return Ok(());
    };
    for argument in &arguments.args {
        if let GenericArgument::Lifetime(lifetime) = argument
            && lifetime.ident != "_"
        {
            return Err(Error::new(
                lifetime.span(),
                "a view ends with its launch: leave the lifetime out",
            ));
        }
    }
    Ok(())
}

fn passing(ty: &Type) -> Passing {
    if has_name(ty, "Global") {
        Passing::Global
    } else if has_name(ty, "GlobalMut") {
        Passing::GlobalMut
    } else if has_name(ty, "GridConstant") {
        Passing::GridConstant
    } else if has_name(ty, "Texture1d") {
        Passing::Texture { dimensions: 1 }
    } else if has_name(ty, "Texture2d") {
        Passing::Texture { dimensions: 2 }
    } else {
        Passing::Scalar
    }
}

/// Whether the parameter is the grid of a cooperative kernel.
fn is_grid(argument: &FnArg) -> bool {
    matches!(argument, FnArg::Typed(argument) if has_name(&argument.ty, "GridGroup"))
}

/// Whether a type is written with this name, after whatever path.
fn has_name(ty: &Type, name: &str) -> bool {
    let Type::Path(path) = ty else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|segment| segment.ident == name)
}
