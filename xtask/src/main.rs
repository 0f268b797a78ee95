//! Chores of the workspace: `cargo xtask --help`.

mod bundle;
mod figures;
mod layers;
mod links;
mod packages;
mod ptx;
mod ptxas;
mod sass;
mod terms;
mod times;
mod tracked;
mod workspace;

use std::process::ExitCode;
use workspace::Result;

const HELP: &str = "\
Chores of the workspace.

Usage: cargo xtask COMMAND

Commands:
  bundle [--benches] [--rivals ARCH] [FOLDER]
                      gather tests, benchmarks and examples, or benchmarks alone, in a folder
                      [default: target/bundle] that runs on a GPU machine without Rust; with
                      --rivals, compile the benchmarks' rivals in C++ for an architecture, such
                      as sm_90, with nvcc
  figures [--check] [--add FILE...]
                      write the tables, numbers and charts of README.md and docs/ from
                      benches/results/, and the charts of ladder/pages/tensor.md from its table;
                      with --check, look whether they are stale; with --add, first add files that
                      benchmarks wrote elsewhere
  layers              look for files of a crate that use one another in circles, and for files of
                      more than 400 lines, and compare the layers in docs/architecture.md with the
                      modules
  links               look for links of the pages that lead nowhere within the repository, out of
                      the guide, or into the middle of a notebook
  packages            run `cargo publish` but for the upload, look for licences and pages, build and
                      run a program on the packages elsewhere, count its crates, and show that
                      PTX and kernels of different versions do not compile
  ptx [--check]       build the checked-in PTX anew; with --check, compare it with what the
                      kernels make
  ptxas [--write] [--on GPU,...] [--draw TEXT]
                      assemble the checked-in PTX for each GPU, or for some, print registers, and
                      fail on spills, stack frames, accesses without a state space, slow
                      instructions in the loops of tensor-core products, and a stale
                      ladder/registers.txt; with --write, write that table anew; with --draw,
                      take the eighth of the modules that the text draws
  terms               look for terms in pages, comments and strings for which the field has another
  times               print how long a stranger waits: for the README's first program, for the
                      tests of examples/custom_kernel on the simulator and for its PTX, from
                      nothing and after edits
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
            Some("bundle") => bundle::run(arguments),
            Some("figures") => figures::run(arguments),
            Some("layers") => layers::run(arguments),
            Some("links") => links::run(arguments),
            Some("packages") => packages::run(arguments),
            Some("ptx") => ptx::run(arguments),
            Some("ptxas") => ptxas::run(arguments),
            Some("terms") => terms::run(arguments),
            Some("times") => times::run(arguments),
            _ => Err(format!("there is no command {command:?}; see `cargo xtask --help`").into()),
        },
        Some(argument) => Err(argument.unexpected().into()),
    }
}
