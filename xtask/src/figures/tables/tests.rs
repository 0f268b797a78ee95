use super::*;
use tilewright_output::figures::{Device, Figures, Run};

fn figures(rows: Vec<Row>) -> Figures {
    let cub = ("CUB".to_owned(), Some("3.5.0".to_owned()));
    Figures {
        device: Device {
            name: "GPU".to_owned(),
            count: 1,
            compute_capability: None,
            multiprocessors: None,
            l2_cache_bytes: None,
            memory_bytes: None,
        },
        driver: Some("13.0".to_owned()),
        runs: vec![Run {
            date: "2026-01-31".to_owned(),
            commit: Some("abc".to_owned()),
            command: None,
            method: None,
            rivals: BTreeMap::from([cub]),
            rows,
        }],
    }
}

fn row(work: &str, shape: &str, ours: f64, rivals: &[(&str, f64)]) -> Row {
    let rivals = rivals.iter();
    Row {
        work: work.to_owned(),
        element: "f32".to_owned(),
        shape: shape.to_owned(),
        size: Some(1 << 28),
        detail: String::new(),
        unit: Unit::Gigabytes,
        in_l2: Some(false),
        ours: vec![Figure::new("reduce", Some(ours))],
        rivals: rivals
            .map(|&(name, value)| Figure::new(name, Some(value)))
            .collect(),
    }
}

#[test]
fn a_table_compares_with_the_fastest_rival_and_says_where_we_lose() {
    let rows = vec![
        row(
            "rows",
            "64x4194304",
            4200.0,
            &[("CUB, offsets", 1200.0), ("torch", 4400.0)],
        ),
        row("sum", "2^28", 4545.0, &[("CUB", 4500.0)]),
        row("min_max", "2^28", 52.0, &[]),
    ];
    let measured = Measured::of([("compare", figures(rows))]);
    let table = (BLOCKS[1].table)(&measured);
    let lines: Vec<_> = table.lines().skip(2).collect();
    assert_eq!(
        lines,
        [
            "| sum | f32 | 2²⁸ | 4545 GB/s | CUB 4500 GB/s | 1.01 |",
            "| minimum and maximum | f32 | 2²⁸ | 52.0 GB/s |  |  |",
            "| sums of rows | f32 | 64 × 4194304 | 4200 GB/s | torch 4400 GB/s | 0.95 |",
            "",
            "GPU, driver for CUDA 13.0; CUB 3.5.0, torch; measured 2026-01-31, commit abc.",
        ]
    );
}

#[test]
fn a_sum_in_any_order_is_no_rival_of_a_reproducible_one() {
    let rivals = [("CUB, any order", 4500.0), ("CUB, gpu_to_gpu", 3000.0)];
    let rows = vec![
        row("reproducible_sum", "2^28", 4400.0, &rivals),
        // Unless there is no other.
        row("reproducible_sum", "2^29", 4400.0, &rivals[..1]),
    ];
    let measured = Measured::of([("compare", figures(rows))]);
    let table = (BLOCKS[1].table)(&measured);
    assert!(
        table.contains("| 4400 GB/s | CUB, gpu_to_gpu 3000 GB/s | 1.47 |"),
        "{table}"
    );
    assert!(
        table.contains("| 4400 GB/s | CUB, any order 4500 GB/s | 0.98 |"),
        "{table}"
    );
}

#[test]
fn the_summary_has_every_job_that_it_names() {
    let measured = Measured::of_repository().unwrap();
    let names: BTreeSet<String> = measured.rows().map(|it| it.row.name()).collect();
    for name in SUMMARY {
        assert!(names.contains(name), "nothing measured {name}");
    }
}
