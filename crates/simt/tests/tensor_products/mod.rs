//! Products that were measured on a GPU, computed again by the model.

pub mod golden;
pub mod instructions;
pub mod operands;
