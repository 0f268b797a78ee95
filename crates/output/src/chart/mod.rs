//! Charts as SVG, readable on light and dark pages; equal data gives equal bytes.

mod axis;
mod bars;
mod lines;
mod style;

pub use bars::Bars;
pub use lines::{Lines, Series, draw_lines};
