//! Unsafe code relies on these traits, so other crates cannot implement them.

use bytemuck::{Pod, Zeroable};
use cuda_std::warp::LaneValue;
use cuda_std::{grid_constant, kernel, mma, wgmma};

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Wide([u64; 4]);

impl LaneValue for Wide {
    fn to_lane_bits(self) -> u64 {
        self.0[0]
    }

    fn from_lane_bits(bits: u64) -> Self {
        Self([bits; 4])
    }
}

impl mma::Element<16, 16> for Wide {
    type Registers = [u32; 4];
}

impl wgmma::Element for Wide {
    const STEP: usize = 1 << 40;
    const COLUMNS_STEP: usize = 8;
    const TYPE: simt::ElementType = simt::ElementType::F16;
}

impl wgmma::AccumulatorElement for Wide {
    const ZERO: Self = Self([0; 4]);
}

struct Across;

impl wgmma::Major for Across {
    const IS_MN: bool = true;
}

impl kernel::ScalarParam for Wide {}

impl kernel::KernelParams for Wide {
    fn push_to<'a>(&'a self, _: &mut kernel::EntryParams<'a>) {}
}

impl grid_constant::ByValue for Wide {
    type Value = u8;
}

fn main() {}
