//! The reasons for which a static array cannot be allocated.

use crate::basics::DefectKind;

/// The alignment of shared memory, and the largest that an array can have.
pub(super) const ALIGNMENT: usize = 1024;

/// The most static shared memory that `ptxas` accepts: 48 KiB. More must be dynamic.
pub const MAX_STATIC_SHARED_BYTES: usize = 48 * 1024;

/// The reason for which a static array cannot be allocated.
#[derive(thiserror::Error, Debug)]
pub(crate) enum SharedError {
    #[error("a shared array must be aligned to a power of two that is at most {ALIGNMENT}")]
    Alignment,
    #[error(
        "one shared array is declared with two sizes: it had {known_bytes} bytes before; a generic function needs one array for each type"
    )]
    Changed { known_bytes: usize },
    #[error(
        "one shared array is declared with two alignments: it is at no multiple of {align}, as it was declared before; a \
         generic function needs one array for each type"
    )]
    OtherAlignment { align: usize },
    #[error(
        "static shared arrays of {static_bytes} bytes: a block can have {MAX_STATIC_SHARED_BYTES}, \
         more must be dynamic"
    )]
    TooMuchStatic { static_bytes: usize },
    #[error(
        "{static_bytes} static and {dynamic_bytes} dynamic bytes of shared memory: a block can \
         have {limit}, alignment included"
    )]
    TooMuch {
        dynamic_bytes: usize,
        static_bytes: usize,
        limit: usize,
    },
}

impl SharedError {
    /// The kind of the defect.
    pub fn kind(&self) -> DefectKind {
        match self {
            Self::Alignment | Self::Changed { .. } | Self::OtherAlignment { .. } => {
                DefectKind::InvalidArgument
            }
            Self::TooMuchStatic { .. } | Self::TooMuch { .. } => DefectKind::LaunchLimit,
        }
    }
}
