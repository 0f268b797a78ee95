//! Products measured on a GPU, recomputed by the model.

pub mod golden;
pub mod instructions;
pub mod operands;
