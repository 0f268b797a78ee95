//! Gives a kernel's definition the attributes of its annotation.

use super::annotation::{Annotation, Parameter};
use super::text::{bracketed_length, find_code, first_global, split_at_commas};
use crate::error::BuildError;

/// The name, with its `@`, of the kernel whose definition `line` starts.
pub(super) fn defined_kernel(line: &str) -> Option<&str> {
    let is_kernel = line.starts_with("define ") && find_code(line, " ptx_kernel ").is_some();
    first_global(line).filter(|_| is_kernel)
}

/// Adds the attributes of `annotation` to the line that starts the kernel's definition.
pub(super) fn annotate(line: &str, annotation: &Annotation) -> Result<String, BuildError> {
    let head = Head::parse(line).ok_or_else(|| unexpected(line))?;
    let parameters = match &annotation.parameters {
        Some(kinds) => annotate_parameters(&head.parameters, kinds)
            .map_err(|reason| invalid(annotation, reason))?,
        None => head
            .parameters
            .iter()
            .map(|&text| text.to_owned())
            .collect(),
    };
    let attributes: String = annotation
        .attributes
        .iter()
        .map(|(name, value)| format!(" \"{name}\"=\"{value}\""))
        .collect();
    let parameters = parameters.join(", ");
    Ok(format!(
        "{}({parameters}){}{attributes}{}",
        head.start, head.address, head.end
    ))
}

/// The line that starts a function's definition:
/// `define .. @name(parameters) unnamed_addr #0 {`.
struct Head<'a> {
    /// Up to the name.
    start: &'a str,
    parameters: Vec<&'a str>,
    /// `unnamed_addr` or a similar word, which precedes the attributes.
    address: &'a str,
    end: &'a str,
}

impl<'a> Head<'a> {
    fn parse(line: &'a str) -> Option<Head<'a>> {
        let name = first_global(line)?;
        let open = line.find(name)? + name.len();
        let close =
            open + bracketed_length(line.get(open..).filter(|text| text.starts_with('('))?)?;
        let rest = &line[close..];
        let address_end = [" unnamed_addr", " local_unnamed_addr"]
            .into_iter()
            .find(|word| rest.starts_with(word))
            .map_or(0, str::len);
        Some(Head {
            start: &line[..open],
            parameters: split_at_commas(&line[open + 1..close - 1]),
            address: &rest[..address_end],
            end: &rest[address_end..],
        })
    }
}

fn annotate_parameters(parameters: &[&str], kinds: &[Parameter]) -> Result<Vec<String>, String> {
    if parameters.len() != kinds.len() {
        return Err(format!(
            "its annotation describes {} parameters, but it has {} in LLVM IR: {}",
            kinds.len(),
            parameters.len(),
            parameters.join(", ")
        ));
    }
    std::iter::zip(parameters, kinds)
        .enumerate()
        .map(|(index, (text, kind))| {
            annotate_parameter(text, *kind)
                .ok_or_else(|| format!("parameter {index} is no pointer in LLVM IR: `{text}`"))
        })
        .collect()
}

/// `None` if `kind` is a pointer and the parameter is not.
fn annotate_parameter(parameter: &str, kind: Parameter) -> Option<String> {
    match kind {
        Parameter::Value => Some(parameter.to_owned()),
        Parameter::PlainPointer => with_attributes(parameter, &[]),
        Parameter::UniquePointer => with_attributes(parameter, &["noalias"]),
        Parameter::ReadOnlyPointer => with_attributes(parameter, &["noalias", "readonly"]),
        Parameter::GridConstant { size, alignment } => {
            by_value(parameter, size, alignment, "noundef")
        }
        // With these promises, LLVM reads parameter memory if a copy of it is indexed.
        Parameter::Block { size, alignment } => {
            by_value(parameter, size, alignment, "noalias readonly noundef")
        }
    }
}

fn with_attributes(parameter: &str, attributes: &[&str]) -> Option<String> {
    let rest = parameter.strip_prefix("ptr ")?;
    let present: Vec<&str> = rest.split(' ').collect();
    let added: String = attributes
        .iter()
        .filter(|attribute| !present.contains(*attribute))
        .map(|attribute| format!("{attribute} "))
        .collect();
    Some(format!("ptr {added}{rest}"))
}

/// A pointer to a by-value parameter that stays in constant parameter memory.
fn by_value(parameter: &str, size: u32, alignment: u32, promises: &str) -> Option<String> {
    let rest = parameter.strip_prefix("ptr ")?;
    let name = rest.rsplit(' ').next()?;
    Some(format!(
        "ptr byval([{size} x i8]) align {alignment} {promises} \"nvvm.grid_constant\" {name}"
    ))
}

fn invalid(annotation: &Annotation, reason: String) -> BuildError {
    BuildError::InvalidKernel {
        kernel: annotation.kernel.clone(),
        reason,
    }
}

fn unexpected(line: &str) -> BuildError {
    BuildError::UnexpectedIr {
        reason: "cannot read the head of a kernel".to_owned(),
        line: line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "define ptx_kernel void @scale(ptr noundef %0, float noundef %1, ptr noalias noundef %2) unnamed_addr #1 {";

    fn annotated(text: &str) -> Result<String, BuildError> {
        annotate(HEAD, &Annotation::parse(text)?)
    }

    #[test]
    fn launch_bounds_become_function_attributes() {
        assert_eq!(
            annotated("scale|maxntid=256|minctasm=2").unwrap(),
            "define ptx_kernel void @scale(ptr noundef %0, float noundef %1, ptr noalias noundef %2) unnamed_addr \"nvvm.maxntid\"=\"256\" \"nvvm.minctasm\"=\"2\" #1 {"
        );
    }

    #[test]
    fn parameters_get_their_attributes_once() {
        assert_eq!(
            annotated("scale|params=r,v,w").unwrap(),
            "define ptx_kernel void @scale(ptr noalias readonly noundef %0, float noundef %1, ptr noalias noundef %2) unnamed_addr #1 {"
        );
        assert!(
            annotated("scale|params=g128:64,v,p").unwrap().contains(
                "@scale(ptr byval([128 x i8]) align 64 noundef \"nvvm.grid_constant\" %0, "
            )
        );
        assert!(annotated("scale|params=b12:4,v,p").unwrap().contains(
            "@scale(ptr byval([12 x i8]) align 4 noalias readonly noundef \"nvvm.grid_constant\" %0, "
        ));
    }

    #[test]
    fn wrong_parameters_are_named() {
        let count = annotated("scale|params=r,v").unwrap_err().to_string();
        assert!(
            count.contains("describes 2 parameters, but it has 3"),
            "{count}"
        );
        let kind = annotated("scale|params=r,r,w").unwrap_err().to_string();
        assert!(kind.contains("parameter 1 is no pointer"), "{kind}");
    }

    #[test]
    fn only_kernels_are_kernels() {
        assert_eq!(defined_kernel(HEAD), Some("@scale"));
        assert_eq!(defined_kernel("define void @scale() {"), None);
        assert_eq!(defined_kernel("declare ptx_kernel void @scale()"), None);
    }
}
