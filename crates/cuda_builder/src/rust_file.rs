//! Files for `include!` that hold PTX.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The PTX of a module for one architecture.
pub(crate) struct Image {
    /// The module's name: a crate's, or a kernel's.
    pub(crate) module: String,
    /// The architecture, such as `sm_80`.
    pub(crate) arch: String,
    pub(crate) path: PathBuf,
}

/// An expression of type `&[(&str, &str); N]`: the name of each architecture, and its PTX.
pub(crate) fn expression<'a>(images: impl IntoIterator<Item = &'a Image>) -> String {
    let mut text = String::from("&[\n");
    for image in images {
        let path = image.path.display().to_string();
        writeln!(text, "    ({:?}, include_str!({path:?})),", image.arch)
            .expect("writing to a String cannot fail");
    }
    text.push_str("]\n");
    text
}

/// A constant for each module, with the module's name, which may be a keyword. Its value is the [`expression`] of its
/// images.
pub(crate) fn constants(images: &[Image]) -> String {
    let mut modules: BTreeMap<&str, Vec<&Image>> = BTreeMap::new();
    for image in images {
        modules.entry(&image.module).or_default().push(image);
    }
    let mut text = String::new();
    for (name, images) in modules {
        let value = expression(images);
        write!(
            text,
            "/// The PTX of `{name}`, by architecture.\n\
             #[allow(non_upper_case_globals, dead_code)]\n\
             pub const r#{name}: &[(&str, &str)] = {};\n",
            value.trim_end()
        )
        .expect("writing to a String cannot fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(module: &str, arch: &str) -> Image {
        Image {
            module: module.to_owned(),
            arch: arch.to_owned(),
            path: PathBuf::from(format!("/a \"b\"/{module}.{arch}.ptx")),
        }
    }

    #[test]
    fn paths_are_quoted() {
        let expected = "&[\n    (\"sm_80\", include_str!(\"/a \\\"b\\\"/k.sm_80.ptx\")),\n]\n";
        assert_eq!(expression(&[image("k", "sm_80")]), expected);
    }

    #[test]
    fn each_module_is_a_constant_with_its_own_architectures() {
        let images = [
            image("sum", "sm_75"),
            image("max", "sm_90a"),
            image("sum", "sm_80"),
        ];
        let text = constants(&images);
        let (max, sum) = text.split_once("pub const r#sum: ").unwrap();
        assert!(max.contains("pub const r#max: &[(&str, &str)] = &[\n    (\"sm_90a\", "));
        assert!(!max.contains("sm_80") && !max.contains("sm_75"), "{max}");
        assert!(sum.contains("(\"sm_75\", ") && sum.contains("(\"sm_80\", "));
        assert!(sum.ends_with("];\n"), "{sum}");
    }
}
