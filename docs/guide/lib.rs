//! Runs the code of the guide, chapter by chapter.
//!
//! The chapters in `pages/` are an mdBook. Their Rust blocks are documentation tests of this crate, so
//! `cargo test` compiles and runs them against the library as it is, with no more tools than cargo.
//! `mdbook test` would call `rustdoc` without cargo: each dependency would have to be found by hand.
//! `tests/pages.rs` checks what is not Rust: the defect reports are those that the simulator prints.
//!
//! ```console
//! $ cargo test -p tilewright-guide --features bridges   # the code and the reports
//! $ mdbook build docs/guide                             # the pages, in target/guide
//! ```

#[cfg(doctest)]
#[doc = include_str!("pages/getting_started.md")]
mod getting_started {}

#[cfg(doctest)]
#[doc = include_str!("pages/reductions.md")]
mod reductions {}

#[cfg(doctest)]
#[doc = include_str!("pages/rows.md")]
mod rows {}

#[cfg(doctest)]
#[doc = include_str!("pages/custom_operations.md")]
mod custom_operations {}

#[cfg(doctest)]
#[doc = include_str!("pages/products.md")]
mod products {}

#[cfg(doctest)]
#[doc = include_str!("pages/custom_kernels.md")]
mod custom_kernels {}

#[cfg(doctest)]
#[doc = include_str!("pages/finding_bugs.md")]
mod finding_bugs {}

#[cfg(doctest)]
#[doc = include_str!("pages/measuring.md")]
mod measuring {}

#[cfg(doctest)]
#[doc = include_str!("pages/streams.md")]
mod streams {}

#[cfg(all(doctest, feature = "bridges"))]
#[doc = include_str!("pages/existing_programs.md")]
mod existing_programs {}

#[cfg(doctest)]
#[doc = include_str!("pages/several_gpus.md")]
mod several_gpus {}

#[cfg(doctest)]
#[doc = include_str!("pages/accuracy.md")]
mod accuracy {}

#[cfg(doctest)]
#[doc = include_str!("pages/inside.md")]
mod inside {}
