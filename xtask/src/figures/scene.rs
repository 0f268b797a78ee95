//! A drawing as data, which tests can inspect (texts, lines and markers with positions), and as
//! SVG.

use std::fmt::Write as _;

/// A drawing.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    pub width: f64,
    pub height: f64,
    /// For screen readers.
    pub title: String,
    pub shapes: Vec<Shape>,
}

/// A part of a drawing, in the order in which it is drawn.
#[derive(Clone, Debug)]
pub enum Shape {
    Text(Text),
    Line(Line),
    Marker(Marker),
}

/// A line of text.
#[derive(Clone, Debug)]
pub struct Text {
    /// The baseline, at the start, the middle or the end of the text.
    pub at: (f64, f64),
    pub anchor: Anchor,
    pub size: f64,
    pub colour: &'static str,
    pub is_bold: bool,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    Start,
    Middle,
    End,
}

/// Connected points.
#[derive(Clone, Debug)]
pub struct Line {
    pub points: Vec<(f64, f64)>,
    pub colour: &'static str,
    pub width: f64,
    pub is_dashed: bool,
    /// The name of the series; `None` for axes and grids.
    pub series: Option<String>,
}

/// A mark at a point of a series.
#[derive(Clone, Debug)]
pub struct Marker {
    pub at: (f64, f64),
    pub colour: &'static str,
    pub form: Form,
}

/// Marker forms distinguish series without colours.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    Circle,
    Square,
    Triangle,
    Diamond,
    Ring,
}

/// A rectangle: left, top, right, bottom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

/// The background: a card, so that the drawing reads the same on light and dark pages.
const BACKGROUND: &str = "#ffffff";
const BORDER: &str = "#d0d7de";

/// Text and the axes' lines.
pub const INK: &str = "#1f2328";
pub const GREY: &str = "#59636e";
pub const GRID: &str = "#e3e7eb";

/// Colours that colour-blind readers can distinguish (Okabe and Ito, "Color Universal Design", 2008), darkened so
/// that names have a contrast of 4.5 with the background.
pub const BLUE: &str = "#0072b2";
pub const ORANGE: &str = "#b84f00";
pub const GREEN: &str = "#00795a";
pub const PURPLE: &str = "#a3487f";
pub const BROWN: &str = "#7a5c00";

/// Pixels of half a marker.
const MARKER: f64 = 3.6;

impl Text {
    /// The area of the shape, with the widest font that a page may use.
    pub fn area(&self) -> Area {
        let width = self.text.chars().map(width_of).sum::<f64>() * self.size;
        let width = if self.is_bold { width * 1.08 } else { width };
        let (x, y) = self.at;
        let left = match self.anchor {
            Anchor::Start => x,
            Anchor::Middle => x - width / 2.0,
            Anchor::End => x - width,
        };
        Area {
            left,
            top: y - 0.78 * self.size,
            right: left + width,
            bottom: y + 0.22 * self.size,
        }
    }
}

/// The width of a character in DejaVu Sans, the widest of the usual fonts, in sizes of the font.
fn width_of(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | '\'' | '|' => 0.28,
        ' ' | '.' | ',' | ':' | ';' | 'f' | 't' | 'I' | '/' => 0.40,
        'm' | 'w' | 'M' | 'W' | '%' => 0.98,
        '⁰'..='⁹' | '¹' | '²' | '³' => 0.42,
        'A'..='Z' => 0.72,
        _ => 0.64,
    }
}

impl Area {
    /// Whether the two overlap.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

impl Scene {
    /// The texts.
    pub fn texts(&self) -> impl Iterator<Item = &Text> {
        self.shapes.iter().filter_map(|shape| match shape {
            Shape::Text(text) => Some(text),
            _ => None,
        })
    }

    /// A defect that makes the drawing hard to read: a series that doubles back, overlapping texts, or a shape
    /// outside the canvas.
    pub fn breach(&self) -> Option<String> {
        let lines = self.shapes.iter().filter_map(|shape| match shape {
            Shape::Line(line) => line.series.as_ref().map(|name| (name, &line.points)),
            _ => None,
        });
        for (name, points) in lines {
            if points.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
                return Some(format!("the line {name:?} doubles back"));
            }
        }
        let texts: Vec<&Text> = self.texts().collect();
        for (number, text) in texts.iter().enumerate() {
            let others = texts[..number].iter();
            if let Some(other) = others
                .into_iter()
                .find(|it| it.area().overlaps(&text.area()))
            {
                return Some(format!("{:?} lies on {:?}", text.text, other.text));
            }
        }
        let is_outside = |&(x, y): &(f64, f64)| {
            !(0.0..=self.width).contains(&x) || !(0.0..=self.height).contains(&y)
        };
        let corners = |shape: &Shape| match shape {
            Shape::Text(text) => {
                let area = text.area();
                vec![(area.left, area.top), (area.right, area.bottom)]
            }
            Shape::Line(line) => line.points.clone(),
            Shape::Marker(marker) => vec![marker.at],
        };
        let outside = self
            .shapes
            .iter()
            .find(|it| corners(it).iter().any(is_outside));
        outside.map(|shape| format!("{shape:?} is not on the canvas"))
    }

