"""Exceptions and warnings of the package."""


class Error(Exception):
    """A call failed. The message says what went wrong, with the sizes, and what to do."""


class InvalidValueError(Error, ValueError):
    """A value, a shape or a device does not fit the call."""


class LayoutError(InvalidValueError):
    """No kernel takes the strides of an array."""


class ElementTypeError(Error, TypeError):
    """No kernel takes the type of an array or of its elements."""


class DeviceError(Error, RuntimeError):
    """The device, its driver or the simulator failed."""


class SimulatorWarning(RuntimeWarning):
    """Arrays in host memory are computed with by the simulator, because there is no GPU."""
