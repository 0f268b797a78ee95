//! What the code of each kernel consists of: a table that a review can read, where the PTX is too long.

use crate::workspace::Result;
use cuda_builder::Build;
use std::fmt::Write as _;
use std::fs;

/// The columns: a name, and the beginnings of the opcodes that count.
const COLUMNS: [(&str, &[&str]); 11] = [
    ("all", &[""]),
    ("mma", &["mma.", "wgmma.mma_async"]),
    ("fma", &["fma.", "dp4a.", "mad."]),
    (
        "ld.global",
        &[
            "ld.global",
            "ld.relaxed",
            "ld.volatile.global",
            "ld.acquire",
        ],
    ),
    (
        "st.global",
        &[
            "st.global",
            "st.relaxed",
            "st.volatile.global",
            "st.release",
        ],
    ),
    ("copy", &["cp.async", "cp.reduce"]),
    (
        "shared",
        &["ld.shared", "st.shared", "ldmatrix", "stmatrix"],
    ),
    ("atomic", &["atom.", "red."]),
    ("shuffle", &["shfl.", "vote.", "match.", "redux."]),
    ("barrier", &["bar.", "barrier.", "mbarrier."]),
    ("branch", &["bra"]),
];

/// A line for each kernel and architecture: the instructions of its PTX by kind, and the bytes of its static shared
/// memory.
pub fn table(build: &Build) -> Result<String> {
    let mut table = String::from(
        "# Instructions in the PTX of each kernel, and its bytes of static shared memory.\n",
    );
    let names = COLUMNS.map(|(name, _)| name).join(" ");
    writeln!(table, "kernel arch {names} bytes")?;
    let mut lines = Vec::new();
    for module in &build.modules {
        let text = fs::read_to_string(&module.path)?;
        for kernel in &module.kernels {
            let code = body(&text, kernel).ok_or_else(|| format!("no entry {kernel}"))?;
            let counts = counts(code).map(|count| count.to_string()).join(" ");
            let bytes = shared_bytes(&text, code);
            lines.push((
                kernel,
                module.arch,
                format!("{kernel} {} {counts} {bytes}\n", module.arch),
            ));
        }
    }
    lines.sort();
    table.extend(lines.into_iter().map(|(_, _, line)| line));
    Ok(table)
}

/// The body of an entry.
fn body<'a>(module: &'a str, kernel: &str) -> Option<&'a str> {
    let (_, entry) = module.split_once(&format!(".entry {kernel}("))?;
    entry.split("\n}").next()
}

fn counts(code: &str) -> [usize; COLUMNS.len()] {
    let mut counts = [0; COLUMNS.len()];
    for opcode in code.lines().flat_map(opcodes) {
        for (count, (_, beginnings)) in counts.iter_mut().zip(COLUMNS) {
            *count += usize::from(beginnings.iter().any(|it| opcode.starts_with(it)));
        }
    }
    counts
}

/// The opcodes of the instructions in a line.
fn opcodes(line: &str) -> impl Iterator<Item = &str> {
    let line = line.split("//").next().unwrap_or_default();
    // Behind the last semicolon there is none; a label has no semicolon.
    let (instructions, _) = line.rsplit_once(';').unwrap_or_default();
    instructions.split(';').filter_map(|instruction| {
        let mut words = instruction.split_whitespace();
        let opcode = words.find(|word| !word.starts_with(['@', '{', '}']))?;
        (!opcode.starts_with('.')).then_some(opcode)
    })
}

/// The bytes of the static arrays in shared memory that the code names.
fn shared_bytes(module: &str, code: &str) -> usize {
    let arrays = module
        .lines()
        .filter(|line| line.trim_start().starts_with(".shared"));
    let sizes = arrays.filter_map(|line| {
        let (declared, size) = line.trim_end().strip_suffix("];")?.rsplit_once('[')?;
        let name = declared.split_whitespace().next_back()?;
        let size: usize = size.parse().ok()?;
        code.contains(name).then_some(size)
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "\
.version 7.0
.shared .align 16 .b8 tile[1024];
.shared .align 16 .b8 other[64];
.visible .entry k(
\t.param .u64 k_param_0
)
{
\t.reg .b32 \t%r<3>;
\t.shared .align 4 .b8 own[32];
// %bb.0:
\tld.param.b64 \t%rd1, [k_param_0];
\t@%p1 bra \t$L__BB0_2;
\tld.global.nc.v4.b32 \t{%r1, %r2, %r3, %r4}, [%rd1];
\t{ st.shared.b32 [tile], %r1; }
$L__BB0_2:
\tbarrier.sync \t0;
\tst.shared.b32 [own], %r1;
\tret;
}
";

    #[test]
    fn instructions_are_counted_by_their_beginning() {
        let code = body(MODULE, "k").unwrap();
        let counts = counts(code);
        let of = |name| counts[COLUMNS.iter().position(|it| it.0 == name).unwrap()];
        assert_eq!(of("all"), 7);
        assert_eq!(
            (of("ld.global"), of("shared"), of("barrier"), of("branch")),
            (1, 2, 1, 1)
        );
        assert_eq!((of("mma"), of("atomic")), (0, 0));
    }

    #[test]
    fn arrays_count_where_the_kernel_names_them() {
        let code = body(MODULE, "k").unwrap();
        assert_eq!(shared_bytes(MODULE, code), 1024 + 32);
    }
}
