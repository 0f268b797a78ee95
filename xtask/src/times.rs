//! `cargo xtask times`: a user's build times: a program on the library, tests of kernels on the simulator, and
//! kernels to PTX; from scratch and after an edit.

mod ptx;
mod simulator;
mod waiting;

use crate::workspace::{Result, workspace_root};
use std::process::Command;
use std::thread;
use waiting::Line;

pub fn run(mut arguments: lexopt::Parser) -> Result {
    if let Some(argument) = arguments.next()? {
        return Err(argument.unexpected().into());
    }
    let root = workspace_root();
    let processors = thread::available_parallelism().map_or(1, usize::from);
    println!("{processors} processors, {}", version()?);
    print_table(
        "a program that depends on the library by path",
        &simulator::first_program(&root)?,
    );
    print_table(
        "custom kernels on the simulator",
        &simulator::tests_of_kernels(&root)?,
    );
    let (toolchain, lines) = ptx::builds(&root)?;
    println!("\nPTX by {toolchain}, 3 architectures");
    print_table("two kernels to PTX", &lines);
    Ok(())
}

fn print_table(title: &str, lines: &[Line]) {
    println!("\n| {title} | seconds |\n|---|---:|");
    for (what, time) in lines {
        println!("| {what} | {:.1} |", time.as_secs_f64());
    }
}

/// The Rust version for packages outside the repository.
fn version() -> Result<String> {
    let output = Command::new("rustc").arg("--version").output()?;
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}
