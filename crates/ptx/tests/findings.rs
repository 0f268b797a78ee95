//! The simulator's checks find mistakes in PTX, and name its lines.

mod common;

use common::{Buffer, Shape, options, ptx_body, run, text};
use ptx::{Kernel, Module, Program};
use simt::{Defect, DefectKind, Options};

/// The PTX of a sum of f32 without the line that is number `number` among those that contain `part`, and that line's
/// number.
fn sum_without(part: &str, number: usize) -> (String, u32) {
    let text = text("reduce_sum_f32", "sm_75").unwrap();
    let lines = text.lines().enumerate();
    let mut with_part = lines.filter(|(_, line)| line.contains(part));
    let (removed, _) = with_part.nth(number).expect("a line to remove");
    let kept = text.lines().enumerate();
    let kept = kept.map(|(place, line)| if place == removed { "" } else { line });
    (kept.collect::<Vec<_>>().join("\n"), removed as u32 + 1)
}

/// Runs a sum of `length` elements. The kernel's parameter says that there are `stated`.
fn sum(
    text: &str,
    blocks: u32,
    (length, stated): (u32, usize),
    options: &Options,
) -> Result<f32, Box<Defect>> {
    let module: Module = text.parse().unwrap_or_else(|it| panic!("{it}"));
    let program = Program::new(&module, "reduce_sum_f32").unwrap_or_else(|it| panic!("{it}"));
    let kernel = Kernel::new(program.in_file("sum.ptx")).unwrap();
    let values: Vec<f32> = (0..length).map(|it| it as f32).collect();
    let (x, partials) = (
        Buffer::new(&values),
        Buffer::<f32>::uninitialised(blocks as usize),
    );
    let (ticket, result) = (Buffer::new(&[0_u32]), Buffer::<f32>::uninitialised(1));
    let mut views = [x.view(), partials.view(), ticket.view(), result.view()];
    views[0][1] = stated.to_ne_bytes();
    let arguments: Vec<&[u8]> = views.iter().flatten().map(|it| it.as_slice()).collect();
    let shape = Shape {
        grid: blocks,
        block: 256,
        dynamic_shared_bytes: 0,
    };
    run(
        "reduce_sum_f32",
        shape,
        options,
        &ptx_body(&kernel, &arguments),
    )?;
    Ok(result.values()[0])
}

/// The line of the PTX that a finding names.
fn line_of(defect: &Defect) -> u32 {
    let location = defect
        .location
        .as_ref()
        .unwrap_or_else(|| panic!("{defect}"));
    assert_eq!(location.file, "sum.ptx", "{defect}");
    location.line
}

#[test]
fn the_kernel_itself_has_none() {
    let (text, _) = sum_without("// begin inline asm", 0);
    assert_eq!(sum(&text, 2, (300, 300), &options()), Ok(44_850.0));
}

#[test]
fn a_missing_barrier() {
    let (text, line) = sum_without("barrier.sync", 0);
    let defect = sum(&text, 1, (3000, 3000), &options()).unwrap_err();
    let kinds: Vec<DefectKind> = defect.all().map(|it| it.kind).collect();
    assert!(kinds.contains(&DefectKind::UninitialisedRead), "{defect}");
    assert!(kinds.contains(&DefectKind::DataRace), "{defect}");
    // The first access of shared memory behind the barrier.
    let found = line_of(&defect);
    let behind = text.lines().enumerate().skip(line as usize);
    let mut loads = behind.filter(|(_, it)| it.contains("ld.shared"));
    assert_eq!(found as usize, loads.next().unwrap().0 + 1, "{defect}");
    assert!(
        defect
            .to_string()
            .contains("of the array of 128 bytes declared at sum.ptx:"),
        "{defect}"
    );
}

/// The threads of a warp wait for each other in the middle of the instruction.
#[test]
fn a_finding_behind_a_wait_has_the_line_of_the_ptx() {
    let text = "
        .version 8.0 .target sm_90 .address_size 64
        .visible .entry test(.param .u64 out)
        {
            .reg .b32 %r<9>; .reg .b64 %address;
            ld.param.u64 %address, [out];
            wmma.load.a.sync.aligned.row.m16n16k16.global.f16
                {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%address];
            ret;
        }";
    let module: Module = text.parse().unwrap();
    let kernel = Program::new(&module, "test").unwrap().in_file("test.ptx");
    let kernel = Kernel::new(kernel).unwrap();
    for seed in 0..8 {
        let few = Buffer::new(&[0_u32; 10]);
        let [address, _] = few.view();
        let shape = Shape {
            grid: 1,
            block: 32,
            dynamic_shared_bytes: 0,
        };
        let options = Options { seed, ..options() };
        let defect = run("test", shape, &options, &ptx_body(&kernel, &[&address]));
        let defect = defect.unwrap_err();
        let places: Vec<String> = (defect.all())
            .map(|it| {
                it.location
                    .as_ref()
                    .map_or_else(String::new, ToString::to_string)
            })
            .collect();
        assert_eq!(defect.kind, DefectKind::OutOfBounds, "{defect}");
        assert!(
            places.iter().all(|it| it.starts_with("test.ptx:7:")),
            "{places:?}"
        );
    }
}

#[test]
fn a_missing_fence() {
    let (text, _) = sum_without("membar.gl", 0);
    let races = (1..20).filter(|seed| {
        let options = Options {
            seed: *seed,
            parallel_blocks: false,
            ..options()
        };
        let outcome = sum(&text, 4, (30_000, 30_000), &options);
        outcome.is_err_and(|defect| defect.all().any(|it| it.kind == DefectKind::DataRace))
    });
    assert!(races.count() > 0);
}

#[test]
fn memory_behind_the_end() {
    let (text, _) = sum_without("// begin inline asm", 0);
    let defect = sum(&text, 1, (300, 400), &options()).unwrap_err();
    assert_eq!(defect.kind, DefectKind::OutOfBounds, "{defect}");
    let line = text.lines().nth(line_of(&defect) as usize - 1).unwrap();
    assert!(line.contains("ld.global.nc.b32"), "{line}");
}

#[test]
fn lanes_that_do_not_meet() {
    let (text, _) = sum_without("// begin inline asm", 0);
    let wrong = text.replacen("1, 31, -1;", "1, 31, 65535;", 1);
    let defect = sum(&wrong, 1, (300, 300), &options()).unwrap_err();
    assert_eq!(defect.kind, DefectKind::WarpDivergence, "{defect}");
    let line = text.lines().nth(line_of(&defect) as usize - 1).unwrap();
    assert!(line.contains("shfl.sync.bfly"), "{line}");
}

#[test]
fn what_cannot_be_run_names_its_line() {
    let (text, _) = sum_without("// begin inline asm", 0);
    let wrong = text.replacen("setp.nan.f32", "vset.f32", 1);
    let module: Module = wrong.parse().unwrap();
    let error = Program::new(&module, "reduce_sum_f32").unwrap_err();
    let place = wrong
        .lines()
        .position(|it| it.contains("vset.f32"))
        .unwrap();
    assert_eq!(error.errors.len(), 1);
    assert_eq!(error.errors[0].line as usize, place + 1);
    assert_eq!(error.errors[0].operation, "vset.f32");
}
