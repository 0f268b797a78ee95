//! Textures: CUDA arrays, and the objects through which kernels read them.

use super::context::{Current, Stream};
use super::driver::{Failure, call};
use crate::backend::{TextureHandle, TextureRequest};
use cuda_bindings::driver::sys;
use simt::{AddressMode, Texels, TextureFilter};
use std::ffi::c_void;
use std::mem;
use std::ptr;

/// A texture with copies of the request's elements.
pub fn create(
    request: &TextureRequest<'_>,
    stream: &Stream,
    current: &Current<'_>,
) -> Result<TextureHandle, Failure> {
    let array = create_array(request)?;
    let object = fill(array, request, stream, current).and_then(|()| create_object(array, request));
    match object {
        Ok(object) => Ok(TextureHandle {
            object,
            storage: array.expose_provenance() as u64,
        }),
        Err(failure) => {
            // SAFETY: the array was made here, and nothing else refers to it.
            let _ = unsafe { call!(cuArrayDestroy(array)) };
            Err(failure)
        }
    }
}

/// Destroys a texture.
///
/// # Safety
/// 1. `create` made it, and neither the host nor work in any stream uses it any more.
pub unsafe fn destroy(texture: TextureHandle, _current: &Current<'_>) -> Result<(), Failure> {
    let array: sys::CUarray = ptr::with_exposed_provenance_mut(texture.storage as usize);
    // SAFETY: this is the last use of the object: the caller's contract.
    let destroyed = unsafe { call!(cuTexObjectDestroy(texture.object)) };
    // SAFETY: this is the last use of the array: the caller's contract.
    unsafe { call!(cuArrayDestroy(array)) }?;
    destroyed
}

/// The elements' format, the size of one in bytes, and the address of the first.
fn source(texels: Texels<'_>) -> (sys::CUarray_format, usize, *const c_void) {
    use sys::CUarray_format_enum as Format;
    match texels {
        Texels::F32(texels) => (Format::CU_AD_FORMAT_FLOAT, 4, texels.as_ptr().cast()),
        Texels::Unorm8(texels) => {
            let first = texels.as_ptr().cast();
            (Format::CU_AD_FORMAT_UNSIGNED_INT8, 1, first)
        }
        _ => unreachable!("`Texel` has these types alone"),
    }
}

fn create_array(request: &TextureRequest<'_>) -> Result<sys::CUarray, Failure> {
    let (format, _, _) = source(request.texels);
    let descriptor = sys::CUDA_ARRAY_DESCRIPTOR {
        Width: request.width,
        // A height of 0 means one dimension.
        Height: request.height.unwrap_or(0),
        Format: format,
        NumChannels: 1,
    };
    let mut array = ptr::null_mut();
    // SAFETY: `array` is valid for one handle, and the descriptor is complete.
    unsafe { call!(cuArrayCreate_v2(&raw mut array, &raw const descriptor)) }?;
    Ok(array)
}

/// Copies the elements, and waits for the copy.
fn fill(
    array: sys::CUarray,
    request: &TextureRequest<'_>,
    stream: &Stream,
    current: &Current<'_>,
) -> Result<(), Failure> {
    use sys::CUmemorytype_enum as MemoryType;
    let (_, bytes, first) = source(request.texels);
    let row_bytes = request.width * bytes;
    let Some(height) = request.height else {
        // SAFETY: `first` has a row's bytes, which stay borrowed until the stream is done with them; the array has
        // space for a row.
        unsafe {
            call!(cuMemcpyHtoAAsync_v2(
                array,
                0,
                first,
                row_bytes,
                stream.raw()
            ))
        }?;
        return stream.synchronize(current);
    };
    // SAFETY: zero is a valid value of every field: an offset of 0, no pointer, no array. The two enumerations are
    // replaced below, before anything reads them.
    let mut copy: mem::MaybeUninit<sys::CUDA_MEMCPY2D> = mem::MaybeUninit::zeroed();
    let place = copy.as_mut_ptr();
    // SAFETY: `place` points to one description; fields are only written.
    unsafe {
        (*place).srcMemoryType = MemoryType::CU_MEMORYTYPE_HOST;
        (*place).srcHost = first;
        (*place).srcPitch = row_bytes;
        (*place).dstMemoryType = MemoryType::CU_MEMORYTYPE_ARRAY;
        (*place).dstArray = array;
        (*place).WidthInBytes = row_bytes;
        (*place).Height = height;
    }
    // SAFETY: the description is complete. `first` has the bytes of all rows, one after another, which stay borrowed
    // until the stream is done with them. The array has space for them.
    unsafe { call!(cuMemcpy2DAsync_v2(copy.as_ptr(), stream.raw())) }?;
    stream.synchronize(current)
}

fn create_object(
    array: sys::CUarray,
    request: &TextureRequest<'_>,
) -> Result<sys::CUtexObject, Failure> {
    use sys::CUresourcetype_enum as Type;
    let options = request.options;
    // SAFETY: zero is a valid value of every field, and the type is an array.
    let mut resource: sys::CUDA_RESOURCE_DESC = unsafe { mem::zeroed() };
    resource.resType = Type::CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    // SAFETY: zero is a valid value of every field: wrap, point, no mipmaps, a border of zero.
    let mut texture: sys::CUDA_TEXTURE_DESC = unsafe { mem::zeroed() };
    texture.addressMode = address_modes(request);
    texture.filterMode = filter_mode(options.filter);
    // Without the flag for integers, 8-bit elements are read as numbers from 0 to 1.
    if options.normalised_coordinates {
        texture.flags = sys::CU_TRSF_NORMALIZED_COORDINATES;
    }
    let mut object = 0;
    // SAFETY: `object` is valid for one handle. Both descriptions are complete, the array is alive, and there is no
    // view description.
    unsafe {
        call!(cuTexObjectCreate(
            &raw mut object,
            &raw const resource,
            &raw const texture,
            ptr::null()
        ))
    }?;
    Ok(object)
}

/// The address modes along x, y and z. A 1D texture is read as the row at y = 0 of a 2D one. With linear filtering
/// half of that row lies outside, and a border there would halve every value.
fn address_modes(request: &TextureRequest<'_>) -> [sys::CUaddress_mode; 3] {
    let mode = address_mode(request.options.address_mode);
    let clamp = address_mode(AddressMode::Clamp);
    match request.height {
        None => [mode, clamp, clamp],
        Some(_) => [mode, mode, clamp],
    }
}

fn address_mode(mode: AddressMode) -> sys::CUaddress_mode {
    use sys::CUaddress_mode_enum as Mode;
    match mode {
        AddressMode::Clamp => Mode::CU_TR_ADDRESS_MODE_CLAMP,
        AddressMode::Wrap => Mode::CU_TR_ADDRESS_MODE_WRAP,
        AddressMode::Mirror => Mode::CU_TR_ADDRESS_MODE_MIRROR,
        AddressMode::Border => Mode::CU_TR_ADDRESS_MODE_BORDER,
    }
}

fn filter_mode(filter: TextureFilter) -> sys::CUfilter_mode {
    use sys::CUfilter_mode_enum as Mode;
    match filter {
        TextureFilter::Point => Mode::CU_TR_FILTER_MODE_POINT,
        TextureFilter::Linear => Mode::CU_TR_FILTER_MODE_LINEAR,
    }
}
