//! One diagram of a drawing: axes, and series with names at their ends.

use super::scene::{Anchor, Area, Form, GREY, GRID, INK, Line, Marker, Scene, Shape, Text};

/// The contents of a diagram. The horizontal axis is logarithmic.
#[derive(Clone, Debug)]
pub struct Panel {
    pub title: String,
    /// The label of the horizontal axis.
    pub x: &'static str,
    pub y: Axis,
    pub series: Vec<Series>,
}

/// The vertical axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Ratios to a rival, logarithmic, with a line at 1.
    Ratio,
    /// A speed, from 0, in this unit.
    Speed(&'static str),
}

/// A line of a diagram.
#[derive(Clone, Debug)]
pub struct Series {
    pub name: String,
    pub colour: &'static str,
    pub form: Form,
    pub is_dashed: bool,
    /// In any order; `x` is positive.
    pub points: Vec<(f64, f64)>,
}

/// Sizes of fonts.
const TITLE: f64 = 14.0;
const LABEL: f64 = 12.0;

/// Pixels between a diagram's border and its plot. Names of series are on the right.
const ABOVE: f64 = 46.0;
const BELOW: f64 = 46.0;
const LEFT: f64 = 52.0;
const BESIDE_NAMES: f64 = 12.0;

/// Pixels from the middle of a text to its baseline.
const BASELINE: f64 = 4.2;

/// Minimum pixels between the baselines of two names, and between two numbers below the axis.
const NAME_STEP: f64 = 15.0;
const TICK_GAP: f64 = 8.0;

/// Padding on both sides of the points, as a fraction of the axis.
const SIDE: f64 = 0.04;

/// A positioned axis.
struct Scale {
    /// The values at the start and at the end, as logarithms if the axis is logarithmic.
    ends: (f64, f64),
    pixels: (f64, f64),
    is_logarithmic: bool,
}

impl Scale {
    fn at(&self, value: f64) -> f64 {
        let value = if self.is_logarithmic {
            value.log2()
        } else {
            value
        };
        let share = (value - self.ends.0) / (self.ends.1 - self.ends.0);
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }
}

impl Panel {
    /// Draws the diagram into a part of a scene.
    pub fn draw(&self, scene: &mut Scene, area: Area) {
        let series: Vec<Series> = self.series.iter().map(Series::sorted).collect();
        let points = || series.iter().flat_map(|it| &it.points);
        scene
            .text(
                (area.left + 8.0, area.top + 20.0),
                Anchor::Start,
                &self.title,
            )
            .title();
        if points().next().is_none() {
            return;
        }
        let names = series.iter().map(|it| label(&it.name, it.colour));
        let names_width = names
            .map(|name| name.area().right - name.area().left)
            .fold(0.0, f64::max);
        let plot = Area {
            left: area.left + LEFT,
            top: area.top + ABOVE,
            right: area.right - names_width - 2.0 * BESIDE_NAMES,
            bottom: area.bottom - BELOW,
        };
        let x = self.horizontal(&plot, points().map(|point| point.0));
        let y = self.vertical(&plot, points().map(|point| point.1));
        self.draw_vertical_axis(scene, &plot, &y);
        self.draw_horizontal_axis(scene, &plot, &x, points().map(|point| point.0));
        for line in series.iter().rev() {
            line.draw(scene, &x, &y);
        }
        draw_names(scene, &plot, &series, (&x, &y));
    }

    fn horizontal(&self, plot: &Area, values: impl Iterator<Item = f64>) -> Scale {
        let (low, high) = range(values.map(f64::log2));
        let side = SIDE * (high - low).max(1.0);
        Scale {
            ends: (low - side, high + side),
            pixels: (plot.left, plot.right),
            is_logarithmic: true,
        }
    }

    fn vertical(&self, plot: &Area, values: impl Iterator<Item = f64>) -> Scale {
        let (low, high) = range(values);
        let ends = match self.y {
            // Whole powers of two around the values and 1.
            Axis::Ratio => (low.log2().floor().min(-1.0), high.log2().ceil().max(1.0)),
            Axis::Speed(_) => {
                let step = step(high);
                (0.0, (high / step).ceil() * step)
            }
        };
        Scale {
            ends,
            pixels: (plot.bottom, plot.top),
            is_logarithmic: self.y == Axis::Ratio,
        }
    }

