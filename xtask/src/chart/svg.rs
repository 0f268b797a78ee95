//! Line charts as SVG, by hand: readable on light and dark pages, and the same bytes for the same
//! numbers.

use std::fmt::Write as _;

/// Pixels of one panel, with its margins.
const PANEL_WIDTH: f64 = 460.0;
const PANEL_HEIGHT: f64 = 320.0;
/// Pixels around the plot: left for the speeds, top for title and legend, bottom for the sizes.
const LEFT: f64 = 56.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 62.0;
const BOTTOM: f64 = 46.0;

/// The most lines across a plot.
const MOST_TICKS: f64 = 6.0;

/// Colours that stand out on white and on dark grey, and for colour-blind readers (Okabe, Ito:
/// Color Universal Design, 2008). Rivals are grey.
const STYLE: &str = "\
text { font: 12px system-ui, 'Helvetica Neue', 'DejaVu Sans', sans-serif; fill: #57606a }
.title { font-size: 14px; font-weight: 600; fill: #24292f }
.grid { stroke: #8c959f; stroke-opacity: 0.3 }
.line { fill: none; stroke-width: 2.5; stroke-linejoin: round }
.ours0 { stroke: #0072b2; fill: #0072b2 }
.ours1 { stroke: #d55e00; fill: #d55e00 }
.rival { stroke: #8c959f; fill: #8c959f }
polyline.line { fill: none }
polyline.rival { stroke-dasharray: 6 4 }
@media (prefers-color-scheme: dark) {
  text { fill: #9198a1 }
  .title { fill: #f0f6fc }
  .ours0 { stroke: #56b4e9; fill: #56b4e9 }
  .ours1 { stroke: #e69f00; fill: #e69f00 }
}
";

/// One plot: speeds over sizes.
pub struct Panel {
    pub title: String,
    /// The unit of speeds.
    pub unit: String,
    /// What sizes count.
    pub sizes: String,
    pub series: Vec<Series>,
}

/// One line of a plot.
pub struct Series {
    pub name: String,
    pub ours: bool,
    /// Size and speed, by size.
    pub points: Vec<(usize, f64)>,
}

/// All panels, a row for each of `rows`.
pub fn draw(rows: &[Vec<Panel>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let (width, height) = (
        PANEL_WIDTH * columns as f64,
        PANEL_HEIGHT * rows.len() as f64,
    );
    let mut svg = String::new();
    let mut line = |text: &str| svg += &format!("{text}\n");
    line(&format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">"#
    ));
    line(&format!("<style>\n{STYLE}</style>"));
    for (row, panels) in rows.iter().enumerate() {
        for (column, panel) in panels.iter().enumerate() {
            let (x, y) = (PANEL_WIDTH * column as f64, PANEL_HEIGHT * row as f64);
            line(&format!(r#"<g transform="translate({x} {y})">"#));
            line(panel.draw().trim_end());
            line("</g>");
        }
    }
    line("</svg>");
    svg
}

/// How sizes and speeds become pixels.
struct Scale {
    /// Binary logarithms of the smallest and the largest size.
    sizes: (f64, f64),
    /// The distance of the lines across the plot.
    step: f64,
    /// Where the speeds end.
    top: f64,
}

impl Scale {
    fn of(series: &[Series]) -> Self {
        let points = || series.iter().flat_map(|series| &series.points);
        let logarithms = || points().map(|(size, _)| (*size as f64).log2());
        let fastest = points()
            .map(|(_, speed)| *speed)
            .fold(f64::MIN_POSITIVE, f64::max);
        let step = round_step(fastest / MOST_TICKS);
        Self {
            sizes: (
                logarithms().fold(f64::INFINITY, f64::min),
                logarithms().fold(f64::NEG_INFINITY, f64::max),
            ),
            step,
            top: (fastest / step).ceil() * step,
        }
    }

    fn x(&self, size: usize) -> f64 {
        let (first, last) = self.sizes;
        let span = if last > first { last - first } else { 1.0 };
        LEFT + ((size as f64).log2() - first) / span * (PANEL_WIDTH - LEFT - RIGHT)
    }

    fn y(&self, speed: f64) -> f64 {
        PANEL_HEIGHT - BOTTOM - speed / self.top * (PANEL_HEIGHT - TOP - BOTTOM)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let count = (self.top / self.step).round() as u32;
        (0..=count).map(|tick| f64::from(tick) * self.step)
    }
}

/// The smallest of 1, 2, 5, 10, 20, 50, ... that is not below `least`.
fn round_step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let factor = factors
        .into_iter()
        .find(|factor| factor * power >= least * (1.0 - 1e-9));
    factor.unwrap_or(10.0) * power
}

impl Panel {
    fn draw(&self) -> String {
        let scale = Scale::of(&self.series);
        let mut svg = format!(
            "<text class=\"title\" x=\"{LEFT}\" y=\"20\">{}</text>\n",
            escape(&self.title)
        );
        self.draw_speeds(&scale, &mut svg);
        self.draw_sizes(&scale, &mut svg);
        let mut legend = LEFT;
        for (series, class) in self.series.iter().zip(classes(&self.series)) {
            legend = series.draw_legend(legend, &class, &mut svg);
        }
        // Rivals first, so that ours are on top.
        let mut lines: Vec<_> = self.series.iter().zip(classes(&self.series)).collect();
        lines.sort_by_key(|(series, _)| series.ours);
        for (series, class) in lines {
            series.draw_line(&scale, &class, &mut svg);
        }
        svg
    }

    /// The lines across the plot, and their speeds.
    fn draw_speeds(&self, scale: &Scale, svg: &mut String) {
        let right = PANEL_WIDTH - RIGHT;
        for speed in scale.ticks() {
            let y = scale.y(speed);
            push(
                svg,
                &format!(
                    r#"<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1}" y2="{y:.1}"/>"#
                ),
            );
            let (x, y) = (LEFT - 8.0, y + 4.0);
            push(
                svg,
                &format!(r#"<text x="{x}" y="{y:.1}" text-anchor="end">{speed}</text>"#),
            );
        }
        let (x, y) = (LEFT - 8.0, TOP - 12.0);
        push(
            svg,
            &format!(
                r#"<text x="{x}" y="{y}" text-anchor="end">{}</text>"#,
                escape(&self.unit)
            ),
        );
    }

    /// The sizes below the plot.
    fn draw_sizes(&self, scale: &Scale, svg: &mut String) {
        let points = self.series.iter().flat_map(|series| &series.points);
        let mut sizes: Vec<usize> = points.map(|(size, _)| *size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let y = PANEL_HEIGHT - BOTTOM + 18.0;
        for size in sizes {
            let (x, label) = (scale.x(size), size_label(size));
            push(
                svg,
                &format!(r#"<text x="{x:.1}" y="{y}" text-anchor="middle">{label}</text>"#),
            );
        }
        let (x, y) = ((LEFT + PANEL_WIDTH - RIGHT) / 2.0, y + 18.0);
        push(
            svg,
            &format!(
                r#"<text x="{x}" y="{y}" text-anchor="middle">{}</text>"#,
                escape(&self.sizes)
            ),
        );
    }
}

impl Series {
    fn draw_line(&self, scale: &Scale, class: &str, svg: &mut String) {
        let place = |&(size, speed): &(usize, f64)| (scale.x(size), scale.y(speed));
        let places: Vec<(f64, f64)> = self.points.iter().map(place).collect();
        let corners: Vec<String> = places
            .iter()
            .map(|(x, y)| format!("{x:.1},{y:.1}"))
            .collect();
        push(
            svg,
            &format!(
                r#"<polyline class="line {class}" points="{}"/>"#,
                corners.join(" ")
            ),
        );
        for (x, y) in places {
            push(
                svg,
                &format!(r#"<circle class="{class}" cx="{x:.1}" cy="{y:.1}" r="3"/>"#),
            );
        }
    }

    /// Draws the line's name from `x` on; where the next name can begin is returned.
    fn draw_legend(&self, x: f64, class: &str, svg: &mut String) -> f64 {
        const LINE: f64 = 22.0;
        const LETTER: f64 = 7.2;
        let (end, text) = (x + LINE, x + LINE + 6.0);
        push(
            svg,
            &format!(r#"<polyline class="line {class}" points="{x:.1},36 {end:.1},36"/>"#),
        );
        push(
            svg,
            &format!(
                r#"<text x="{text:.1}" y="40">{}</text>"#,
                escape(&self.name)
            ),
        );
        text + LETTER * self.name.len() as f64 + 14.0
    }
}

/// The classes of lines in the drawing's style: ours are numbered.
fn classes(series: &[Series]) -> Vec<String> {
    let mut ours = 0..;
    let mut class = |series: &Series| match series.ours {
        true => format!("ours{}", ours.next().unwrap_or(0)),
        false => "rival".to_owned(),
    };
    series.iter().map(&mut class).collect()
}

/// Powers of two from 2^16 on by their exponent.
fn size_label(size: usize) -> String {
    if size.is_power_of_two() && size >= 1 << 16 {
        return format!(r#"2<tspan dy="-4" font-size="9">{}</tspan>"#, size.ilog2());
    }
    size.to_string()
}

fn push(svg: &mut String, element: &str) {
    writeln!(svg, "{element}").expect("a string takes all text");
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!(round_step(0.3), 0.5);
        assert_eq!(round_step(2.0), 2.0);
        assert_eq!(round_step(8.7), 10.0);
        assert_eq!(round_step(765.0), 1000.0);
    }

    #[test]
    fn speeds_stay_inside_the_plot() {
        let points = vec![(1024, 28.2), (2048, 47.3), (8192, 51.0)];
        let series = [Series {
            name: "a".to_owned(),
            ours: true,
            points,
        }];
        let scale = Scale::of(&series);
        assert_eq!((scale.x(1024), scale.x(8192)), (LEFT, PANEL_WIDTH - RIGHT));
        assert!(scale.y(51.0) >= TOP);
        assert_eq!(scale.y(0.0), PANEL_HEIGHT - BOTTOM);
    }

    #[test]
    fn names_are_escaped() {
        assert_eq!(escape("a<b & c"), "a&lt;b &amp; c");
    }
}
