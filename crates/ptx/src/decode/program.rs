//! A kernel in the form that is run.

use super::layout::Parameter;
use super::op::Op;
use super::special::Special;
use super::variables::{Global, SharedArray};

/// A kernel that is ready to run.
#[derive(Debug)]
pub struct Program {
    pub(crate) name: String,
    /// The name of the text in findings.
    pub(crate) file: String,
    pub(crate) code: Vec<Op>,
    /// The line and the column of each instruction of `code`.
    pub(crate) places: Vec<(u32, u32)>,
    /// Slots of lists of operands, and numbers of instructions of tables of branches.
    pub(crate) lists: Vec<u32>,
    /// The slots of a thread at its start: zeros and constants.
    pub(crate) slots: Vec<u64>,
    /// Slots of special registers.
    pub(crate) special: Vec<(u32, Special)>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) shared: Vec<SharedArray>,
    /// Slots with addresses of variables of the module, each with its number.
    pub(crate) global_slots: Vec<(u32, usize)>,
    pub(crate) globals: Vec<Global>,
    pub(crate) local_bytes: usize,
}

impl Program {
    /// Sets the path of the text, which findings name; it is `<kernel>.ptx` otherwise.
    #[must_use]
    pub fn in_file(mut self, path: &str) -> Self {
        path.clone_into(&mut self.file);
        self
    }

    /// Whether it samples textures, whose handles it takes from its parameters.
    #[must_use]
    pub fn samples_textures(&self) -> bool {
        self.code.iter().any(|op| matches!(op, Op::Sample(_)))
    }

    /// The parameters' names, offsets and sizes in bytes, in order.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        let parameters = self.parameters.iter();
        parameters.map(|it| (it.name.as_str(), it.offset, it.bytes))
    }
}
