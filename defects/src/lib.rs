//! Kernels with one mistake each, and twins without it, with the reports of the simulator and of other tools:
//! mistakes with Hopper's asynchronous instructions (`docs/defects.md`), and from public bug histories
//! (`docs/public_defects.md`).

#[macro_use]
mod modules;
#[cfg(test)]
mod cuda;
mod launch;
mod mistake;
#[cfg(test)]
mod opencl;
pub mod page;
mod public_table;
mod table;

pub use mistake::{Mistake, SCHEDULES};
pub use public_table::PUBLIC;
pub use simt::{Defect, DefectKind};
pub use table::MISTAKES;

impl Mistake {
    /// The mistake of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        all().find(|mistake| mistake.name == name)
    }
}

/// All mistakes.
pub fn all() -> impl Iterator<Item = &'static Mistake> {
    MISTAKES.iter().chain(PUBLIC)
}
