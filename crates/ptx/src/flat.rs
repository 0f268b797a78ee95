//! The instructions of a function in a row, with the scopes of their names.

use crate::syntax::{
    Column, Declaration, Function, Instruction, Line, Signature, Statement, StatementKind,
};
use std::collections::HashMap;

/// An instruction and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step<'a> {
    pub line: Line,
    pub column: Column,
    /// The number of its scope.
    pub scope: usize,
    pub instruction: &'a Instruction,
}

/// The names of one pair of braces.
#[derive(Debug, Default)]
pub(crate) struct ScopeNames<'a> {
    /// The enclosing scope; for the outermost one, itself.
    pub parent: usize,
    /// Labels, each with the number of the next step.
    labels: HashMap<&'a str, usize>,
    /// Lists of targets.
    targets: HashMap<&'a str, &'a [Box<str>]>,
    /// Declarations, each with the number of the next step: from there on, its names are known.
    pub declarations: Vec<(usize, &'a Declaration)>,
    /// The parameters and results of functions that are called by address.
    prototypes: HashMap<&'a str, &'a Signature>,
}

/// A function's instructions, in the order of the text.
#[derive(Debug, Default)]
pub(crate) struct Flat<'a> {
    pub steps: Vec<Step<'a>>,
    /// The outermost first, each after those around it.
    pub scopes: Vec<ScopeNames<'a>>,
    /// Labels that their scope already has.
    pub twice: Vec<(Line, &'a str)>,
}

impl<'a> Flat<'a> {
    pub fn of(function: &'a Function) -> Self {
        let mut flat = Self::default();
        flat.add(0, function.body.as_deref().unwrap_or_default());
        flat
    }

    fn add(&mut self, parent: usize, statements: &'a [Statement]) {
        let scope = self.scopes.len();
        self.scopes.push(ScopeNames {
            parent,
            ..ScopeNames::default()
        });
        for Statement { line, column, kind } in statements {
            match kind {
                StatementKind::Instruction(instruction) => self.steps.push(Step {
                    line: *line,
                    column: *column,
                    scope,
                    instruction,
                }),
                StatementKind::Label(label) => {
                    let next = self.steps.len();
                    let earlier = self.scopes[scope].labels.insert(label, next);
                    if earlier.is_some() {
                        self.twice.push((*line, label));
                    }
                }
                StatementKind::Targets { label, targets, .. } => {
                    self.scopes[scope].targets.insert(label, targets);
                }
                StatementKind::Declaration(declaration) => {
                    let next = self.steps.len();
                    self.scopes[scope].declarations.push((next, declaration));
                }
                StatementKind::Block(statements) => self.add(scope, statements),
                StatementKind::Prototype { label, signature } => {
                    self.scopes[scope].prototypes.insert(label, signature);
                }
                StatementKind::Location(_) | StatementKind::Pragma(_) => {}
            }
        }
    }

    /// The number of the step after a label, which may be one past the last.
    pub fn label(&self, scope: usize, name: &str) -> Option<usize> {
        self.find(scope, |names| names.labels.get(name).copied())
    }

    /// The parameters and results of a function that is called by address.
    pub fn prototype(&self, scope: usize, name: &str) -> Option<&'a Signature> {
        self.find(scope, |names| names.prototypes.get(name).copied())
    }

    /// The labels of a list of targets.
    pub fn targets(&self, scope: usize, name: &str) -> Option<&'a [Box<str>]> {
        self.find(scope, |names| names.targets.get(name).copied())
    }

    /// The first that `read` finds in the scope or in one around it.
    pub fn find<T>(
        &self,
        mut scope: usize,
        read: impl Fn(&ScopeNames<'a>) -> Option<T>,
    ) -> Option<T> {
        loop {
            let names = &self.scopes[scope];
            if let Some(found) = read(names) {
                return Some(found);
            }
            if names.parent == scope {
                return None;
            }
            scope = names.parent;
        }
    }
}
