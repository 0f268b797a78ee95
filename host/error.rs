//! Errors: which call failed, and what went wrong in it.
//!
//! Functions below the public ones return the kind alone, an [`Outcome`]; the public call adds its
//! name by [`During::during`].

mod group;
mod image;
mod kind;
mod sentences;
mod simulator;
#[cfg(feature = "dlpack")]
mod tensor;
mod tensor_map_rule;
mod words;

pub use group::GroupError;
pub use image::{CudaVersion, ImageRejection};
pub use kind::ErrorKind;
pub use simulator::SimulatorError;
#[cfg(feature = "dlpack")]
pub use tensor::TensorError;
pub use tensor_map_rule::TensorMapRule;
pub(crate) use words::{bytes, counted};

use bytemuck::Zeroable;
use std::fmt::{self, Display};

/// The result of every fallible call in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The result of a function that does not know which public call it serves.
pub(crate) type Outcome<T> = std::result::Result<T, ErrorKind>;

/// A failed call: its name, and what went wrong. The message also says what to do.
///
/// After any error but [`ErrorKind::DeviceLost`] the device stays usable, and the next valid call succeeds.
///
/// ```
/// use tilewright::{Device, ErrorKind};
///
/// let device = Device::simulator();
/// let error = device.matrix((2, 2), &[1.0_f32, 2.0, 3.0]).unwrap_err();
/// assert_eq!(error.operation(), "matrix");
/// assert!(matches!(error.kind(), ErrorKind::WrongLength { expected: 4, found: 3, .. }));
/// assert_eq!(
///     error.to_string(),
///     "matrix: the data has 3 elements, and needs 4: one for each element of the matrix"
/// );
/// ```
pub struct Error {
    operation: &'static str,
    /// Boxed, to keep results small.
    kind: Box<ErrorKind>,
}

impl Error {
    /// The name of the call that failed, such as `upload`, or `Matmul::run_into` if the name needs its type.
    #[must_use]
    pub fn operation(&self) -> &'static str {
        self.operation
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// What went wrong, without the call.
    #[must_use]
    pub fn into_kind(self) -> ErrorKind {
        *self.kind
    }
}

impl ErrorKind {
    /// Reports this as an error of the call `operation`, for crates that define calls of their own.
    #[cold]
    #[must_use]
    pub fn during(self, operation: &'static str) -> Error {
        Error {
            operation,
            kind: Box::new(self),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.operation, self.kind)
    }
}

/// The same as [`Display`](fmt::Display), so that `unwrap` and a `main` that returns an error print the simulator's
/// reports readably.
impl fmt::Debug for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl std::error::Error for Error {}

/// How many elements the data of a matrix needs.
pub(crate) const ONE_FOR_EACH_OF_MATRIX: &str = "one for each element of the matrix";

/// Fails unless the argument `what` has `expected` elements; `rule` says where the number comes from.
pub(crate) fn check_length(
    what: impl Display,
    found: usize,
    expected: usize,
    rule: &'static str,
) -> Outcome<()> {
    match expected == found {
        true => Ok(()),
        false => Err(ErrorKind::WrongLength {
            what: what.to_string(),
            expected,
            found,
            rule,
        }),
    }
}

/// Fails unless the two `operands` have one shape.
pub(crate) fn check_shapes(
    operands: [&'static str; 2],
    left: (usize, usize),
    right: (usize, usize),
) -> Outcome<()> {
    match left == right {
        true => Ok(()),
        false => Err(ErrorKind::ShapeMismatch {
            operands,
            left,
            right,
            rule: "the two shapes must be equal",
        }),
    }
}

/// Fails unless two batches have the same number of matrices.
pub(crate) fn check_counts(batches: [&'static str; 2], left: usize, right: usize) -> Outcome<()> {
    match left == right {
        true => Ok(()),
        false => Err(ErrorKind::BatchMismatch {
            batches,
            left,
            right,
        }),
    }
}

/// `len` zeros, in host memory.
pub(crate) fn zeroed_vec<T: Zeroable>(len: usize) -> Outcome<Vec<T>> {
    bytemuck::allocation::try_zeroed_vec(len).map_err(|()| ErrorKind::OutOfHostMemory {
        requested: len.saturating_mul(size_of::<T>()) as u64,
    })
}

/// Adds the name of the public call to the kind of an error.
pub(crate) trait During<T> {
    /// The same result of the call `operation`.
    fn during(self, operation: &'static str) -> Result<T>;
}

impl<T> During<T> for Outcome<T> {
    fn during(self, operation: &'static str) -> Result<T> {
        self.map_err(|kind| kind.during(operation))
    }
}
