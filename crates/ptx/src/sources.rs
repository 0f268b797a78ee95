//! The source places of instructions, from `.loc`.

use crate::syntax::{File, Item, Module, Statement, StatementKind};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A place in the source of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourcePlace {
    /// The path, as given to the compiler.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if the compiler does not give it.
    pub column: u32,
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)?;
        match self.column {
            0 => Ok(()),
            column => write!(formatter, ":{column}"),
        }
    }
}

/// The places in the source of a module's instructions.
///
/// ```
/// let module: ptx::Module = r#"
///     .version 7.0
///     .target sm_75
///     .file 1 "a.cu"
///     .entry e() {
///     .loc 1 7 3
///         ret;
///     }
/// "#.parse()?;
/// let sources = ptx::Sources::of(&module);
/// assert_eq!(sources.at(7).unwrap().to_string(), "a.cu:7:3");
/// assert_eq!(sources.at(5), None);
/// # Ok::<(), ptx::ReadError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Sources {
    by_line: BTreeMap<u32, SourcePlace>,
}

impl Sources {
    /// Those of a module; none if it was compiled without line information.
    #[must_use]
    pub fn of(module: &Module) -> Self {
        let files = module.items.iter().filter_map(|item| match item {
            Item::File(File { number, path, .. }) => Some((*number, Arc::from(path.as_ref()))),
            _ => None,
        });
        let files: BTreeMap<u64, Arc<str>> = files.collect();
        let mut sources = Self::default();
        for function in module.functions() {
            let mut place = None;
            sources.add(
                &files,
                &mut place,
                function.body.as_deref().unwrap_or_default(),
            );
        }
        sources
    }

    fn add(
        &mut self,
        files: &BTreeMap<u64, Arc<str>>,
        place: &mut Option<SourcePlace>,
        statements: &[Statement],
    ) {
        for Statement { line, kind, .. } in statements {
            match kind {
                StatementKind::Location(at) => {
                    let file = files.get(&at.file.into()).filter(|_| at.line > 0);
                    *place = file.map(|file| SourcePlace {
                        file: Arc::clone(file),
                        line: at.line,
                        column: at.column,
                    });
                }
                StatementKind::Instruction(_) => {
                    if let Some(place) = &place {
                        self.by_line.insert(line.0, place.clone());
                    }
                }
                StatementKind::Block(statements) => self.add(files, place, statements),
                _ => {}
            }
        }
    }

    /// The place of the instruction at this line of the PTX.
    #[must_use]
    pub fn at(&self, line: u32) -> Option<&SourcePlace> {
        self.by_line.get(&line)
    }
}
