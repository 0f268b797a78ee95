//! Textures: arrays that kernels sample at real-valued coordinates.

use crate::backend::{TextureHandle, TextureRequest};
use crate::device::Device;
use crate::element::Element;
use crate::error::{During, ErrorKind, Outcome, Result, check_length};
use crate::holder::Holder;
use crate::uses::Uses;
use cuda_std::texture::{Texture1d, Texture2d};
use simt::{AddressMode, Texels, TextureOptions};

/// The largest extents that every supported device allows (CUDA C++ Programming Guide, "Technical Specifications per
/// Compute Capability": textures of CUDA arrays).
const MAX_WIDTH: usize = 131_072;
const MAX_HEIGHT: usize = 65_536;

/// An element type of a [`Texture`]: `f32`, or `u8`, which kernels read as a number from 0 to 1.
pub trait Texel: Element + sealed::Texel {}

impl Texel for f32 {}
impl Texel for u8 {}

mod sealed {
    use simt::Texels;

    pub trait Texel: Sized {
        /// The elements, by type.
        fn texels(texels: &[Self]) -> Texels<'_>;
    }
}

impl sealed::Texel for f32 {
    fn texels(texels: &[Self]) -> Texels<'_> {
        Texels::F32(texels)
    }
}

impl sealed::Texel for u8 {
    fn texels(texels: &[Self]) -> Texels<'_> {
        Texels::Unorm8(texels)
    }
}

/// A 1D or 2D array in one device's memory that kernels read through the texture units.
///
/// Kernels read it at any coordinate, with interpolation, and with a defined value outside. Its elements never
/// change. `&Texture<1>` is the argument for a kernel parameter `Texture1d`, `&Texture<2>` for a `Texture2d`.
///
/// ```
/// use cuda_std::prelude::*;
/// use tilewright::{Device, LaunchConfig, ModuleSource, TextureFilter, TextureOptions};
///
/// /// Stretches the texture to the length of `y`.
/// #[kernel]
/// pub fn stretch(texture: Texture1d, y: GlobalMut<f32>) {
///     let i = thread::unique_index();
///     let x = (i.get() as f32 + 0.5) / y.len() as f32;
///     if let Some(y) = y.own(i) {
///         y.set(texture.sample(x));
///     }
/// }
/// // SAFETY: there are no images that could differ from the kernel.
/// static KERNELS: ModuleSource = unsafe { ModuleSource::new("stretch", &[]) };
///
/// # fn main() -> tilewright::Result<()> {
/// let device = Device::simulator();
/// let options = TextureOptions::default()
///     .with_filter(TextureFilter::Linear)
///     .with_normalised_coordinates(true);
/// let texture = device.texture_1d(&[0.0_f32, 1.0], options)?;
/// let mut y = device.zeros::<f32>(4)?;
/// device.load(&KERNELS)?.launch(stretch, LaunchConfig::new(1, 4), (&texture, &mut y))?;
/// assert_eq!(y.to_vec()?, [0.0, 0.25, 0.75, 1.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Texture<const DIMENSIONS: usize> {
    device: Device,
    uses: Uses,
    handle: TextureHandle,
    extent: [usize; DIMENSIONS],
    options: TextureOptions,
}

impl Device {
    /// Makes a 1D texture with a copy of `texels`, at most 131072 elements.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidTexture`] if there is no element, or if the address mode needs normalised coordinates and
    /// the options do not have them; [`ErrorKind::TooLarge`] for too many elements; those of [`Device::zeros`].
    pub fn texture_1d<T: Texel>(
        &self,
        texels: &[T],
        options: TextureOptions,
    ) -> Result<Texture<1>> {
        Texture::of_row(self, texels, options).during("texture_1d")
    }

    /// Makes a 2D texture with a copy of `texels`, row by row.
    ///
    /// It has `height` rows (at most 65536) of `width` elements (at most 131072).
    ///
    /// # Errors
    /// [`ErrorKind::WrongLength`] if there are not `width * height` texels, and those of [`Device::texture_1d`].
    pub fn texture_2d<T: Texel>(
        &self,
        width: usize,
        height: usize,
        texels: &[T],
        options: TextureOptions,
    ) -> Result<Texture<2>> {
        Texture::of_rows(self, (width, height), texels, options).during("texture_2d")
    }
}

