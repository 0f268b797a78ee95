//! Every checked-in module of the workspace is read and printed.

use ptx::{Graph, Item, Module, Operation, Program, Statement, StatementKind, Token};
use std::path::Path;
use tilewright_ptxas::{FOLDERS, unpacked};

/// The texts of all modules, each with its path.
fn texts() -> impl Iterator<Item = (String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let paths = FOLDERS.map(|folder| unpacked(&root, folder).unwrap());
    let paths: Vec<_> = paths.into_iter().flatten().collect();
    assert!(paths.len() > 800, "only {} modules", paths.len());
    paths.into_iter().map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path.display().to_string(), text)
    })
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

/// The tokens without their lines.
fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let tokens = ptx::tokens(text).unwrap();
    tokens.into_iter().map(|(_, token)| token)
}

#[test]
fn modules_are_read_and_printed_token_by_token() {
    for (path, text) in texts() {
        let module: Module = text.parse().unwrap_or_else(|it| panic!("{path}: {it}"));
        let printed = module.to_string();
        assert!(
            tokens(&text).eq(tokens(&printed)),
            "{path} prints otherwise"
        );
        let again: Module = printed.parse().unwrap();
        assert_eq!(again, module, "{path}");
        for item in &module.items {
            let Item::Function(function) = item else {
                continue;
            };
            let unknown = unknown(function.body.as_deref().unwrap_or_default());
            assert!(unknown.is_empty(), "{path}: {}", unknown[0]);
            let graph = Graph::of(function).unwrap_or_else(|it| panic!("{path}: {it}"));
            let ends = graph.blocks.iter().filter(|it| it.successors.is_empty());
            assert!(
                function.body.is_none() || ends.count() > 0,
                "{path} never ends"
            );
        }
    }
}

#[test]
fn kernels_can_be_run() {
    let mut kernels = 0;
    for (path, text) in texts() {
        let module: Module = text.parse().unwrap();
        for kernel in module.kernels() {
            kernels += 1;
            let program = Program::new(&module, &kernel.name);
            assert!(program.is_ok(), "{path}: {}", program.unwrap_err());
        }
    }
    assert!(kernels > 1000, "only {kernels} kernels");
}
