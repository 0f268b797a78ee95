//! What a block finds before the launch adds its name.

use super::defect::{Defect, DefectKind, Related, SourceLocation};
use super::dim::Dim3;
use super::position::Position;
use std::panic::Location;

/// A defect as seen inside a block, before the launch adds its name.
pub(crate) struct Finding {
    pub kind: DefectKind,
    pub message: String,
    pub location: Option<SourceLocation>,
    pub thread: Option<Dim3>,
    pub related: Vec<Related>,
}

impl Finding {
    /// A finding without a thread and without a source line.
    pub fn without_place(kind: DefectKind, message: String) -> Self {
        Self {
            kind,
            message,
            location: None,
            thread: None,
            related: Vec::new(),
        }
    }

    /// The host has no memory left.
    pub fn out_of_memory(error: &str) -> Box<Self> {
        let kind = DefectKind::HostResources;
        Box::new(Self::without_place(kind, error.to_owned()))
    }

    /// A finding of the thread at `position`.
    pub fn of(position: &Position, kind: DefectKind, message: String) -> Self {
        Self {
            thread: Some(position.thread_idx),
            ..Self::without_place(kind, message)
        }
    }

    /// The finding at the source line `site`, where one is known.
    pub fn at(self, site: impl Into<Option<&'static Location<'static>>>) -> Self {
        Self {
            location: site.into().map(SourceLocation::from),
            ..self
        }
    }

    /// The finding with further facts.
    pub fn with_related(self, related: Vec<Related>) -> Self {
        Self { related, ..self }
    }

    /// The defect of launch `kernel`, found in block `block`.
    pub fn into_defect(self, kernel: &str, block: Option<Dim3>, seed: u64) -> Box<Defect> {
        Box::new(Defect {
            kernel: kernel.to_owned(),
            kind: self.kind,
            message: self.message,
            location: self.location,
            block,
            thread: self.thread,
            related: self.related,
            seed,
        })
    }
}
