//! Streams, graphs, copies and host data: `cargo bench --bench streams`.

mod calls;
#[path = "../common/mod.rs"]
mod common;
mod copies;
mod host_data;
#[path = "../rivals/mod.rs"]
mod rivals;
mod times;

use common::host_time::CountingAllocator;
use common::{Result, open_device};
use std::process::ExitCode;
use tilewright::Device;
use tilewright_test_support::selection::chosen;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

const HELP: &str = "\
Measures streams, graphs, copies and host data, on one device.

Usage: cargo bench --bench streams -- [OPTIONS]

Options:
  --only TEXT    only tables whose name contains TEXT, or one of several texts separated by commas:
                 host-time, graph, chains, copies, sums, products
  -h, --help     this text
";

/// Measures and prints a table.
type Table = fn(&Device) -> Result;

/// The tables, by their names for `--only`.
const TABLES: [(&str, Table); 6] = [
    ("host-time", calls::host_times),
    ("graph", calls::small_calls),
    ("chains", calls::two_chains),
    ("copies", copies::copies),
    ("sums", host_data::sums),
    ("products", host_data::products),
];

fn main() -> ExitCode {
    common::exit(run())
}

fn run() -> Result {
    let Some(is_chosen) = chosen_tables()? else {
        print!("{HELP}");
        return Ok(());
    };
    let device = open_device()?;
    for ((_, table), is_chosen) in TABLES.iter().zip(is_chosen) {
        if is_chosen {
            table(&device)?;
        }
    }
    Ok(())
}

/// Whether each table is wanted; `None` for `--help`.
fn chosen_tables() -> Result<Option<Vec<bool>>> {
    use lexopt::Arg::{Long, Short};
    use lexopt::ValueExt as _;
    let names = TABLES.map(|(name, _)| name);
    let mut is_chosen = vec![true; TABLES.len()];
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next()? {
        match argument {
            // Cargo passes this to every benchmark.
            Long("bench") => {}
            Long("only") => is_chosen = chosen(&names, &arguments.value()?.string()?)?,
            Short('h') | Long("help") => return Ok(None),
            argument => return Err(argument.unexpected().into()),
        }
    }
    Ok(Some(is_chosen))
}
