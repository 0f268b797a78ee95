//! Chores of the workspace: `cargo xtask --help`.

mod cuda_stub;

use std::error::Error;
use std::process::ExitCode;

/// The result of a chore; the error is one line for a person.
type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

const HELP: &str = "\
Chores of the workspace.

Usage: cargo xtask COMMAND

Commands:
  cuda-stub [FOLDER]  make a CUDA folder with a libcuda to link against where there is none;
                      use it with: eval \"$(cargo xtask cuda-stub)\"
";

fn main() -> ExitCode {
    match run(lexopt::Parser::from_env()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut arguments: lexopt::Parser) -> Result {
    use lexopt::Arg::{Long, Short, Value};
    match arguments.next()? {
        None | Some(Short('h') | Long("help")) => {
            print!("{HELP}");
            Ok(())
        }
        Some(Value(command)) => match command.to_str() {
            Some("cuda-stub") => cuda_stub::run(arguments),
            _ => Err(format!("there is no command {command:?}; see `cargo xtask --help`").into()),
        },
        Some(argument) => Err(argument.unexpected().into()),
    }
}
