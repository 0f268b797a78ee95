from typing import Any, final

@final
class Array:
    """An array in row-major order, which other libraries take through DLPack."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...

def device_name() -> str:
    """The name of the device for arrays in host memory."""

def is_simulator() -> bool: ...
def product_type(element: str) -> str: ...
def reduced_type(operation: str, element: str) -> str: ...
def matmul(
    a: Any,
    b: Any,
    out: Any,
    bias: Any,
    activation: str | None,
    scale: float,
    row_scale: Any,
    column_scale: Any,
    stream: int | None,
) -> Any: ...
def reduce(x: Any, operation: str, axis: int | None, out: Any, stream: int | None) -> Any: ...
