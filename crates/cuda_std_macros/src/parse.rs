//! Parses a kernel's function, and checks that it can be a kernel.

use crate::bounds::Bounds;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned;
use syn::{
    Error, FnArg, GenericArgument, ItemFn, Pat, PathArguments, Result, ReturnType, Safety,
    Signature, Type,
};

/// Maximum parameters that the host passes: `cuda_std` and the host library implement tuples up to
/// this length.
const MAX_PARAMETERS: usize = 16;

/// Functions that compilers call by themselves. A kernel of such a name would take their calls.
const CALLED_BY_COMPILERS: [&str; 6] = ["bcmp", "memcmp", "memcpy", "memmove", "memset", "strlen"];

/// How the host passes a parameter to the kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    /// A view of global memory: a pointer and its lengths.
    View(View),
    /// `GridConstant<T>`: the bytes of a `T`, in parameter memory.
    GridConstant,
    /// `Texture1d` or `Texture2d`: a handle.
    Texture { dimensions: usize },
    /// A number or a `bool`, recognised by its name.
    Scalar,
    /// Any other type: its bytes, in parameter memory, which the kernel copies.
    Block,
}

/// A view of global memory, one of `cuda_std::global::ViewKind`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// The type's name, and the kind's.
    pub name: &'static str,
    /// Whether no thread writes its elements during the launch.
    pub is_read_only: bool,
    /// The number of lengths beside the pointer.
    pub lengths: usize,
}

const VIEWS: [View; 5] = [
    View::new("Global", true, 1),
    View::new("GlobalMut", false, 1),
    View::new("GlobalAtomic", false, 1),
    View::new("GlobalMatrix", true, 3),
    View::new("GlobalMatrixMut", false, 3),
];

impl View {
    const fn new(name: &'static str, is_read_only: bool, lengths: usize) -> Self {
        Self {
            name,
            is_read_only,
            lengths,
        }
    }
}

/// The names of the types that are passed as one PTX parameter of their type.
const SCALARS: [&str; 15] = [
    "bool", "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "usize", "isize", "f32", "f64",
    "f16", "bf16",
];

pub struct Parameter {
    pub name: String,
    pub ty: Type,
    pub passing: Passing,
}

pub struct KernelFunction {
    pub function: ItemFn,
    /// The host's parameters: all but the grid of a cooperative kernel.
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
                "the first parameter of a cooperative kernel must be its grid, as in `grid: GridGroup`",
            ));
        }
        if bounds.dependent_launch && !is_unsafe(signature) {
            return Err(Error::new(
                signature.ident.span(),
                "a kernel with `dependent_launch` must be an `unsafe fn`: it must not access global memory before `dependent_launch::wait()`",
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

    /// The name of the entry: PTX knows no `r#`.
    pub fn name(&self) -> String {
        self.function.sig.ident.unraw().to_string()
    }

    pub fn is_unsafe(&self) -> bool {
        is_unsafe(&self.function.sig)
    }
}

fn is_unsafe(signature: &Signature) -> bool {
    matches!(signature.safety, Safety::Unsafe(_))
}

fn check_signature(function: &ItemFn) -> Result<()> {
    let signature = &function.sig;
    check_not_generic(signature)?;
    if !signature.ident.to_string().is_ascii() {
        return Err(Error::new(
            signature.ident.span(),
            "a kernel's name is an entry of PTX: it has ASCII letters, digits and underscores alone",
        ));
    }
    let name = signature.ident.unraw();
    if CALLED_BY_COMPILERS.iter().any(|it| name == it) {
        return Err(Error::new(
            signature.ident.span(),
            "compilers call a function of this name by themselves: a kernel needs another one",
        ));
    }
    if !matches!(signature.output, ReturnType::Default) {
        return Err(Error::new(
            signature.output.span(),
            "a kernel cannot return a value: write results through a `GlobalMut`",
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
        return Err(Error::new(
            argument.span(),
            "a kernel must be a free function",
        ));
    };
    if let Some(attribute) = argument.attrs.first() {
        return Err(Error::new(
            attribute.span(),
            "a kernel parameter cannot have attributes",
        ));
    }
    let Pat::Ident(pattern) = &*argument.pat else {
        return Err(Error::new(
            argument.pat.span(),
            "a kernel parameter must be a plain name",
        ));
    };
    let ty = ungrouped(&argument.ty);
    if matches!(ty, Type::Reference(_) | Type::Ptr(_)) {
        return Err(Error::new(
            ty.span(),
            "a kernel cannot access host memory: take a `Global<T>` to read device memory, a `GlobalMut<T>` to write it",
        ));
    }
    if has_name(ty, "GridGroup") {
        return Err(Error::new(
            ty.span(),
            "only the first parameter of a `#[kernel(cooperative)]` can be a grid; `this_grid()` has its size and ranks",
        ));
    }
    let passing = passing(ty);
    if !matches!(passing, Passing::Scalar | Passing::Block) {
        check_lifetimes(ty)?;
    }
    Ok(Parameter {
        name: pattern.ident.unraw().to_string(),
        ty: ty.clone(),
        passing,
    })
}

/// The type without the group around a macro's `$element:ty`.
fn ungrouped(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => ungrouped(&group.elem),
        ty => ty,
    }
}

/// Rejects explicit lifetimes: a view always ends with its launch.
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
                "a view ends with its launch: omit the lifetime",
            ));
        }
    }
    Ok(())
}

fn passing(ty: &Type) -> Passing {
    if let Some(view) = VIEWS.into_iter().find(|view| has_name(ty, view.name)) {
        Passing::View(view)
    } else if has_name(ty, "GridConstant") {
        Passing::GridConstant
    } else if has_name(ty, "Texture1d") {
        Passing::Texture { dimensions: 1 }
    } else if has_name(ty, "Texture2d") {
        Passing::Texture { dimensions: 2 }
    } else if SCALARS.iter().any(|name| has_name(ty, name)) {
        Passing::Scalar
    } else {
        Passing::Block
    }
}

/// Whether the parameter is the grid of a cooperative kernel.
fn is_grid(argument: &FnArg) -> bool {
    matches!(argument, FnArg::Typed(argument) if has_name(&argument.ty, "GridGroup"))
}

/// Whether a type is written with this name, after any path.
fn has_name(ty: &Type, name: &str) -> bool {
    let Type::Path(path) = ty else { return false };
    let last = path.path.segments.last();
    last.is_some_and(|segment| segment.ident == name)
}
