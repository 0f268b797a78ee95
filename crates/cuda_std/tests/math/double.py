"""Writes reference values of f64 for double.rs, by mpmath with 240 bits.

    python3 double.py 240 > double.txt      # what is checked in
    python3 double.py 20000 > large.txt     # more arguments, of which those are the first

A line has a function, the bits of its arguments and of the f64 nearest to the result in hexadecimal,
and what that f64 lacks of the result in units in its last place. Results beyond the numbers are left
out.
"""

import random
import struct
import sys

from mpmath import mp, mpf

mp.prec = 240

FUNCTIONS = {
    "rsqrt": lambda x: 1 / mp.sqrt(x),
    "exp": mp.exp,
    "exp2": lambda x: mpf(2) ** x,
    "ln": mp.log,
    "log2": lambda x: mp.log(x) / mp.log(2),
    "tanh": mp.tanh,
    "erf": mp.erf,
    "erfc": mp.erfc,
    "gelu": lambda x: x * mp.erfc(-x / mp.sqrt(2)) / 2,
    "gelu_tanh": lambda x: x / (1 + mp.exp(-mp.sqrt(8 / mp.pi) * (x + mpf("0.044715") * x**3))),
    "silu": lambda x: x / (1 + mp.exp(-x)),
    "sin": mp.sin,
    "cos": mp.cos,
    "tan": mp.tan,
    "pow": lambda x, y: mp.power(x, y),
}

# Numbers that are close to a multiple of pi / 2, and those on both sides of where the reduction changes
# its way.
SPECIAL_ANGLES = [
    0x3FE921FB54442D18,
    0x3FF921FB54442D18,
    0x400921FB54442D18,
    0x412FFFFFFFFFFFFF,
    0x4130000000000000,
    0x4130000180000000,
    0x4480F0CF064DD592,
    0x7506AC5B262CA1FF,
    0x7FEFFFF583A53B8E,
]

# Where the results begin to be 0, or 2, and where they are the argument.
TAILS = {"erfc": (-7, 27.3), "gelu": (-38.6, 10), "gelu_tanh": (-21.9, 10), "silu": (-751, 50)}


def of_bits(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def bits_of(value):
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def signed(value):
    return value if random.random() < 0.5 else -value


def of_any_magnitude():
    """A finite number above 0 with random bits."""
    return of_bits(random.randrange(1, 0x7FF0000000000000))


def within(least, greatest):
    """A number whose exponent is uniform between those of two."""
    exponent = random.uniform(float(mp.log(least, 2)), float(mp.log(greatest, 2)))
    return 2.0**exponent


def near_a_multiple():
    """A number around a multiple of pi / 2."""
    multiple = random.randrange(1, 1 << random.randrange(1, 40)) * mp.pi / 2
    return of_bits(bits_of(float(multiple)) + random.randrange(-3, 4))


def around_one():
    return 1 + signed(within(2.0**-52, 0.5))


def one_of(*choices):
    return random.choice(choices)()


def arguments(name):
    """Random arguments of a function, where its result is neither 0 nor infinite."""
    if name in ("sin", "cos", "tan"):
        magnitude = one_of(of_any_magnitude, near_a_multiple, lambda: within(2.0**-20, 2.0**21))
        return (signed(magnitude),)
    if name in ("ln", "log2"):
        return (one_of(of_any_magnitude, around_one, lambda: within(0.01, 100)),)
    if name == "rsqrt":
        return (one_of(of_any_magnitude, lambda: within(1, 4)),)
    if name == "exp":
        return (one_of(lambda: random.uniform(-745, 709), lambda: signed(within(2.0**-60, 1))),)
    if name == "exp2":
        return (one_of(lambda: random.uniform(-1074, 1024), lambda: signed(within(2.0**-60, 1))),)
    if name in ("tanh", "erf"):
        return (signed(one_of(lambda: within(2.0**-1000, 1), lambda: random.uniform(0, 25))),)
    if name in TAILS:
        return (one_of(lambda: signed(within(2.0**-1000, 1)), lambda: random.uniform(*TAILS[name])),)
    base = one_of(of_any_magnitude, around_one, lambda: within(0.01, 100))
    largest = 740 / max(abs(float(mp.log(base))), 1e-300)
    exponent = signed(random.uniform(0, min(largest, 1e300)))
    if abs(exponent) >= 1 and random.random() < 0.3:
        return signed(base), float(round(exponent))
    return base, exponent


def line(name, numbers):
    """The line for a function of numbers; none where the result is beyond the numbers."""
    exact = FUNCTIONS[name](*map(mpf, numbers))
    try:
        nearest = float(exact)
    except OverflowError:
        return None
    if nearest == 0 or nearest in (float("inf"), float("-inf")):
        return None
    exponent = max((bits_of(nearest) >> 52 & 0x7FF) - 1023, -1022)
    lack = (exact - mpf(nearest)) / mpf(2) ** (exponent - 52)
    bits = " ".join(f"{bits_of(number):016x}" for number in (*numbers, nearest))
    return f"{name} {bits} {float(lack):.4f}"


def main():
    count = int(sys.argv[1])
    for name in FUNCTIONS:
        # A sequence for each function, which does not depend on the others.
        random.seed(name)
        lines = 0
        while lines < count:
            text = line(name, arguments(name))
            if text is not None:
                print(text)
                lines += 1
        if name in ("sin", "cos", "tan"):
            for bits in SPECIAL_ANGLES:
                print(line(name, (of_bits(bits),)))


if __name__ == "__main__":
    main()
