//! A kernel in the form that is run: numbered slots instead of names, and numbers of instructions instead of labels.

mod arithmetic;
mod asynchronous;
mod control;
mod decoder;
mod error;
mod layout;
mod memory;
mod names;
mod op;
mod products;
mod special;
mod synchronisation;

pub(crate) use asynchronous::{BoxCopy, BytesCopy, MbarrierStep, Pointer};
pub use error::{DecodeError, DecodeErrorKind, ProgramError};
pub(crate) use layout::Parameter;
pub(crate) use memory::{Global, SharedArray};
pub(crate) use op::{
    Access, AddressSpace, Atomic, Combine, Fence, List, Op, Reduction, Shuffle, Vote,
};
pub(crate) use products::{MatrixMove, ProductOp, WarpgroupOp};
pub(crate) use special::{Axis, Special};

use crate::syntax::Module;
use decoder::Decoder;
use std::collections::BTreeMap;

/// A kernel that is ready to run.
#[derive(Debug)]
pub struct Program {
    pub(crate) name: String,
    /// What findings call the text.
    pub(crate) file: String,
    pub(crate) code: Vec<Op>,
    /// The line of each instruction of `code`.
    pub(crate) lines: Vec<u32>,
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
    /// The kernel `name` of `module`.
    ///
    /// # Errors
    /// [`ProgramError`] lists each instruction that is not supported or that names what is not there.
    pub fn new(module: &Module, name: &str) -> Result<Self, ProgramError> {
        let (program, errors) = Decoder::run(module, name);
        match errors.is_empty() {
            true => Ok(program),
            false => Err(ProgramError {
                kernel: name.to_owned(),
                errors,
            }),
        }
    }

    /// Sets the path of the text, which findings name; it is `<kernel>.ptx` otherwise.
    #[must_use]
    pub fn in_file(mut self, path: &str) -> Self {
        path.clone_into(&mut self.file);
        self
    }

    /// The parameters' names, offsets and sizes in bytes, in order.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        let parameters = self.parameters.iter();
        parameters.map(|it| (it.name.as_str(), it.offset, it.bytes))
    }
}

/// How many instructions of `module`'s kernel `name` there are, and how often each unsupported one occurs.
///
/// ```
/// let module: ptx::Module = "
///     .version 7.0
///     .target sm_75
///     .entry e() { vadd.s32.s32.s32 %r1, 1, 2, 3; ret; }
/// ".parse()?;
/// let (instructions, unsupported) = ptx::coverage(&module, "e");
/// assert_eq!(instructions, 2);
/// assert_eq!(unsupported["vadd.s32.s32.s32"], 1);
/// # Ok::<(), ptx::ReadError>(())
/// ```
#[must_use]
pub fn coverage(module: &Module, name: &str) -> (usize, BTreeMap<String, usize>) {
    let (_, errors) = Decoder::run(module, name);
    let mut unsupported = BTreeMap::new();
    for error in errors {
        *unsupported.entry(error.operation).or_default() += 1;
    }
    let functions = module.functions();
    let count = functions.filter(|it| it.name.as_ref() == name);
    let count = count.map(|it| crate::flat::Flat::of(it).steps.len()).sum();
    (count, unsupported)
}