    /// The drawing as SVG.
    pub fn to_svg(&self) -> String {
        let Self {
            width,
            height,
            title,
            ..
        } = self;
        let title = escaped(title);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{title}\" \
             font-family=\"-apple-system, 'Segoe UI', 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif\">\n\
             <title>{title}</title>\n\
             <rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\" fill=\"{BACKGROUND}\" stroke=\"{BORDER}\"/>\n",
            width - 1.0,
            height - 1.0,
        );
        for shape in &self.shapes {
            let element = match shape {
                Shape::Text(text) => text.to_svg(),
                Shape::Line(line) => line.to_svg(),
                Shape::Marker(marker) => marker.to_svg(),
            };
            writeln!(svg, "{element}").expect("a string takes all text");
        }
        svg + "</svg>\n"
    }
}

impl Text {
    fn to_svg(&self) -> String {
        let anchor = match self.anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let weight = if self.is_bold {
            " font-weight=\"600\""
        } else {
            ""
        };
        format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{}\" text-anchor=\"{anchor}\" fill=\"{}\"{weight}>{}</text>",
            self.at.0,
            self.at.1,
            self.size,
            self.colour,
            escaped(&self.text),
        )
    }
}

impl Line {
    fn to_svg(&self) -> String {
        let points = self.points.iter().map(|(x, y)| format!("{x:.1},{y:.1}"));
        let points: Vec<String> = points.collect();
        let dashes = if self.is_dashed {
            " stroke-dasharray=\"5 4\""
        } else {
            ""
        };
        format!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" stroke-linejoin=\"round\"{dashes}/>",
            points.join(" "),
            self.colour,
            self.width,
        )
    }
}

impl Marker {
    fn to_svg(&self) -> String {
        let ((x, y), colour, size) = (self.at, self.colour, MARKER);
        let polygon = |corners: &[(f64, f64)]| {
            let points = corners.iter();
            let points = points.map(|(right, down)| format!("{:.1},{:.1}", x + right, y + down));
            let points: Vec<String> = points.collect();
            format!(
                "<polygon points=\"{}\" fill=\"{colour}\"/>",
                points.join(" ")
            )
        };
        match self.form {
            Form::Circle => {
                format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{size}\" fill=\"{colour}\"/>")
            }
            Form::Ring => format!(
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{size}\" fill=\"{BACKGROUND}\" stroke=\"{colour}\" stroke-width=\"1.6\"/>"
            ),
            Form::Square => {
                let side = size * 0.9;
                polygon(&[(-side, -side), (side, -side), (side, side), (-side, side)])
            }
            Form::Triangle => polygon(&[
                (0.0, -1.25 * size),
                (1.15 * size, 0.85 * size),
                (-1.15 * size, 0.85 * size),
            ]),
            Form::Diamond => {
                let reach = size * 1.3;
                polygon(&[(0.0, -reach), (reach, 0.0), (0.0, reach), (-reach, 0.0)])
            }
        }
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene(shapes: Vec<Shape>) -> Scene {
        Scene {
            width: 100.0,
            height: 50.0,
            title: "a < b".to_owned(),
            shapes,
        }
    }

    fn text(at: (f64, f64), text: &str) -> Shape {
        Shape::Text(Text {
            at,
            anchor: Anchor::Start,
            size: 12.0,
            colour: INK,
            is_bold: false,
            text: text.to_owned(),
        })
    }

    fn line(points: &[(f64, f64)]) -> Shape {
        Shape::Line(Line {
            points: points.to_vec(),
            colour: BLUE,
            width: 2.0,
            is_dashed: false,
            series: Some("f32".to_owned()),
        })
    }

    #[test]
    fn what_is_hard_to_read_is_found() {
        let breach = |shapes| scene(shapes).breach();
        let good = [text((5.0, 20.0), "512"), text((50.0, 20.0), "1024")];
        let rising = line(&[(1.0, 1.0), (2.0, 40.0), (3.0, 1.0)]);
        assert_eq!(breach([&good[..], &[rising]].concat()), None);
        let back = breach(vec![line(&[(1.0, 1.0), (3.0, 1.0), (2.0, 2.0)])]);
        assert!(back.unwrap().contains("doubles back"));
        let collision = breach(vec![text((5.0, 20.0), "512"), text((20.0, 20.0), "576")]);
        assert!(collision.unwrap().contains("lies on"));
        for outside in [text((90.0, 20.0), "8192"), line(&[(1.0, 1.0), (2.0, 51.0)])] {
            assert!(breach(vec![outside]).unwrap().contains("canvas"));
        }
    }

    #[test]
    fn text_is_escaped() {
        let svg = scene(vec![text((5.0, 20.0), "[-1, 1) & <2")]).to_svg();
        assert!(svg.contains("[-1, 1) &amp; &lt;2") && svg.contains("a &lt; b"));
    }
}
