"""What calls ask of the libraries whose arrays they take."""

import sys

from ._errors import ElementTypeError, InvalidValueError, LayoutError


class Library:
    """A library of which nothing is known but DLPack: results are arrays of the package."""

    def is_on_host(self, x):
        """Whether the elements are in host memory."""
        device = getattr(x, "__dlpack_device__", None)
        return device is not None and device()[0] == 1

    def ready(self, x):
        """``x``, or a view of it that DLPack can share."""
        return x

    def writable(self, out):
        """``out``, or a view of it that DLPack can share, into which a call writes."""
        return self.ready(out)

    def written(self, out):
        """Takes note that a call has written ``out``, which the caller made."""

    def stream(self, x):
        """The handle of the stream in which the library works, for a call in the same stream."""
        return None

    def empty(self, x, shape, element):
        """Room for a result, given a function that says the name of its type; None to leave it to the package."""
        return None

    def imported(self, x):
        """An array of another library as one of this."""
        return x

    def contiguous(self, x):
        """``x``, or a copy with its elements in row-major order."""
        return x

    def finished(self, out):
        """What the caller gets for a result in ``out``."""
        return out


class Numpy(Library):
    """Arrays of numpy, in host memory."""

    def __init__(self, module):
        self.module = module

    def is_on_host(self, x):
        return True

    def ready(self, x):
        if not self._is_shared(x):
            x = x.astype(x.dtype.newbyteorder("="))
        # There are no kernels for bool, which has a byte of 0 or 1.
        return x.view(self.module.uint8) if x.dtype == bool else x

    def writable(self, out):
        if not self._is_shared(out):
            raise LayoutError("out is not aligned, has gaps of parts of elements, or is not in this machine's byte order")
        return self.ready(out)

    def _is_shared(self, x):
        """Whether DLPack describes the layout."""
        size = x.itemsize
        has_whole_gaps = size > 0 and not any(stride % size for stride in x.strides)
        return has_whole_gaps and x.flags.aligned and x.dtype.isnative

    def imported(self, x):
        return self.module.from_dlpack(x)

    def empty(self, x, shape, element):
        return self.module.empty(shape, element(x.dtype.name))

    def contiguous(self, x):
        return self.module.ascontiguousarray(x)

    def finished(self, out):
        return out[()] if out.ndim == 0 else out


class Torch(Library):
    """Tensors of torch. On a CUDA device, calls work in torch's current stream."""

    def __init__(self, module):
        self.module = module
        # The types of results: a type's name costs more than a look into a table.
        self.types = {}
        # Triton's and inductor's way to the handle of a stream. The public one makes an object for the stream first,
        # which takes longer than a small product.
        self.raw_stream = getattr(module._C, "_cuda_getCurrentRawStream", None)

    def is_on_host(self, x):
        # Without a call of the protocol.
        return not x.is_cuda

    def ready(self, x):
        torch = self.module
        if x.requires_grad:
            if torch.is_grad_enabled():
                raise InvalidValueError("gradients are not recorded; pass x.detach()")
            x = x.detach()
        if x.dtype is torch.bool:
            return x.view(torch.uint8)
        return x.resolve_neg() if x.is_neg() else x

    def writable(self, out):
        if out.is_neg():
            # What is ready is a copy.
            raise InvalidValueError("out is a view that torch negates when it is read, so it cannot be written")
        return self.ready(out)

    def written(self, out):
        # As torch's own operations do: its gradients then refuse what was saved before.
        note = getattr(self.module.autograd.graph, "increment_version", None)
        if note is not None and not out.is_inference():
            note(out)

    def stream(self, x):
        if not x.is_cuda:
            return None
        if self.raw_stream is not None:
            return self.raw_stream(x.get_device())
        return self.module.cuda.current_stream(x.device).cuda_stream

    def empty(self, x, shape, element):
        dtype = self.types.get((element, x.dtype))
        if dtype is None:
            name = element(str(x.dtype).removeprefix("torch."))
            dtype = self.types[element, x.dtype] = getattr(self.module, name)
        return self.module.empty(shape, dtype=dtype, device=x.device)

    def imported(self, x):
        return self.module.from_dlpack(x)

    def contiguous(self, x):
        return x.contiguous()


_OTHER = Library()
_KNOWN: dict[type, Library] = {}


def library_of(x):
    """The library of an array."""
    kind = type(x)
    library = _KNOWN.get(kind)
    if library is None:
        library = _KNOWN[kind] = _find(kind)
    return library


def _find(kind):
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    if torch is not None and issubclass(kind, torch.Tensor):
        return Torch(torch)
    if numpy is not None and issubclass(kind, numpy.ndarray):
        masked = sys.modules.get("numpy.ma")
        if masked is not None and issubclass(kind, masked.MaskedArray):
            # DLPack would share the elements without the mask.
            raise ElementTypeError("masks are not taken into account; pass x.filled(value) or x.compressed()")
        return Numpy(numpy)
    return _OTHER
