//! A bar for each of some names.

use super::style::{Area, COLOURS, FONT, drawing};
use crate::Outcome;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Pixels.
const WIDTH: u32 = 860;
const BAR_HEIGHT: u32 = 34;
const MARGIN: u32 = 90;
const NAMES_WIDTH: u32 = 230;

/// A chart with a bar for each name, from top to bottom.
#[derive(Clone, Debug)]
pub struct Bars {
    /// The line above the chart.
    pub title: String,
    /// The unit of the values.
    pub unit: String,
    /// Names and values, which are not negative.
    pub bars: Vec<(String, f64)>,
}

impl Bars {
    /// The chart as SVG.
    ///
    /// # Errors
    /// None is known: the drawing goes to memory.
    pub fn draw(&self) -> Outcome<String> {
        let height = MARGIN + BAR_HEIGHT * self.bars.len() as u32;
        drawing((WIDTH, height), |area| self.draw_on(area))
    }

    fn draw_on(&self, area: &Area<'_>) -> Outcome {
        let count = self.bars.len();
        let longest = self
            .bars
            .iter()
            .map(|(_, value)| *value)
            .fold(1.0, f64::max);
        let positions = (0..count.max(1) - 1).into_segmented();
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, (FONT, 16))
            .margin(10)
            .x_label_area_size(36)
            .y_label_area_size(NAMES_WIDTH)
            .build_cartesian_2d(0.0..longest * 1.12, positions)?;
        // The axis counts from the bottom.
        let bars: Vec<_> = self.bars.iter().rev().collect();
        let name = |position: &SegmentValue<usize>| match position {
            SegmentValue::CenterOf(bar) => {
                bars.get(*bar).map_or_else(String::new, |bar| bar.0.clone())
            }
            _ => String::new(),
        };
        chart
            .configure_mesh()
            .disable_y_mesh()
            .y_labels(count)
            .y_label_formatter(&name)
            .x_desc(&self.unit)
            .x_label_formatter(&|value| value.to_string())
            .light_line_style(TRANSPARENT)
            .label_style((FONT, 13))
            .draw()?;
        let left_centred = Pos::new(HPos::Left, VPos::Center);
        for (position, &&(_, value)) in bars.iter().enumerate() {
            let corners = [
                (0.0, SegmentValue::Exact(position)),
                (value, SegmentValue::Exact(position + 1)),
            ];
            let mut bar = Rectangle::new(corners, COLOURS[0].filled());
            bar.set_margin(5, 5, 0, 0);
            chart.draw_series([bar])?;
            let text = if value >= 100.0 {
                format!(" {value:.0}")
            } else {
                format!(" {value:.2}")
            };
            let place = (value, SegmentValue::CenterOf(position));
            let style = (FONT, 13).into_font().color(&BLACK).pos(left_centred);
            chart.draw_series([Text::new(text, place, style)])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Bars;

    #[test]
    fn names_are_escaped_and_values_written() {
        let bars = Bars {
            title: "title".to_owned(),
            unit: "GB/s".to_owned(),
            bars: vec![("a < b & c".to_owned(), 1234.4), ("none".to_owned(), 0.0)],
        };
        let svg = bars.draw().unwrap();
        assert!(svg.contains("a &lt; b &amp; c"), "{svg}");
        assert!(svg.contains("1234\n"), "{svg}");
    }

    #[test]
    fn no_bars_are_an_empty_chart() {
        let (title, unit, bars) = (String::new(), String::new(), Vec::new());
        assert!(Bars { title, unit, bars }.draw().is_ok());
    }
}
