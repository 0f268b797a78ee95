"""What calls ask of the libraries whose arrays they take."""

import sys

from ._errors import ElementTypeError, InvalidValueError


class Library:
    """A library of which nothing is known but DLPack: results are arrays of the package."""

    def ready(self, x):
        """``x``, or a view of it that DLPack can share."""
        return x

    def stream(self, x):
        """The handle of the stream in which the library works, for a call in the same stream."""
        return None

    def empty(self, x, shape, element):
        """Room for a result, given a function that says the name of its type; None to leave it to the package."""
        return None

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

    def ready(self, x):
        # There are no kernels for bool, which has a byte of 0 or 1.
        return x.view(self.module.uint8) if x.dtype == bool else x

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
        # A type's name costs more than a look into a table.
        self.names = {}

    def ready(self, x):
        torch = self.module
        if x.requires_grad:
            if torch.is_grad_enabled():
                raise InvalidValueError("gradients are not recorded; pass x.detach()")
            x = x.detach()
        if x.dtype is torch.bool:
            return x.view(torch.uint8)
        return x.resolve_neg() if x.is_neg() else x

    def stream(self, x):
        return self.module.cuda.current_stream(x.device).cuda_stream if x.is_cuda else None

    def empty(self, x, shape, element):
        name = self.names.get(x.dtype)
        if name is None:
            name = self.names[x.dtype] = str(x.dtype).removeprefix("torch.")
        return self.module.empty(shape, dtype=getattr(self.module, element(name)), device=x.device)

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
