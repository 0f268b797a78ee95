//! Custom maps of matrices, buffers, rows and products.

mod elements;
mod products;
mod rows;
