//! The contents of a PTX file, and a launch file to begin with.

use ptx::{Declaration, Function, Module, Program, Type};
use std::fmt::Write as _;

/// The kernels of a module, with their parameters, and what cannot be run.
#[must_use]
pub fn listing(module: &Module) -> String {
    let mut text = String::new();
    for kernel in module.kernels() {
        let parameters = kernel.signature.parameters.iter();
        let parameters: Vec<String> = parameters.map(|it| it.to_string()).collect();
        let _ = writeln!(text, "{}({})", kernel.name, parameters.join(", "));
        if let Err(error) = Program::new(module, &kernel.name) {
            let _ = writeln!(text, "  {}", error.to_string().replace('\n', "\n  "));
        }
    }
    text
}

/// A launch file for a kernel, with a buffer for each parameter that may be an address.
#[must_use]
pub fn skeleton(path: &str, kernel: &Function) -> String {
    let names: Vec<String> = (0..kernel.signature.parameters.len())
        .map(|number| format!("p{number}"))
        .collect();
    let parameters = kernel.signature.parameters.iter().zip(&names);
    let arguments = parameters
        .clone()
        .map(|(parameter, name)| match is_address(parameter) {
            true => format!("\"{name}\""),
            false => initial(parameter).to_owned(),
        });
    let arguments: Vec<String> = arguments.collect();
    let mut text = format!(
        "ptx = {}\nentry = {}\ngrid = 1\nblock = 128\narguments = [{}]\n",
        quoted(path),
        quoted(&kernel.name),
        arguments.join(", ")
    );
    for (_, name) in parameters.filter(|(parameter, _)| is_address(parameter)) {
        let _ = write!(
            text,
            "\n[buffers.{name}]\ntype = \"f32\"\nlength = 128\nfill = \"random\"\nprint = true\n"
        );
    }
    text
}

/// A text as TOML has it: as JSON does, which leaves one control character as it is.
fn quoted(text: &str) -> String {
    let text = serde_json::Value::from(text).to_string();
    text.replace('\u{7f}', "\\u007f")
}

fn is_scalar(parameter: &Declaration) -> bool {
    parameter
        .variables
        .iter()
        .all(|it| it.dimensions.is_empty())
}

fn is_address(parameter: &Declaration) -> bool {
    is_scalar(parameter) && matches!(parameter.of, Type::U64 | Type::B64)
}

fn initial(parameter: &Declaration) -> &'static str {
    match parameter.of {
        _ if !is_scalar(parameter) => "[{ value = 128, type = \"u32\" }]",
        Type::F16 | Type::Bf16 | Type::F32 | Type::F64 => "1.0",
        _ => "128",
    }
}
