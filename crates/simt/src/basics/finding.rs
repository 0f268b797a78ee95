//! A block's finding, before the launch adds its name.

use super::call_site::CallSite;
use super::calls::CallStack;
use super::defect::{Defect, Related, SourceLocation};
use super::defect_kind::DefectKind;
use super::dim::Dim3;
use super::position::Position;

/// A defect as seen inside a block, before the launch adds its name.
pub(crate) struct Finding {
    pub kind: DefectKind,
    pub message: String,
    pub location: Option<SourceLocation>,
    pub thread: Option<Dim3>,
    pub related: Vec<Related>,
    /// The call stacks of threads, if they are known.
    pub calls: Option<Box<Calls>>,
    /// Whether the launch has listed an equal finding already: this one only ends the launch.
    pub is_known: bool,
}

/// Call stacks of threads.
#[derive(Default)]
pub(crate) struct Calls {
    /// The thread of the finding.
    pub own: Option<Box<CallStack>>,
    /// Waiting threads, each with the index of the further fact about it.
    pub waiting: Vec<(usize, Box<CallStack>)>,
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
            calls: None,
            is_known: false,
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
    pub fn at(self, site: impl Into<Option<CallSite>>) -> Self {
        Self {
            location: site.into().map(SourceLocation::from),
            ..self
        }
    }

    /// The finding with further facts.
    pub fn with_related(self, related: Vec<Related>) -> Self {
        Self { related, ..self }
    }

    /// Marks the finding as listed by the launch already.
    pub fn known(self) -> Self {
        Self {
            is_known: true,
            ..self
        }
    }

    /// Adds the call stack of the running thread, if there is memory for it.
    pub fn with_calls(self) -> Self {
        if self.kind == DefectKind::HostResources {
            return self;
        }
        Self {
            calls: Some(Box::new(Calls {
                own: Some(Box::new(CallStack::capture())),
                waiting: Vec::new(),
            })),
            ..self
        }
    }

    /// The defect of launch `kernel`, found in block `block`.
    pub fn into_defect(mut self, kernel: &str, block: Option<Dim3>, seed: u64) -> Box<Defect> {
        let location = self.location.as_ref();
        let Calls { own, waiting } = *self.calls.unwrap_or_default();
        let calls = own.map(|stack| stack.callers(location));
        for (place, stack) in waiting {
            let related = &mut self.related[place];
            related.calls = stack.callers(related.location.as_ref());
        }
        Box::new(Defect {
            calls: calls.unwrap_or_default(),
            times: 1,
            further: Vec::new(),
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
