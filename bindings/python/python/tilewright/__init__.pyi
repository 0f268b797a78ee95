from typing import Any, Literal, Protocol, TypeVar, overload

from ._errors import DeviceError as DeviceError
from ._errors import ElementTypeError as ElementTypeError
from ._errors import Error as Error
from ._errors import InvalidValueError as InvalidValueError
from ._errors import LayoutError as LayoutError
from ._errors import SimulatorWarning as SimulatorWarning
from ._native import Array as Array
from ._native import device_name as device_name

__all__ = [
    "Array",
    "DeviceError",
    "ElementTypeError",
    "Error",
    "InvalidValueError",
    "LayoutError",
    "SimulatorWarning",
    "device_name",
    "matmul",
    "reduce",
    "sum",
]
__version__: str

class _SupportsDLPack(Protocol):
    def __dlpack__(self) -> Any: ...
    def __dlpack_device__(self) -> Any: ...

_Out = TypeVar("_Out", bound=_SupportsDLPack)
_Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]
_Operation = Literal[
    "sum",
    "product",
    "mean",
    "min",
    "max",
    "argmin",
    "argmax",
    "sum_of_squares",
    "norm1",
    "norm2",
    "norm_inf",
    "variance",
    "count",
    "any",
    "all",
]

# Without `out`, results are of the library of the first array, or of class `Array`.
@overload
def matmul(
    a: _SupportsDLPack,
    b: _SupportsDLPack,
    out: _Out,
    bias: _SupportsDLPack | None = None,
    activation: _Activation | None = None,
    scale: float = 1.0,
    row_scale: _SupportsDLPack | None = None,
    column_scale: _SupportsDLPack | None = None,
) -> _Out: ...
@overload
def matmul(
    a: _SupportsDLPack,
    b: _SupportsDLPack,
    out: None = None,
    bias: _SupportsDLPack | None = None,
    activation: _Activation | None = None,
    scale: float = 1.0,
    row_scale: _SupportsDLPack | None = None,
    column_scale: _SupportsDLPack | None = None,
) -> Any: ...
@overload
def reduce(x: _SupportsDLPack, op: _Operation, axis: int | None = None, *, out: _Out) -> _Out: ...
@overload
def reduce(x: _SupportsDLPack, op: _Operation, axis: int | None, out: _Out) -> _Out: ...
@overload
def reduce(x: _SupportsDLPack, op: _Operation, axis: int | None = None, out: None = None) -> Any: ...
@overload
def sum(x: _SupportsDLPack, axis: int | None = None, *, out: _Out) -> _Out: ...
@overload
def sum(x: _SupportsDLPack, axis: int | None, out: _Out) -> _Out: ...
@overload
def sum(x: _SupportsDLPack, axis: int | None = None, out: None = None) -> Any: ...
