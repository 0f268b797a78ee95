//! Colours and fonts, and the drawing that all charts are made on.

use crate::Outcome;
use plotters::coord::Shift;
use plotters::prelude::*;

/// An area of a drawing.
pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub(super) const FONT: &str = "sans-serif";

/// Colours that colour-blind readers can tell apart (Okabe and Ito, "Color Universal Design", 2008),
/// without the yellow, which is faint on white, and without black.
pub(super) const COLOURS: [RGBColor; 6] = [
    RGBColor(0x00, 0x72, 0xb2),
    RGBColor(0xd5, 0x5e, 0x00),
    RGBColor(0x00, 0x9e, 0x73),
    RGBColor(0xcc, 0x79, 0xa7),
    RGBColor(0xe6, 0x9f, 0x00),
    RGBColor(0x56, 0xb4, 0xe9),
];

/// The colour of rivals.
pub(super) const GREY: RGBColor = RGBColor(0x8c, 0x95, 0x9f);

/// Text and axes are black. On a dark page they are light.
const DARK_PAGE: &str = "\
<style>
@media (prefers-color-scheme: dark) {
  [fill=\"#000000\"] { fill: #d0d7de }
  [stroke=\"#000000\"] { stroke: #d0d7de }
}
</style>
";

/// A drawing of `size` pixels, without a background.
pub(super) fn drawing(
    size: (u32, u32),
    draw: impl FnOnce(&Area<'_>) -> Outcome,
) -> Outcome<String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        draw(&area)?;
        area.present()?;
    }
    let (head, body) = svg.split_once('\n').ok_or("the drawing has no lines")?;
    Ok(format!("{head}\n{DARK_PAGE}{body}"))
}