    fn draw_vertical_axis(&self, scene: &mut Scene, plot: &Area, scale: &Scale) {
        let ticks: Vec<(f64, String)> = match self.y {
            Axis::Ratio => (scale.ends.0 as i32..=scale.ends.1 as i32)
                .map(|power| (f64::from(power).exp2(), ratio_text(power)))
                .collect(),
            Axis::Speed(_) => {
                let step = step(scale.ends.1);
                let count = (scale.ends.1 / step).round() as u32;
                (0..=count)
                    .map(|number| f64::from(number) * step)
                    .map(|value| (value, value.to_string()))
                    .collect()
            }
        };
        for (value, text) in ticks {
            let y = scale.at(value);
            let is_one = self.y == Axis::Ratio && value == 1.0;
            scene.shapes.push(Shape::Line(Line {
                points: vec![(plot.left, y), (plot.right, y)],
                colour: if is_one { INK } else { GRID },
                width: if is_one { 1.4 } else { 1.0 },
                is_dashed: false,
                series: None,
            }));
            let number = scene.text((plot.left - 7.0, y + BASELINE), Anchor::End, &text);
            number.colour = if is_one { INK } else { GREY };
            number.is_bold = is_one;
        }
        let unit = match self.y {
            Axis::Ratio => "rival's time / ours, above 1: faster",
            Axis::Speed(unit) => unit,
        };
        scene
            .text((plot.left - 44.0, plot.top - 11.0), Anchor::Start, unit)
            .colour = GREY;
    }

    /// Draws marks at all values, and numbers at as many powers of two as fit.
    fn draw_horizontal_axis(
        &self,
        scene: &mut Scene,
        plot: &Area,
        scale: &Scale,
        values: impl Iterator<Item = f64>,
    ) {
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        values.dedup();
        scene.shapes.push(Shape::Line(Line {
            points: vec![(plot.left, plot.bottom), (plot.right, plot.bottom)],
            colour: GREY,
            width: 1.0,
            is_dashed: false,
            series: None,
        }));
        for &value in &values {
            let x = scale.at(value);
            scene.shapes.push(Shape::Line(Line {
                points: vec![(x, plot.bottom), (x, plot.bottom + 4.0)],
                colour: GREY,
                width: 1.0,
                is_dashed: false,
                series: None,
            }));
        }
        let are_powers = |it: &&f64| it.log2().fract() == 0.0;
        let powers: Vec<f64> = values.iter().filter(are_powers).copied().collect();
        let mut free_from = f64::NEG_INFINITY;
        for value in if powers.len() > 1 { powers } else { values } {
            let at = (scale.at(value), plot.bottom + 18.0);
            let mut number = label(&size_text(value), GREY);
            (number.at, number.anchor) = (at, Anchor::Middle);
            if number.area().left < free_from {
                continue;
            }
            free_from = number.area().right + TICK_GAP;
            scene.shapes.push(Shape::Text(number));
        }
        let middle = (plot.left + plot.right) / 2.0;
        scene
            .text((middle, plot.bottom + 36.0), Anchor::Middle, self.x)
            .colour = GREY;
    }
}

impl Series {
    fn sorted(&self) -> Self {
        let mut series = self.clone();
        series
            .points
            .sort_by(|left, right| left.0.total_cmp(&right.0));
        series
    }

    fn draw(&self, scene: &mut Scene, x: &Scale, y: &Scale) {
        let places = self
            .points
            .iter()
            .map(|point| (x.at(point.0), y.at(point.1)));
        let places: Vec<(f64, f64)> = places.collect();
        scene.shapes.push(Shape::Line(Line {
            points: places.clone(),
            colour: self.colour,
            width: 2.0,
            is_dashed: self.is_dashed,
            series: Some(self.name.clone()),
        }));
        for at in places {
            scene.shapes.push(Shape::Marker(Marker {
                at,
                colour: self.colour,
                form: self.form,
            }));
        }
    }
}