impl Texture<1> {
    pub(crate) fn of_row<T: Texel>(
        device: &Device,
        texels: &[T],
        options: TextureOptions,
    ) -> Outcome<Self> {
        let request = TextureRequest {
            width: texels.len(),
            height: None,
            texels: T::texels(texels),
            options,
        };
        Self::made(device, &request, [texels.len()])
    }

    pub(crate) fn param(&self) -> Texture1d<'_> {
        // SAFETY: a live texture of one dimension: the device made it so. It lives as long as `self`, and then until
        // the device reaches work that was submitted later.
        unsafe { Texture1d::from_handle(self.handle.object) }
    }
}

impl Texture<2> {
    pub(crate) fn of_rows<T: Texel>(
        device: &Device,
        (width, height): (usize, usize),
        texels: &[T],
        options: TextureOptions,
    ) -> Outcome<Self> {
        let expected = width.checked_mul(height).ok_or_else(|| {
            ErrorKind::size_overflow(format!("a texture of {width} x {height} elements"))
        })?;
        let rule = "one for each place of width times height";
        check_length("the slice of texels", texels.len(), expected, rule)?;
        let request = TextureRequest {
            width,
            height: Some(height),
            texels: T::texels(texels),
            options,
        };
        Self::made(device, &request, [width, height])
    }

    pub(crate) fn param(&self) -> Texture2d<'_> {
        // SAFETY: a live texture of two dimensions, as for one.
        unsafe { Texture2d::from_handle(self.handle.object) }
    }
}

impl<const DIMENSIONS: usize> Texture<DIMENSIONS> {
    fn made(
        device: &Device,
        request: &TextureRequest<'_>,
        extent: [usize; DIMENSIONS],
    ) -> Outcome<Self> {
        check(request)?;
        Ok(Self {
            device: device.clone(),
            uses: Uses::new(device.backend().stream(), 0),
            handle: device.backend().create_texture(request)?,
            extent,
            options: request.options,
        })
    }

    /// The number of elements in each dimension, width first.
    #[must_use]
    pub fn extent(&self) -> [usize; DIMENSIONS] {
        self.extent
    }

    /// The options for reading it.
    #[must_use]
    pub fn options(&self) -> TextureOptions {
        self.options
    }

    /// The device that holds the texture.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn holder(&self) -> Holder<'_> {
        Holder {
            device: &self.device,
            uses: Some(&self.uses),
        }
    }
}

impl<const DIMENSIONS: usize> Drop for Texture<DIMENSIONS> {
    fn drop(&mut self) {
        let stream = self.device.backend();
        // If other streams cannot be waited for, the device is lost, and its textures with it.
        if self.uses.order_writes(stream, true).is_ok() {
            // SAFETY: a live handle, not used again: it is this texture's own, nothing can use it after `drop`, and
            // work of other streams that uses it comes earlier.
            unsafe { stream.destroy_texture(self.handle) }
        }
    }
}

fn check(request: &TextureRequest<'_>) -> Outcome<()> {
    let TextureRequest {
        width,
        height,
        texels,
        options,
    } = *request;
    let repeats = matches!(
        options.address_mode,
        AddressMode::Wrap | AddressMode::Mirror
    );
    if repeats && !options.normalised_coordinates {
        return Err(ErrorKind::InvalidTexture {
            reason: "only normalised coordinates wrap or mirror; ask for them, or for clamp or border",
        });
    }
    if texels.is_empty() {
        return Err(ErrorKind::InvalidTexture {
            reason: "it has no element; a texture has at least one",
        });
    }
    if width > MAX_WIDTH || height.is_some_and(|height| height > MAX_HEIGHT) {
        return Err(ErrorKind::TooLarge {
            what: format!("a texture of {width} x {} elements", height.unwrap_or(1)),
            remedy: "a texture can have at most 131072 columns and 65536 rows",
        });
    }
    Ok(())
}
