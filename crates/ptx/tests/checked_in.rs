//! Every checked-in module of the workspace is read and printed, and its kernels are decoded.

use ptx::{Function, Graph, Item, Module, Operation, Program, Statement, StatementKind, Token};
use rayon::prelude::*;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use tilewright_ptxas::{FOLDERS, unpacked};

/// Looks at the text of each module, which has a path; at several at a time.
fn for_each_text(look_at: impl Fn(&str, &str) + Sync) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let paths = FOLDERS.map(|folder| unpacked(&root, folder).unwrap());
    let paths: Vec<_> = paths.into_iter().flatten().collect();
    assert!(paths.len() > 800, "only {} modules", paths.len());
    paths.par_iter().for_each(|path| {
        let text = std::fs::read_to_string(path).unwrap();
        look_at(&path.display().to_string(), &text);
    });
}

/// The instructions that have no family.
fn unknown(statements: &[Statement]) -> Vec<String> {
    let unknown_in = |statement: &Statement| match &statement.kind {
        StatementKind::Block(inner) => unknown(inner),
        StatementKind::Instruction(it) if matches!(it.operation, Operation::Other(_)) => {
            vec![it.to_string()]
        }
        _ => Vec::new(),
    };
    statements.iter().flat_map(unknown_in).collect()
}

/// The tokens without their lines. A number alone has the type of its instruction, with and without a suffix.
fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let tokens = ptx::tokens(text).unwrap();
    tokens.into_iter().map(|(_, token)| match token {
        Token::Unsigned(value) => Token::Integer(value),
        token => token,
    })
}

#[test]
fn modules_are_read_and_printed_token_by_token_and_their_kernels_can_be_run() {
    let kernels = AtomicUsize::new(0);
    for_each_text(|path, text| {
        let module: Module = text.parse().unwrap_or_else(|it| panic!("{path}: {it}"));
        is_printed(path, text, &module);
        for item in &module.items {
            if let Item::Function(function) = item {
                is_known(path, function);
            }
        }
        for kernel in module.kernels() {
            kernels.fetch_add(1, Ordering::Relaxed);
            let program = Program::new(&module, &kernel.name);
            assert!(program.is_ok(), "{path}: {}", program.unwrap_err());
        }
    });
    let kernels = kernels.into_inner();
    assert!(kernels > 1000, "only {kernels} kernels");
}

/// The text that a module prints has the tokens of its own, and is read as the same module.
fn is_printed(path: &str, text: &str, module: &Module) {
    let printed = module.to_string();
    assert!(tokens(text).eq(tokens(&printed)), "{path} prints otherwise");
    let again: Module = printed.parse().unwrap();
    assert_eq!(again, *module, "{path}");
}

/// All instructions of a function have a family, and its blocks end somewhere.
fn is_known(path: &str, function: &Function) {
    let unknown = unknown(function.body.as_deref().unwrap_or_default());
    assert!(unknown.is_empty(), "{path}: {}", unknown[0]);
    let graph = Graph::of(function).unwrap_or_else(|it| panic!("{path}: {it}"));
    let ends = graph.blocks.iter().filter(|it| it.successors.is_empty());
    assert!(
        function.body.is_none() || ends.count() > 0,
        "{path} never ends"
    );
}
