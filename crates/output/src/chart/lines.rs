//! Lines over a binary logarithmic axis.

use super::axis::LogAxis;
use super::style::{Area, COLOURS, FONT, GREY, drawing};
use crate::Outcome;
use plotters::prelude::*;

/// Pixels of a plot with its axes, and its least height.
const PLOT_WIDTH: u32 = 420;
const PLOT_HEIGHT: u32 = 320;
/// Pixels of a legend's line, of its sample of a line, and of a letter.
const LEGEND_LINE: u32 = 24;
const LEGEND_SAMPLE: u32 = 44;
const LETTER: u32 = 7;
/// Pixels above and below a legend.
const LEGEND_MARGIN: u32 = 90;

/// A chart with a line for each series and a legend to the right of them.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The line above the chart.
    pub title: String,
    /// The unit of the horizontal axis.
    pub x: String,
    /// The unit of the vertical axis, which begins at 0.
    pub y: String,
    /// The lines, from the first in the legend to the last.
    pub series: Vec<Series>,
}

/// One line of a chart.
#[derive(Clone, Debug)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Whether it is a rival's: those are grey, and behind the others.
    pub is_rival: bool,
    /// Its points, by `x`, which is positive.
    pub points: Vec<(f64, f64)>,
}

/// Draws charts of equal size, a row for each of `rows`, as SVG.
///
/// # Errors
/// None is known: the drawing goes to memory.
pub fn draw_lines(rows: &[Vec<Lines>]) -> Outcome<String> {
    let charts = || rows.iter().flatten();
    let series = || charts().flat_map(|chart| &chart.series);
    let longest_name = series().map(|series| series.name.chars().count()).max();
    let most_series = charts().map(|chart| chart.series.len()).max();
    let legend_width = LEGEND_SAMPLE + LETTER * longest_name.unwrap_or(0) as u32;
    let legend_height = LEGEND_MARGIN + LEGEND_LINE * most_series.unwrap_or(0) as u32;
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let size = (
        (PLOT_WIDTH + legend_width) * columns as u32,
        PLOT_HEIGHT.max(legend_height) * rows.len() as u32,
    );
    drawing(size, |area| {
        let areas = area.split_evenly((rows.len(), columns));
        for (areas, charts) in areas.chunks(columns.max(1)).zip(rows) {
            for (area, chart) in areas.iter().zip(charts) {
                chart.draw_on(area)?;
            }
        }
        Ok(())
    })
}

impl Lines {
    fn draw_on(&self, area: &Area<'_>) -> Outcome {
        let (plot, legend) = area.split_horizontally(PLOT_WIDTH);
        let points = || self.series.iter().flat_map(|series| &series.points);
        let Some(x) = LogAxis::of(points().map(|(x, _)| *x)) else {
            return Ok(());
        };
        let highest = points().map(|(_, y)| *y).fold(f64::MIN_POSITIVE, f64::max);
        let mut chart = ChartBuilder::on(&plot)
            .caption(&self.title, (FONT, 16))
            .margin(10)
            .x_label_area_size(40)
            .y_label_area_size(56)
            .build_cartesian_2d(x, 0.0..highest * 1.05)?;
        chart
            .configure_mesh()
            .x_desc(&self.x)
            .y_desc(&self.y)
            .y_label_formatter(&|value| value.to_string())
            .light_line_style(TRANSPARENT)
            .label_style((FONT, 13))
            .draw()?;
        let mut lines: Vec<_> = self.series.iter().zip(styles(&self.series)).collect();
        for (line, (series, style)) in lines.iter().enumerate() {
            let y = (50 + LEGEND_LINE as usize * line) as i32;
            legend.draw(&PathElement::new(vec![(4, y), (28, y)], style.stroke()))?;
            legend.draw(&Circle::new((16, y), 3, style.point()))?;
            legend.draw(&Text::new(series.name.as_str(), (34, y - 7), (FONT, 13)))?;
        }
        lines.sort_by_key(|(series, _)| !series.is_rival);
        for (series, style) in lines {
            let points = || series.points.iter().copied();
            chart.draw_series(LineSeries::new(points(), style.stroke()))?;
            chart.draw_series(points().map(|point| Circle::new(point, 3, style.point())))?;
        }
        Ok(())
    }
}

/// How a series looks.
#[derive(Clone, Copy)]
struct Style {
    colour: RGBColor,
    /// Pixels of the line: thinner where the colours are used up.
    width: u32,
    has_hollow_points: bool,
}

impl Style {
    fn stroke(self) -> ShapeStyle {
        self.colour.stroke_width(self.width)
    }

    fn point(self) -> ShapeStyle {
        ShapeStyle {
            filled: !self.has_hollow_points,
            ..self.stroke()
        }
    }
}

fn styles(all: &[Series]) -> Vec<Style> {
    let mut number = 0;
    let mut style = |series: &Series| {
        if series.is_rival {
            return Style {
                colour: GREY,
                width: 2,
                has_hollow_points: true,
            };
        }
        let has_own_colour = number < COLOURS.len();
        let colour = COLOURS[number % COLOURS.len()];
        number += 1;
        Style {
            colour,
            width: if has_own_colour { 2 } else { 1 },
            has_hollow_points: !has_own_colour,
        }
    };
    all.iter().map(&mut style).collect()
}

#[cfg(test)]
mod tests {
    use super::{Lines, Series, draw_lines};

    fn chart(names: &[&str]) -> Lines {
        let series = names.iter().enumerate().map(|(number, name)| Series {
            name: (*name).to_owned(),
            is_rival: number == 1,
            points: vec![(1024.0, 28.2), (4095.0, 47.3), (65536.0, 51.0)],
        });
        Lines {
            title: "title".to_owned(),
            x: "rows".to_owned(),
            y: "TFLOP/s".to_owned(),
            series: series.collect(),
        }
    }

    #[test]
    fn every_series_is_in_the_legend() {
        let svg = draw_lines(&[vec![chart(&["a<b", "rival"]), chart(&["other"])]]).unwrap();
        for part in ["a&lt;b", "rival", "other", "2¹⁶", "4095", "TFLOP/s", "rows"] {
            assert!(svg.contains(part), "{part} is missing in {svg}");
        }
        assert!(svg.contains("prefers-color-scheme: dark"));
    }

    #[test]
    fn charts_without_points_are_drawn() {
        assert!(draw_lines(&[vec![chart(&[])]]).is_ok());
        assert!(draw_lines(&[]).is_ok());
    }

    #[test]
    fn equal_data_gives_equal_bytes() {
        let draw = || draw_lines(&[vec![chart(&["a", "b", "c"])]]).unwrap();
        assert_eq!(draw(), draw());
    }
}
