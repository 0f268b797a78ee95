//! The library's checked-in PTX.

#![allow(dead_code, reason = "no test file uses all of it")]

#[path = "../../../ptx/tests/common/text.rs"]
mod text;

pub use text::text;

use tilewright::Profile;

/// The PTX of a kernel that a device of this profile runs: the image of its newest architecture.
pub fn image(name: &str, profile: Profile) -> Option<String> {
    let architectures: &[&str] = match profile {
        Profile::H200 => &["sm_90a", "sm_80", "sm_75"],
        Profile::A100 | Profile::Rtx4090 => &["sm_80", "sm_75"],
        Profile::T4 => &["sm_75"],
        _ => panic!("a profile of these tests"),
    };
    architectures.iter().find_map(|arch| text(name, arch))
}