/// Draws the names to the right of the plot, each as near to the end of its line as possible.
fn draw_names(scene: &mut Scene, plot: &Area, series: &[Series], (x, y): (&Scale, &Scale)) {
    let mut ends: Vec<((f64, f64), &Series)> = (series.iter())
        .filter_map(|line| {
            let &(across, up) = line.points.last()?;
            Some(((x.at(across), y.at(up)), line))
        })
        .collect();
    ends.sort_by(|((_, left), _), ((_, right), _)| left.total_cmp(right));
    let wanted: Vec<f64> = ends.iter().map(|((_, y), _)| y + BASELINE).collect();
    let places = apart(&wanted, (plot.top + 6.0, plot.bottom - 2.0));
    for ((end, line), place) in ends.into_iter().zip(places) {
        let name_from = plot.right + BESIDE_NAMES;
        let mut name = label(&line.name, line.colour);
        name.at = (name_from, place);
        name.is_bold = !line.is_dashed;
        scene.shapes.push(Shape::Text(name));
        // It leads from the end of the line to the name.
        scene.shapes.push(Shape::Line(Line {
            points: vec![(end.0 + 5.0, end.1), (name_from - 3.0, place - BASELINE)],
            colour: line.colour,
            width: 0.7,
            is_dashed: false,
            series: None,
        }));
    }
}

/// Ordered positions near the wanted ones, at least a step apart, and within the bounds if they fit.
fn apart(wanted: &[f64], (low, high): (f64, f64)) -> Vec<f64> {
    // Neighbours that are too close become a block around their middle, which may merge with the next block.
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for &place in wanted {
        let mut block = (place, 1);
        while let Some(&(middle, count)) = blocks.last() {
            let reach = (block.1 + count) as f64 / 2.0 * NAME_STEP;
            if block.0 - middle >= reach {
                break;
            }
            blocks.pop();
            let all = block.1 + count;
            let sum = block.0 * block.1 as f64 + middle * count as f64;
            block = (sum / all as f64, all);
        }
        blocks.push(block);
    }
    let mut places: Vec<f64> = (blocks.iter())
        .flat_map(|&(middle, count)| {
            let first = middle - (count - 1) as f64 / 2.0 * NAME_STEP;
            (0..count).map(move |number| first + number as f64 * NAME_STEP)
        })
        .collect();
    let mut limit = high;
    for place in places.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - NAME_STEP;
    }
    let mut limit = low;
    for place in &mut places {
        *place = place.max(limit);
        limit = *place + NAME_STEP;
    }
    places
}

fn label(text: &str, colour: &'static str) -> Text {
    Text {
        at: (0.0, 0.0),
        anchor: Anchor::Start,
        size: LABEL,
        colour,
        is_bold: false,
        text: text.to_owned(),
    }
}

impl Scene {
    /// Adds a text, which the caller may change.
    fn text(&mut self, at: (f64, f64), anchor: Anchor, text: &str) -> &mut Text {
        let text = Text {
            at,
            anchor,
            ..label(text, INK)
        };
        self.shapes.push(Shape::Text(text));
        match self.shapes.last_mut() {
            Some(Shape::Text(text)) => text,
            _ => unreachable!("a text was added"),
        }
    }
}

impl Text {
    fn title(&mut self) {
        self.size = TITLE;
        self.is_bold = true;
    }
}

fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    })
}

/// The step between numbers on an axis from 0: 1, 2 or 5 times a power of ten, for 3 to 6 numbers.
fn step(highest: f64) -> f64 {
    let power = 10.0_f64.powf((highest / 6.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    let fitting = steps.into_iter().find(|step| highest / step <= 6.0);
    fitting.unwrap_or(10.0 * power)
}

fn ratio_text(power: i32) -> String {
    match power {
        ..0 => format!("1/{}", 1 << -power),
        _ => (1 << power).to_string(),
    }
}

/// Formats a size. Powers of two from 2^16 are written with their exponent.
fn size_text(value: f64) -> String {
    let exponent = value.log2();
    match exponent >= 16.0 && exponent.fract() == 0.0 {
        true => format!("2{}", superscript(exponent as u32)),
        false => value.to_string(),
    }
}

/// A number in superscript.
pub fn superscript(number: u32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = number.to_string();
    digits
        .bytes()
        .map(|digit| DIGITS[usize::from(digit - b'0')])
        .collect()
}
