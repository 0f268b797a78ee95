//! Mistakes that a compiler could make, planted in shipped PTX. The simulator finds each, and nothing in the PTX as it
//! is.

use crate::cases::{Case, INEXACT_PRODUCT, WARPGROUPS, case};
use crate::common::image;
use crate::mutants::{Verdict, is_reached, unchanged, verdict_of_edit};

/// Seeds under which each is looked for.
const SEEDS: u64 = 4;

/// What is made of the lines of a kernel.
type Edit = fn(&[&str]) -> Vec<String>;

/// Plants a mistake in a kernel, and expects a finding of a kind.
#[track_caller]
fn expect_finding(kernel: &str, edit: Edit, kind: &str) {
    let case = case(kernel);
    let (bits, _) = unchanged(case);
    let edited = move |text: &str| {
        let lines = lines_of(text);
        let edited = edit(&lines);
        assert!(edited != lines, "nothing is planted");
        edited.join("\n")
    };
    let verdict = verdict_of_edit(case, &bits, edited, 0..SEEDS);
    let is_found = matches!(&verdict, Verdict::Finding(_, kinds) if kinds.contains(kind));
    assert!(is_found, "{kernel}: {verdict:?}");
}

fn lines_of(text: &str) -> Vec<&str> {
    text.lines().collect()
}

/// The number of the line from which on neighbouring lines meet `conditions`, one each.
fn window<const N: usize>(lines: &[&str], conditions: [fn(&str) -> bool; N]) -> usize {
    let fits = |window: &[&str]| {
        window
            .iter()
            .zip(conditions)
            .all(|(line, is)| is(line.trim()))
    };
    lines.windows(N).position(fits).expect("no such lines")
}

/// The lines with one moved to the place behind another.
fn moved(lines: &[&str], from: usize, behind: usize) -> Vec<String> {
    let mut lines: Vec<String> = lines.iter().map(|&it| it.to_owned()).collect();
    let line = lines.remove(from);
    lines.insert(if from > behind { behind + 1 } else { behind }, line);
    lines
}

fn replaced(lines: &[&str], number: usize, from: &str, to: &str) -> Vec<String> {
    let mut lines: Vec<String> = lines.iter().map(|&it| it.to_owned()).collect();
    assert!(lines[number].contains(from), "{}", lines[number]);
    lines[number] = lines[number].replacen(from, to, 1);
    lines
}

fn is_barrier(line: &str) -> bool {
    line.starts_with("barrier.sync")
}

fn is_branch(line: &str) -> bool {
    line.starts_with('@') && line.contains("bra")
}

fn is_shuffle(line: &str) -> bool {
    line.starts_with("shfl.sync")
}

#[test]
fn a_barrier_moved_into_a_branch_is_found() {
    let edit: Edit = |lines| {
        let at = window(lines, [is_barrier, |it| it.starts_with("setp"), is_branch]);
        moved(lines, at, at + 2)
    };
    expect_finding("reduce_sum_f32", edit, "divergent block barrier");
}

#[test]
fn a_shuffle_moved_into_a_branch_is_found() {
    let edit: Edit = |lines| {
        let is_load = |it: &str| it.starts_with("ld.shared");
        let at = window(lines, [is_load, |it| it.ends_with(':'), is_shuffle]);
        moved(lines, at + 2, at)
    };
    expect_finding("reduce_sum_f32", edit, "deadlock");
}

#[test]
fn a_load_moved_before_a_barrier_is_found() {
    let edit: Edit = |lines| {
        let at = window(lines, [is_barrier, |it| it.starts_with("ld.shared")]);
        moved(lines, at, at + 1)
    };
    expect_finding("reduce_sum_f32", edit, "data race");
}

#[test]
fn a_store_moved_behind_the_ticket_is_found() {
    let edit: Edit = |lines| {
        let at = window(
            lines,
            [|it| it.starts_with("st.global"), |it| it == "membar.gl;"],
        );
        let ticket = lines[at..]
            .iter()
            .position(|it| it.contains("atom.global.add"));
        moved(lines, at, at + ticket.expect("no ticket"))
    };
    expect_finding("reduce_sum_f32", edit, "data race");
}

