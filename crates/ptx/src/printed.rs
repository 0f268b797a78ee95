//! A printed module is read back unchanged.

use crate::lexer::placed_tokens;
use crate::operations::any_operation;
use crate::parser::Parser;
use crate::syntax::{
    Bound, BoundKind, Column, Declaration, Function, FunctionKind, Guard, Initial, Instruction,
    Item, Line, Linkage, Module, Operand, Pointer, Signature, Statement, StatementKind,
    TargetsKind, Variable,
};
use crate::words::{Memory, Type, Vector};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

fn name() -> impl Strategy<Value = Box<str>> {
    "(%[a-z]{1,2}[0-9]{1,3}|[a-z_$][a-z0-9_$]{0,6})".prop_map(|text: String| text.into())
}

fn register() -> impl Strategy<Value = Box<str>> {
    let special = select(vec!["%tid.x", "%ctaid.z", "%laneid"]);
    prop_oneof![name(), special.prop_map(Box::from)]
}

fn integer() -> impl Strategy<Value = i128> {
    prop_oneof![
        any::<i64>().prop_map(i128::from),
        any::<u64>().prop_map(i128::from)
    ]
}

fn operand() -> impl Strategy<Value = Operand> {
    let leaf = prop_oneof![
        register().prop_map(Operand::Name),
        name().prop_map(Operand::Negated),
        (name(), name()).prop_map(|(first, second)| Operand::Pair(first, second)),
        integer().prop_map(Operand::Integer),
        any::<u32>().prop_map(Operand::Single),
        any::<u64>().prop_map(Operand::Double),
        (name(), any::<i64>()).prop_map(|(name, offset)| Operand::Offset(name, offset)),
        (of(name()), any::<i64>()).prop_map(|(base, offset)| Operand::Memory(base, offset)),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Operand::Vector),
            (name(), vec(inner, 0..4)).prop_map(|(map, at)| Operand::Tensor(map, at)),
        ]
    })
}

/// An operand, or arguments of a call.
fn operand_of_call() -> impl Strategy<Value = Operand> {
    prop_oneof![operand(), vec(operand(), 0..4).prop_map(Operand::List)]
}

fn instruction() -> impl Strategy<Value = Instruction> {
    let guard = (any::<bool>(), name()).prop_map(|(is_negated, predicate)| Guard {
        is_negated,
        predicate,
    });
    let operation = any_operation().prop_flat_map(|(operation, count)| {
        let operands = match operation.to_string().split('.').next() {
            Some("call") => vec(operand_of_call(), count).boxed(),
            _ => vec(operand(), count).boxed(),
        };
        (Just(operation), operands)
    });
    (of(guard), operation).prop_map(|(guard, (operation, operands))| Instruction {
        guard,
        operation,
        operands,
    })
}

fn variable() -> impl Strategy<Value = Variable> {
    let initial = prop_oneof![
        integer().prop_map(|it| Initial::Value(Operand::Integer(it))),
        (name(), any::<i64>()).prop_map(|(name, offset)| Initial::Generic(name, offset)),
        vec(integer(), 0..3).prop_map(|values| {
            let value = |it| Initial::Value(Operand::Integer(it));
            Initial::List(values.into_iter().map(value).collect())
        }),
    ];
    let dimensions = vec(of(any::<u64>()), 0..3);
    (name(), of(any::<u64>()), dimensions, of(initial)).prop_map(
        |(name, count, dimensions, initial)| Variable {
            name,
            count,
            dimensions,
            initial,
        },
    )
}

fn declaration(variables: usize) -> impl Strategy<Value = Declaration> {
    let pointer = (of(select(Memory::ALL)), of(any::<u64>()))
        .prop_map(|(memory, alignment)| Pointer { memory, alignment });
    (
        select(Memory::ALL),
        of(any::<u64>()),
        of(select(Vector::ALL)),
        select(Type::ALL),
        of(pointer),
        vec(variable(), 1..=variables),
    )
        .prop_map(
            |(memory, alignment, vector, of, pointer, variables)| Declaration {
                line: Line(0),
                linkage: None,
                memory,
                alignment,
                vector,
                of,
                pointer,
                variables,
            },
        )
}

fn signature() -> impl Strategy<Value = Signature> {
    let numbers = (select(BoundKind::ALL), vec(any::<u64>(), 0..4));
    let bound = prop_oneof![
        numbers.prop_map(|(kind, numbers)| Bound::Numbers(kind, numbers)),
        vec(Just("nounroll".into()), 1..3).prop_map(Bound::Pragma),
    ];
    (
        vec(declaration(1), 0..2),
        vec(declaration(1), 0..3),
        vec(bound, 0..3),
    )
        .prop_map(|(results, parameters, bounds)| Signature {
            results,
            parameters,
            bounds,
        })
}

fn statement() -> impl Strategy<Value = Statement> {
    let targets = (name(), select(TargetsKind::ALL), vec(name(), 1..4));
    let leaf = prop_oneof![
        8 => instruction().prop_map(StatementKind::Instruction),
        1 => declaration(3).prop_map(StatementKind::Declaration),
        1 => name().prop_map(StatementKind::Label),
        1 => targets.prop_map(|(label, kind, targets)| StatementKind::Targets { label, kind, targets }),
        1 => vec(Just("x".into()), 1..3).prop_map(StatementKind::Pragma),
    ];
    let at = |kind| Statement {
        line: Line(0),
        column: Column(0),
        kind,
    };
    leaf.prop_map(at).prop_recursive(2, 16, 4, move |inner| {
        vec(inner, 0..4).prop_map(move |inner| at(StatementKind::Block(inner)))
    })
}

fn module() -> impl Strategy<Value = Module> {
    let function = (
        of(select(Linkage::ALL)),
        select(FunctionKind::ALL),
        "[a-z]{1,5}",
        signature(),
        of(vec(statement(), 0..6)),
    )
        .prop_map(|(linkage, kind, name, signature, body)| {
            Item::Function(Function {
                linkage,
                kind,
                name: name.into(),
                signature,
                body,
            })
        });
    let global = (of(select(Linkage::ALL)), declaration(2)).prop_map(|(linkage, declaration)| {
        Item::Declaration(Declaration {
            linkage,
            ..declaration
        })
    });
    let target = vec(Just("sm_90a".into()), 1..3);
    (
        any::<(u32, u32)>(),
        target,
        of(any::<u64>()),
        vec(prop_oneof![function, global], 0..4),
    )
        .prop_map(|(version, target, address_size, items)| Module {
            version,
            target,
            address_size,
            items,
        })
}

proptest! {
    #[test]
    fn instructions(instruction in instruction()) {
        let text = instruction.to_string();
        let module = format!(".version 8.0 .target sm_90a .entry e() {{ {text} }}");
        let tokens = placed_tokens(&module).unwrap();
        let read = Parser::new(&tokens).module().map_err(|it| TestCaseError::fail(format!("{text}: {it:?}")))?;
        let body = read.kernels().next().unwrap().body.clone().unwrap();
        prop_assert_eq!(&body[0].kind, &StatementKind::Instruction(instruction), "{}", text);
    }

    #[test]
    fn modules(module in module()) {
        let text = module.to_string();
        let read: Module = text.parse().map_err(|it| TestCaseError::fail(format!("{it}\n{text}")))?;
        prop_assert_eq!(read, module, "{}", text);
    }

    #[test]
    fn no_text_ends_the_reader(text in "[-a-z0-9.%{}()<>\\[\\],;:@!|+= \"\n]{0,60}") {
        let _ = format!(".version 8.0\n.target sm_90a\n{text}").parse::<Module>();
    }
}
