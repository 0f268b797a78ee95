//! The text with which a kernel states its launch bounds and its kinds of parameters.
//!
//! `NAME|maxntid=256|minctasm=2|maxnreg=128|cluster_dim=2,1,1|arch=sm_90a|params=r,v,w`; all parts except the name
//! are optional.

use crate::error::BuildError;

/// The section of the statics that hold annotations.
pub(super) const SECTION: &str = ".tilewright.kernel";

/// The contents of one kernel's annotation.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Annotation {
    pub(super) kernel: String,
    /// LLVM's function attributes, as (name, value).
    pub(super) attributes: Vec<(&'static str, String)>,
    /// The architecture that the kernel needs, such as `sm_90a`, if it states one.
    pub(super) arch: Option<String>,
    /// One entry for each parameter; `None` if the annotation has none.
    pub(super) parameters: Option<Vec<Parameter>>,
}

/// The kind of a kernel's parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parameter {
    /// `r`: a pointer to memory that no thread writes while the kernel runs.
    ReadOnlyPointer,
    /// `w`: a pointer to memory that the kernel reaches through no other parameter.
    UniquePointer,
    /// `p`: a pointer without promises.
    PlainPointer,
    /// `v`: a value.
    Value,
    /// `g<size>:<alignment>`, both in bytes: a struct that the host passes by value. The kernel
    /// sees a pointer to its constant copy, the same in the whole grid.
    GridConstant { size: u32, alignment: u32 },
    /// `b<size>:<alignment>`: the same, for a struct that the kernel only copies.
    Block { size: u32, alignment: u32 },
}

impl Annotation {
    pub(super) fn parse(text: &str) -> Result<Annotation, BuildError> {
        let mut parts = text.trim_end_matches(['\0', ' ']).split('|');
        let kernel = parts.next().unwrap_or_default();
        if kernel.is_empty() {
            return Err(invalid(
                text,
                "the annotation has no kernel name".to_owned(),
            ));
        }
        let mut annotation = Annotation {
            kernel: kernel.to_owned(),
            ..Annotation::default()
        };
        for part in parts {
            annotation
                .add(part)
                .map_err(|reason| invalid(kernel, reason))?;
        }
        Ok(annotation)
    }

    fn add(&mut self, part: &str) -> Result<(), String> {
        let (key, value) = part
            .split_once('=')
            .ok_or_else(|| format!("`{part}` in its annotation is not of the form key=value"))?;
        let attribute = match key {
            "maxntid" => "nvvm.maxntid",
            "minctasm" => "nvvm.minctasm",
            "maxnreg" => "nvvm.maxnreg",
            "cluster_dim" => "nvvm.cluster_dim",
            "arch" => {
                self.arch = Some(value.to_owned());
                return Ok(());
            }
            "params" => {
                self.parameters = Some(parse_parameters(value)?);
                return Ok(());
            }
            _ => return Err(format!("its annotation has an unknown key `{key}`")),
        };
        let most_values = if matches!(key, "maxntid" | "cluster_dim") {
            3
        } else {
            1
        };
        check_positive_numbers(key, value, most_values)?;
        self.attributes.push((attribute, value.to_owned()));
        Ok(())
    }
}

fn check_positive_numbers(key: &str, value: &str, most_values: usize) -> Result<(), String> {
    let is_positive = |number: &str| number.parse::<u32>().is_ok_and(|number| number > 0);
    let numbers: Vec<&str> = value.split(',').collect();
    if numbers.len() <= most_values && numbers.into_iter().all(is_positive) {
        return Ok(());
    }
    let expected = match most_values {
        1 => "a positive integer",
        _ => "one to three positive integers",
    };
    Err(format!(
        "`{key}={value}` in its annotation: expected {expected}"
    ))
}

fn parse_parameters(list: &str) -> Result<Vec<Parameter>, String> {
    if list.is_empty() {
        return Ok(Vec::new());
    }
    list.split(',').map(parse_parameter).collect()
}

fn parse_parameter(text: &str) -> Result<Parameter, String> {
    Ok(match text {
        "r" => Parameter::ReadOnlyPointer,
        "w" => Parameter::UniquePointer,
        "p" => Parameter::PlainPointer,
        "v" => Parameter::Value,
        _ => parse_by_value(text).ok_or_else(|| {
            format!(
                "unknown parameter kind `{text}` in its annotation: expected r, w, p, v, \
                 g<size>:<alignment> or b<size>:<alignment>"
            )
        })?,
    })
}

fn parse_by_value(text: &str) -> Option<Parameter> {
    let (letter, layout) = text.split_at_checked(1)?;
    let (size, alignment) = layout.split_once(':')?;
    let (size, alignment): (u32, u32) = (size.parse().ok()?, alignment.parse().ok()?);
    let parameter = match letter {
        "g" => Parameter::GridConstant { size, alignment },
        "b" => Parameter::Block { size, alignment },
        _ => return None,
    };
    (size > 0 && alignment.is_power_of_two()).then_some(parameter)
}

fn invalid(kernel: &str, reason: String) -> BuildError {
    BuildError::InvalidKernel {
        kernel: kernel.to_owned(),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_read() {
        let text = "gemm|maxntid=16,16|minctasm=2|maxnreg=128|cluster_dim=2,1,1|params=r,w,p,v,g128:64,b12:4";
        let annotation = Annotation::parse(text).unwrap();
        assert_eq!(annotation.kernel, "gemm");
        let attributes = [
            ("nvvm.maxntid", "16,16"),
            ("nvvm.minctasm", "2"),
            ("nvvm.maxnreg", "128"),
            ("nvvm.cluster_dim", "2,1,1"),
        ];
        assert_eq!(
            annotation.attributes,
            attributes.map(|(name, value)| (name, value.to_owned()))
        );
        let parameters = [
            Parameter::ReadOnlyPointer,
            Parameter::UniquePointer,
            Parameter::PlainPointer,
            Parameter::Value,
            Parameter::GridConstant {
                size: 128,
                alignment: 64,
            },
            Parameter::Block {
                size: 12,
                alignment: 4,
            },
        ];
        assert_eq!(annotation.parameters.unwrap(), parameters);
    }

    #[test]
    fn a_bare_name_is_enough_and_padding_is_ignored() {
        let annotation = Annotation::parse("scale\0\0").unwrap();
        assert_eq!(annotation.kernel, "scale");
        assert_eq!(annotation.parameters, None);
        let empty = Annotation::parse("scale|params=").unwrap();
        assert_eq!(empty.parameters, Some(Vec::new()));
    }

    #[test]
    fn mistakes_name_the_kernel_and_the_part() {
        let mistakes = [
            "k|maxntid=0",
            "k|maxntid=1,1,1,1",
            "k|minctasm=2,1",
            "k|registers=5",
            "k|params=x",
            "k|params=g128",
            "k|params=g128:3",
            "k|params=b0:4",
            "k|params=c4:4",
            "k|cluster",
        ];
        for text in mistakes {
            let message = Annotation::parse(text).unwrap_err().to_string();
            assert!(message.starts_with("kernel `k`: "), "{message}");
        }
        assert!(Annotation::parse("|maxntid=1").is_err());
    }
}
