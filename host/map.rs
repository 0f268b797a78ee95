//! Custom maps of matrices, buffers and rows.

mod elements;
mod rows;
