//! Charts of a section as SVG: bars for steps, lines where a parameter varies.

use super::page::{Row, Section};
use super::support::Outcome;
use plotters::prelude::*;

/// Pixels of a chart; bars take a height for each step.
const WIDTH: u32 = 860;
const LINES_HEIGHT: u32 = 420;
const BAR_HEIGHT: u32 = 34;
const MARGIN: u32 = 90;

const FONT: &str = "sans-serif";

/// Colours that colour-blind readers can tell apart (Okabe, Ito: Color Universal Design, 2008).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
    RGBColor(0x00, 0x00, 0x00),
    RGBColor(0x8c, 0x95, 0x9f),
];

/// The chart of a section: lines where most steps vary with the parameter, otherwise a bar for
/// each step; of times where there are some, otherwise of sectors moved.
pub fn draw(section: &Section) -> Outcome<String> {
    let is_timed = section.rows.iter().any(|row| row.microseconds.is_some());
    let steps = section.steps();
    let varying = steps.iter().filter(|(_, rows)| rows.len() > 2).count();
    if is_timed && 2 * varying > steps.len() {
        lines(section)
    } else {
        bars(section, is_timed)
    }
}

/// A bar for each step: its rate, or the sectors that it moves.
fn bars(section: &Section, is_timed: bool) -> Outcome<String> {
    let rows = section.best_rows();
    let value = |row: &Row| match is_timed {
        true => row.rate,
        false => row.counts.as_ref().map(|counts| counts.sectors as f64),
    };
    let most = rows.iter().filter_map(|row| value(row)).fold(1.0, f64::max);
    let unit = if is_timed {
        section.unit
    } else {
        "32-byte sectors of global memory"
    };
    let height = MARGIN + BAR_HEIGHT * rows.len() as u32;
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(&section.title, (FONT, 16))
            .margin(10)
            .x_label_area_size(36)
            .y_label_area_size(230)
            .build_cartesian_2d(
                0.0..most * 1.12,
                (0..rows.len().max(1) - 1).into_segmented(),
            )?;
        let label = |position: &SegmentValue<usize>| match position {
            SegmentValue::CenterOf(bar) => rows
                .get(rows.len().wrapping_sub(bar + 1))
                .map(|row| row.step.clone())
                .unwrap_or_default(),
            _ => String::new(),
        };
        chart
            .configure_mesh()
            .disable_y_mesh()
            .y_labels(rows.len())
            .y_label_formatter(&label)
            .x_desc(unit)
            .x_label_formatter(&|value| format!("{value}"))
            .light_line_style(TRANSPARENT)
            .label_style((FONT, 13))
            .draw()?;
        for (position, row) in rows.iter().rev().enumerate() {
            let value = value(row).unwrap_or(0.0);
            let corners = [
                (0.0, SegmentValue::Exact(position)),
                (value, SegmentValue::Exact(position + 1)),
            ];
            let mut bar = Rectangle::new(corners, COLOURS[0].filled());
            bar.set_margin(5, 5, 0, 0);
            chart.draw_series([bar])?;
            let text = match value {
                value if value >= 100.0 => format!(" {value:.0}"),
                value => format!(" {value:.2}"),
            };
            let place = (value, SegmentValue::CenterOf(position));
            let style = (FONT, 13).into_font().color(&BLACK);
            let centred = style.pos(plotters::style::text_anchor::Pos::new(
                plotters::style::text_anchor::HPos::Left,
                plotters::style::text_anchor::VPos::Center,
            ));
            chart.draw_series([Text::new(text, place, centred)])?;
        }
        area.present()?;
    }
    Ok(svg)
}

/// A line for each step that has the parameter: its speed-up over the baseline.
fn lines(section: &Section) -> Outcome<String> {
    let parameters = section.parameters();
    let (least, most) = (parameters[0], parameters[parameters.len() - 1]);
    let series: Vec<(&str, Vec<(f64, f64)>)> = section
        .steps()
        .into_iter()
        .map(|(step, rows)| {
            (
                step,
                rows.into_iter()
                    .filter_map(|row| point(section, row))
                    .collect(),
            )
        })
        .filter(|(_, points): &(_, Vec<_>)| points.len() > 1)
        .collect();
    let values = series
        .iter()
        .flat_map(|(_, points)| points.iter().map(|(_, value)| *value));
    let highest = values.fold(1.0, f64::max);
    let mut svg = String::new();
    {
        let height = LINES_HEIGHT.max(MARGIN + 24 * series.len() as u32);
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        area.fill(&WHITE)?;
        let (plot, legend) = area.split_horizontally(WIDTH - 240);
        let mut chart = ChartBuilder::on(&plot)
            .caption(&section.title, (FONT, 16))
            .margin(10)
            .x_label_area_size(40)
            .y_label_area_size(56)
            .build_cartesian_2d(
                (f64::from(least)..f64::from(most)).log_scale().base(2.0),
                0.0..highest * 1.05,
            )?;
        chart
            .configure_mesh()
            .x_desc(section.parameter)
            .y_desc(format!("speed-up over {}", section.baseline))
            .x_label_formatter(&|value| format!("{value:.0}"))
            .label_style((FONT, 13))
            .light_line_style(TRANSPARENT)
            .draw()?;
        for (number, (step, points)) in series.iter().enumerate() {
            let colour = COLOURS[number % COLOURS.len()];
            // Beyond the colours, lines are thin with hollow points.
            let is_second = number >= COLOURS.len();
            let stroke = colour.stroke_width(if is_second { 1 } else { 2 });
            chart.draw_series(LineSeries::new(points.iter().copied(), stroke))?;
            let fill = if is_second {
                WHITE.filled()
            } else {
                colour.filled()
            };
            chart.draw_series(points.iter().map(|&point| Circle::new(point, 3, fill)))?;
            chart.draw_series(points.iter().map(|&point| Circle::new(point, 3, colour)))?;
            let y = 50 + 24 * number as i32;
            legend.draw(&PathElement::new(vec![(4, y), (28, y)], stroke))?;
            legend.draw(&Circle::new((16, y), 3, fill))?;
            legend.draw(&Circle::new((16, y), 3, colour))?;
            legend.draw(&Text::new((*step).to_owned(), (34, y - 7), (FONT, 13)))?;
        }
        area.present()?;
    }
    Ok(svg)
}

fn point(section: &Section, row: &Row) -> Option<(f64, f64)> {
    Some((f64::from(row.parameter?), section.speed_up(row)?))
}