#[test]
fn a_load_of_what_others_write_as_read_only_data_is_found() {
    let edit: Edit = |lines| {
        let at = window(lines, [|it| it.starts_with("ld.global.b32")]);
        replaced(lines, at, "ld.global.b32", "ld.global.nc.b32")
    };
    expect_finding("reduce_sum_f32", edit, "stale read");
}

/// Plants another rounding in each such instruction that a call executes, one at a time.
fn expect_other_bits(case: &Case, from: &'static str, to: &'static str) {
    let (bits, _) = unchanged(case);
    let text = image(case.kernel, case.profile).unwrap();
    let lines = text.lines().enumerate();
    let rounded = lines.filter(|(_, line)| line.contains(from));
    let reached = rounded.filter(|(line, _)| is_reached(case, *line));
    let places: Vec<usize> = reached.map(|it| it.0).collect();
    assert!(!places.is_empty(), "{} has no {from}", case.kernel);
    for line in places {
        let edit = move |text: &str| replaced(&lines_of(text), line, from, to).join("\n");
        let verdict = verdict_of_edit(case, &bits, edit, 0..1);
        let is_found = matches!(verdict, Verdict::WrongBits(_));
        assert!(is_found, "{}, line {}: {verdict:?}", case.kernel, line + 1);
    }
}

#[test]
fn wrong_roundings_of_sums_are_found() {
    expect_other_bits(&INEXACT_PRODUCT, "fma.rn.f32", "fma.rz.f32");
}

#[test]
fn wrong_roundings_of_conversions_are_found() {
    let case = case("matmul_mma_small_f16_nn");
    expect_other_bits(case, "cvt.rn.f16", "cvt.rz.f16");
}

/// Bits of a matrix descriptor by their field: the address, the stride, the base offset and the swizzle. Those of the
/// leading distance are not used with a swizzle that spans the tile; the others have no meaning.
fn bits_of_descriptors() -> impl Iterator<Item = u32> {
    (0..14).chain(32..46).chain(49..52).chain(62..64)
}

/// Plants what an edit of the kernel's lines makes, and expects that it is found.
#[track_caller]
fn expect_found(
    case: &Case,
    bits: &[u8],
    what: &str,
    edit: impl Fn(&[&str]) -> Vec<String> + Clone + Send + Sync + 'static,
) {
    let edit = move |text: &str| edit(&lines_of(text)).join("\n");
    let verdict = verdict_of_edit(case, bits, edit, 0..1);
    assert!(
        !matches!(verdict, Verdict::NoDifference),
        "{what}: {verdict:?}"
    );
}

#[test]
fn a_wrong_bit_of_a_descriptor_is_found() {
    let (bits, _) = unchanged(&WARPGROUPS);
    for operand in 0..2 {
        for bit in bits_of_descriptors() {
            let edit = move |lines: &[&str]| {
                // A descriptor begins with its swizzle, of 128 bytes: 1 << 62.
                let is_made = |it: &str| it.starts_with("or.b64") && it.contains(", 46116");
                let mut places = (0..lines.len()).filter(|&it| is_made(lines[it].trim()));
                let at = places.nth(operand).expect("no descriptor");
                let (_, behind) = lines[at].split_once('%').unwrap();
                let register = format!("%{}", behind.split_once(',').unwrap().0);
                let flip = format!("; xor.b64 {register}, {register}, {};", 1_u64 << bit);
                replaced(lines, at, ";", &flip)
            };
            let what = format!("operand {operand}, bit {bit}");
            expect_found(&WARPGROUPS, &bits, &what, edit);
        }
    }
}

#[test]
fn a_wrong_order_of_an_operand_is_found() {
    let (bits, _) = unchanged(&WARPGROUPS);
    for wrong in [", 1, 1, 1, 1;", ", 1, 1, 0, 0;"] {
        let edit = move |lines: &[&str]| {
            let at = window(lines, [|it| it.starts_with("wgmma.mma_async")]);
            replaced(lines, at, ", 1, 1, 0, 1;", wrong)
        };
        expect_found(&WARPGROUPS, &bits, wrong, edit);
    }
}
