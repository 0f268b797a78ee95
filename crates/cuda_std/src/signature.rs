//! Kernel signatures: the host launches a PTX entry only if the module's signature matches the
//! kernel's.
//!
//! `#[kernel]` puts a static array with the signature as text beside each PTX entry, named by
//! [`symbol`]. On the host, the signature is
//! [`Kernel::SIGNATURE`](crate::kernel::Kernel::SIGNATURE).

use crate::const_text::{self, Text};
use crate::parameter::ScalarParam;
use core::mem::{align_of, size_of};

/// A kernel's crate, path, name and parameters.
///
/// The text starts with the kernel's full path and its parameter types as in the source, without spaces. Then follow
/// size and alignment of each parameter's elements in bytes, and a letter for a scalar's kind:
/// `shapes::axpy(f32,Global<f32>,GlobalMut<f32>)4.4f,4.4,4.4`. These distinguish types with the same name in the
/// source; elements other than scalars may have any bits. `unsafe:` and `cooperative:` precede the numbers if they
/// apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    source: &'static str,
    layouts: &'static [Layout],
}

/// Size and alignment of a parameter's elements in bytes, and a scalar's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub(crate) size: usize,
    pub(crate) align: usize,
    kind: Option<u8>,
}

impl Layout {
    /// The layout of `T`.
    #[must_use]
    pub const fn of<T>() -> Self {
        Self {
            size: size_of::<T>(),
            align: align_of::<T>(),
            kind: None,
        }
    }

    /// The layout of a scalar.
    #[must_use]
    pub const fn of_scalar<T: ScalarParam>() -> Self {
        Self {
            kind: Some(T::KIND),
            ..Self::of::<T>()
        }
    }
}

impl Signature {
    /// The signature that `#[kernel]` writes: a path with types, and each parameter's layout.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(source: &'static str, layouts: &'static [Layout]) -> Self {
        Self { source, layouts }
    }

    const_text::measured_then_written!();

    const fn write<const LEN: usize>(&self, text: &mut Text<LEN>) {
        text.push_str(self.source);
        let mut index = 0;
        while index < self.layouts.len() {
            if index > 0 {
                text.push(b',');
            }
            text.push_number(self.layouts[index].size);
            text.push(b'.');
            text.push_number(self.layouts[index].align);
            if let Some(kind) = self.layouts[index].kind {
                text.push(kind);
            }
            index += 1;
        }
    }
}

#[cfg(not(target_arch = "nvptx64"))]
impl core::fmt::Display for Signature {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str(self.source)?;
        for (index, layout) in self.layouts.iter().enumerate() {
            let separator = if index > 0 { "," } else { "" };
            write!(formatter, "{separator}{}.{}", layout.size, layout.align)?;
            if let Some(kind) = layout.kind {
                write!(formatter, "{}", char::from(kind))?;
            }
        }
        Ok(())
    }
}

/// The name of the static array that holds the signature of `kernel`, as `#[kernel]` writes it.
#[cfg(not(target_arch = "nvptx64"))]
#[must_use]
pub fn symbol(kernel: &str) -> String {
    format!("__signature_of_{kernel}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const AXPY: Signature = Signature::new(
        "shapes::axpy(f64,Global<[u8;100]>)",
        &[Layout::of_scalar::<f64>(), Layout::of::<[u8; 100]>()],
    );

    #[test]
    fn the_text_has_the_layouts() {
        const TEXT: [u8; AXPY.text_len()] = AXPY.text();
        let expected = "shapes::axpy(f64,Global<[u8;100]>)8.8f,100.1";
        assert_eq!(std::str::from_utf8(&TEXT), Ok(expected));
        assert_eq!(AXPY.to_string(), expected);
    }

    #[test]
    fn scalars_of_one_layout_are_told_apart() {
        let text = |layout| Signature::new("", Vec::leak(vec![layout])).to_string();
        assert_eq!(text(Layout::of_scalar::<bool>()), "1.1b");
        assert_eq!(text(Layout::of_scalar::<u8>()), "1.1u");
        assert_eq!(text(Layout::of_scalar::<half::f16>()), "2.2f");
        assert_eq!(text(Layout::of_scalar::<half::bf16>()), "2.2g");
    }

    #[test]
    fn a_kernel_without_parameters_has_no_layouts() {
        let signature = Signature::new("shapes::nothing()", &[]);
        assert_eq!(signature.to_string(), "shapes::nothing()");
        assert_eq!(signature.text_len(), "shapes::nothing()".len());
    }
}
