//! Models of devices: occupancy of a multiprocessor, datasheets, textures.

pub mod occupancy;
mod profile;
mod texture;

pub use profile::{Datasheet, Profile, UnknownProfile};
pub use texture::{AddressMode, Texels, Texture, TextureFilter, TextureOptions};
