//! The contents of the charts.

use super::measured::{Found, Measured};
use super::panel::{Axis, Panel, Series};
use super::scene::{Area, BLUE, BROWN, Form, GREEN, GREY, ORANGE, PURPLE, Scene};

/// A chart: its name, and the function that makes it.
pub struct Chart {
    pub name: &'static str,
    /// For screen readers.
    pub title: &'static str,
    panels: fn(&Measured) -> Vec<Panel>,
}

/// All charts.
pub const CHARTS: [Chart; 3] = [
    Chart {
        name: "ratios",
        title: "The fastest rival's time over ours, by size: products, sums and scans, rows and columns, batches",
        panels: ratios,
    },
    Chart {
        name: "reductions",
        title: "Speed of reductions and scans, ours and the rivals', by size",
        panels: reductions,
    },
    Chart {
        name: "products",
        title: "Speed of products of square matrices, ours and the fastest rival's, by size and type",
        panels: products,
    },
];

/// Size of a diagram, and of the margin, in pixels.
const PANEL: (f64, f64) = (440.0, 290.0);
const MARGIN: f64 = 12.0;
const COLUMNS: usize = 2;

impl Chart {
    /// The drawing.
    pub fn draw(&self, measured: &Measured) -> Scene {
        let panels = (self.panels)(measured);
        let panels: Vec<Panel> = panels
            .into_iter()
            .filter(|panel| !panel.series.is_empty())
            .collect();
        let rows = panels.len().div_ceil(COLUMNS);
        let mut scene = Scene {
            width: 2.0 * MARGIN + PANEL.0 * COLUMNS as f64,
            height: 2.0 * MARGIN + PANEL.1 * rows as f64,
            title: self.title.to_owned(),
            shapes: Vec::new(),
        };
        for (number, panel) in panels.iter().enumerate() {
            let left = MARGIN + PANEL.0 * (number % COLUMNS) as f64;
            let top = MARGIN + PANEL.1 * (number / COLUMNS) as f64;
            let area = Area {
                left,
                top,
                right: left + PANEL.0,
                bottom: top + PANEL.1,
            };
            panel.draw(&mut scene, area);
        }
        scene
    }
}

/// The colours and forms of series, in order.
const STYLES: [(&str, Form); 5] = [
    (BLUE, Form::Circle),
    (ORANGE, Form::Square),
    (GREEN, Form::Triangle),
    (PURPLE, Form::Diamond),
    (BROWN, Form::Ring),
];

