//! Compiles Rust kernel crates to PTX from a build script.
