//! Models of devices: what a multiprocessor holds, what datasheets promise, how textures work.

pub mod occupancy;
mod profile;
mod texture;

pub use profile::{Datasheet, Profile, UnknownProfile};
pub use texture::{AddressMode, Texels, Texture, TextureFilter, TextureOptions};