/// A series of all rows that fit the axes, if there are at least two points.
fn series<'a>(
    name: &str,
    (colour, form): (&'static str, Form),
    measured: &'a Measured,
    x: impl Fn(&Found<'a>) -> Option<f64>,
    y: impl Fn(&Found<'a>) -> Option<f64>,
) -> Option<Series> {
    let points = measured.rows().filter_map(|it| Some((x(&it)?, y(&it)?)));
    let points: Vec<(f64, f64)> = points.collect();
    (points.len() > 1).then(|| Series {
        name: name.to_owned(),
        colour,
        form,
        is_dashed: colour == GREY,
        points,
    })
}

/// The size of rows of this work, type and detail.
fn size_of<'a>(
    work: &'a str,
    element: &'a str,
    detail: &'a str,
) -> impl Fn(&Found<'_>) -> Option<f64> + 'a {
    move |found| {
        let row = found.row;
        let is_meant = row.work == work && row.element == element && row.detail == detail;
        row.size.filter(|_| is_meant).map(|size| size as f64)
    }
}

/// The square products of each type: the rows that represent `matmul`.
const SQUARES: [(&str, &str, &str); 6] = [
    ("f32", "f32", "uniform [-1, 1)"),
    ("f64", "f64", ""),
    ("bf16", "bf16", "B by rows"),
    ("f16", "f16", "B by rows"),
    ("i8", "i8", "B by columns"),
    ("e4m3", "8-bit floats (e4m3)", "B by columns"),
];

fn ratios(measured: &Measured) -> Vec<Panel> {
    let ratio = |found: &Found<'_>| found.ratio();
    let all = |works: &[(&str, &str, &str, &str)]| -> Vec<Series> {
        let works = works.iter().zip(STYLES);
        works
            .filter_map(|(&(name, work, element, detail), style)| {
                series(name, style, measured, size_of(work, element, detail), ratio)
            })
            .collect()
    };
    let squares = SQUARES.iter().filter(|(element, ..)| *element != "f16");
    let squares: Vec<_> = squares
        .map(|&(element, _, detail)| (element, "product", element, detail))
        .collect();
    let lines = [("rows", "rows"), ("columns", "columns")];
    let lines = lines
        .iter()
        .zip(STYLES)
        .filter_map(|(&(name, work), style)| {
            series(name, style, measured, rows_of_large(work), ratio)
        });
    let panel = |title: &str, x, series| Panel {
        title: title.to_owned(),
        x,
        y: Axis::Ratio,
        series,
    };
    vec![
        panel(
            "Products of square matrices",
            "rows and columns",
            all(&squares),
        ),
        panel(
            "Sums and scans of f32",
            "elements",
            all(&[
                ("sum", "sum", "f32", ""),
                ("scan", "scan", "f32", ""),
                ("exact sum", "reproducible_sum", "f32", ""),
            ]),
        ),
        panel(
            "Sums of the rows and columns of 2²⁸ f32",
            "rows of the matrix",
            lines.collect(),
        ),
        panel(
            "Batches of products of small matrices",
            "rows and columns of each matrix",
            all(&[("f32", "batch", "f32", ""), ("bf16", "batch", "bf16", "")]),
        ),
    ]
}

/// Elements of the matrices in the charts of rows and columns.
const LARGE: u64 = 1 << 28;

/// The rows of the large matrices of a work.
fn rows_of_large(work: &str) -> impl Fn(&Found<'_>) -> Option<f64> {
    move |found| {
        let row = found.row;
        let is_meant = row.work == work && row.element == "f32" && row.size == Some(LARGE);
        let (rows, _) = row.shape.split_once('x').filter(|_| is_meant)?;
        rows.parse().ok()
    }
}

fn ours(found: &Found<'_>) -> Option<f64> {
    found.ours()?.value
}

/// The speed of the fastest rival whose name starts with `start`.
fn rival(start: &str) -> impl Fn(&Found<'_>) -> Option<f64> {
    move |found| {
        found
            .row
            .strongest_rival(|name| name.starts_with(start))?
            .value
    }
}

fn reductions(measured: &Measured) -> Vec<Panel> {
    let panel = |title: &str,
                 x: &'static str,
                 place: &dyn Fn(&Found<'_>) -> Option<f64>,
                 rivals: &[(&str, &str)]| {
        let mut lines = vec![series("tilewright", STYLES[0], measured, place, ours)];
        for ((name, start), style) in rivals
            .iter()
            .zip([(GREY, Form::Square), (ORANGE, Form::Ring)])
        {
            lines.push(series(name, style, measured, place, rival(start)));
        }
        Panel {
            title: title.to_owned(),
            x,
            y: Axis::Speed("GB/s"),
            series: lines.into_iter().flatten().collect(),
        }
    };
    let both = [("CUB", "CUB"), ("torch", "torch")];
    let elements = "elements";
    let mut scan = panel(
        "Inclusive scan of f32",
        elements,
        &size_of("scan", "f32", ""),
        &both,
    );
    // A scan reads and writes the same bytes as a copy.
    let copy = size_of("copy", "f32", "");
    scan.series
        .extend(series("copy", STYLES[2], measured, copy, ours));
    vec![
        panel("Sum of f32", elements, &size_of("sum", "f32", ""), &both),
        panel(
            "Exact sum of f32, the same bits in any order",
            elements,
            &size_of("reproducible_sum", "f32", ""),
            &[("CUB, gpu_to_gpu", "CUB, gpu_to_gpu")],
        ),
        scan,
        panel(
            "Sums of the rows of 2²⁸ f32",
            "rows of the matrix",
            &rows_of_large("rows"),
            &both,
        ),
        panel(
            "Sums of the columns of 2²⁸ f32",
            "rows of the matrix",
            &rows_of_large("columns"),
            &both,
        ),
    ]
}

fn products(measured: &Measured) -> Vec<Panel> {
    let panel = |&(element, title, detail): &(&str, &str, &str)| {
        let place = size_of("product", element, detail);
        let lines = [
            series("matmul", STYLES[0], measured, &place, ours),
            series(
                "cuBLAS",
                (GREY, Form::Square),
                measured,
                &place,
                rival("cuBLAS"),
            ),
        ];
        Panel {
            title: match detail {
                "B by rows" | "B by columns" => format!("{title}, {detail}"),
                _ => title.to_owned(),
            },
            x: "rows and columns",
            y: Axis::Speed("TFLOP/s"),
            series: lines.into_iter().flatten().collect(),
        }
    };
    SQUARES.iter().map(panel).collect()
}

#[cfg(test)]
mod tests {
    use super::super::scene::{Line, Shape};
    use super::*;

    fn scenes() -> Vec<(&'static str, Scene)> {
        let measured = Measured::of_repository().unwrap();
        let scenes = CHARTS.iter().map(|it| (it.name, it.draw(&measured)));
        scenes.collect()
    }

    /// The lines of series in a drawing.
    fn lines(scene: &Scene) -> impl Iterator<Item = &Line> {
        scene.shapes.iter().filter_map(|shape| match shape {
            Shape::Line(line) if line.series.is_some() => Some(line),
            _ => None,
        })
    }

    #[test]
    fn lines_rise_and_labels_stand_apart_within_the_canvas() {
        for (name, scene) in scenes() {
            assert!(lines(&scene).count() > 3, "{name} lacks lines");
            assert_eq!(scene.breach(), None, "{name}");
        }
    }

    #[test]
    fn the_picture_of_ratios_has_f32_products_by_matmul() {
        let measured = Measured::of_repository().unwrap();
        let panels = ratios(&measured);
        let f32 = panels[0].series.iter().find(|it| it.name == "f32").unwrap();
        let expected = measured.rows().filter(|it| {
            let Found { row, .. } = it;
            row.work == "product" && row.element == "f32" && row.detail == "uniform [-1, 1)"
        });
        let expected: Vec<_> = expected
            .map(|it| (it.row.size.unwrap() as f64, it.ratio().unwrap()))
            .collect();
        assert!(expected.len() > 4);
        assert_eq!(f32.points, expected);
    }

    #[test]
    fn names_that_would_collide_move_apart() {
        let line = |name: &str, end: f64| Series {
            name: name.to_owned(),
            colour: BLUE,
            form: Form::Circle,
            is_dashed: false,
            // Unsorted, as in files.
            points: vec![(6144.0, 3.0), (8192.0, end), (512.0, 1.0), (576.0, 0.1)],
        };
        for y in [Axis::Ratio, Axis::Speed("GB/s")] {
            let ends = [7.9, 7.9, 7.8, 7.7, 0.1];
            let series = ends.iter().enumerate();
            let panel = Panel {
                title: "Five".to_owned(),
                x: "rows",
                y,
                series: series
                    .map(|(number, end)| line(&format!("series {number}"), *end))
                    .collect(),
            };
            let mut scene = Scene {
                width: PANEL.0,
                height: PANEL.1,
                ..Scene::default()
            };
            let area = Area {
                left: 0.0,
                top: 0.0,
                right: PANEL.0,
                bottom: PANEL.1,
            };
            panel.draw(&mut scene, area);
            assert_eq!(scene.breach(), None);
            assert_eq!(lines(&scene).count(), 5);
            let names = scene.texts().filter(|it| it.text.starts_with("series"));
            assert_eq!(names.count(), 5);
        }
    }
}
