//! Runs a kernel's PTX on the CPU under many schedules, and reports its mistakes.
//!
//! [`LaunchFile::read`] reads the TOML of the program `tilewright-check`; [`Launch`] is the same in Rust, for tests:
//!
//! ```
//! use tilewright_check::{Argument, Buffer, Contents, Element, Launch};
//!
//! let ptx = "
//!     .version 7.0
//!     .target sm_75
//!     .address_size 64
//!     .visible .entry store(.param .u64 to, .param .u32 value)
//!     {
//!         .reg .b32 %r<2>;
//!         .reg .b64 %rd<2>;
//!         ld.param.u64 %rd1, [to];
//!         ld.param.u32 %r1, [value];
//!         st.global.u32 [%rd1], %r1;
//!         ret;
//!     }
//! ";
//! let mut launch = Launch::new("store.ptx", ptx, "store");
//! let to = Buffer::new(Element::U32, 1, Contents::Uninitialised);
//! launch.buffers.insert("to".to_owned(), to.expecting(vec![7.into()], 0.0));
//! launch.arguments = vec![Argument::buffer("to"), Argument::number(7)];
//! let report = launch.run()?;
//! assert!(report.is_clean(), "{report}");
//! # Ok::<(), tilewright_check::CheckError>(())
//! ```
//!
//! | a finding is | for example |
//! |---|---|
//! | of the simulator's checks | a data race in global memory, at a line of the PTX |
//! | a [`Mismatch`] | an element that is not as the launch expects |
//! | a [`Differing`] buffer | a result that depends on the schedule |

mod arguments;
mod buffer;
mod element;
mod error;
mod file;
mod json;
mod launch;
mod limits;
mod memory;
pub mod npy;
mod report;
mod run;
mod skeleton;

pub use buffer::{Buffer, Contents, Expected};
pub use element::{Element, Number};
pub use error::CheckError;
pub use file::LaunchFile;
pub use launch::{Argument, DEFAULT_SCHEDULES, Launch, TensorShape};
pub use report::{Differing, Finding, Mismatch, Output, Report};
pub use simt::{Defect, DefectKind, Profile};
pub use skeleton::{listing, skeleton};
