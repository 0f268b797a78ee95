"""Writes the files of this folder: as NumPy 2.4, ml_dtypes 0.6, pandas 3.1 and DuckDB 2.0 write them.

    python3 -m venv /tmp/tools && /tmp/tools/bin/pip install numpy ml_dtypes pandas duckdb
    /tmp/tools/bin/python make.py
"""

import os

import duckdb
import ml_dtypes
import numpy as np
import pandas as pd

os.chdir(os.path.dirname(os.path.abspath(__file__)))

# Each has the sum that the table of the tests names.
for name in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", ">i2", ">u8", ">f2", ">f4", ">f8"]:
    file = name.replace(">", "big-") + ".npy"
    signs = 1 if "u" in name else -1
    np.save(file, np.array([[100, 7, 3], [2, 1, signs * 50]], dtype=name))
np.save("greatest-u8.npy", np.array([2**64 - 2, 1], dtype="u8"))
np.save("b1.npy", np.array([True, False, True, True]))
np.save("fortran.npy", np.asfortranarray(np.arange(12.0).reshape(3, 4)))
np.save("scalar.npy", np.float64(2.5))
np.save("empty.npy", np.zeros((0, 3)))
np.save("cube.npy", np.arange(24, dtype="i4").reshape(2, 3, 4))
for version in [(2, 0), (3, 0)]:
    with open(f"version-{version[0]}.npy", "wb") as file:
        np.lib.format.write_array(file, np.array([1.5, 2.0]), version=version)
for name in ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4"]:
    np.save(f"{name}.npy", np.array([[1.5, -2], [3, 0.5]]).astype(getattr(ml_dtypes, name)))

np.save("strings.npy", np.array(["ab", "c"]))
np.save("bytes.npy", np.array([b"abc", b"d"]))
np.save("objects.npy", np.array([1, "a", None], dtype=object))
np.save("records.npy", np.array([(1, 2.5)], dtype=[("count", "i4"), ("größe", "f8")]))
np.save("c8.npy", np.array([1 + 2j], dtype="c8"))
np.save("c16.npy", np.array([1 + 2j]))
np.save("dates.npy", np.array(["2024-01-01"], dtype="M8[D]"))
np.save("times.npy", np.array([5], dtype="m8[s]"))
np.save("f16.npy", np.array([1.5], dtype="f16"))
np.save("raw.npy", np.zeros(2, dtype="V2"))
np.savez("archive.npz", x=np.ones(2))

# NumPy's types of products.
names = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "bfloat16"]
dtypes = [np.dtype(getattr(ml_dtypes, name, name)) for name in names]
with open("types_of_products.txt", "w") as file:
    for name, a in zip(names, dtypes):
        for other, b in zip(names, dtypes):
            product = np.ones((1, 1), a) @ np.ones((1, 1), b)
            print(name, other, product.dtype.str[1:], file=file)

frame = pd.DataFrame({"height": [1.0, 3.0], "width": [2, 6]})
frame.to_csv("pandas-index.csv")
frame.to_csv("pandas.csv", index=False)
frame.to_csv("pandas-quoted.csv", index=False, quoting=1)
frame.to_csv("pandas-excel.csv", index=False, sep=";", decimal=",", encoding="utf-8-sig", lineterminator="\r\n")
frame.to_csv("pandas-tab.csv", index=False, sep="\t")
frame.to_csv("pandas-no-header.csv", index=False, header=False)
frame.to_csv("pandas-utf-16.csv", index=False, encoding="utf-16")
pd.DataFrame([[1.5, 2.0], [2.5, 4.0]]).to_csv("pandas-numbered.csv", index=False)
pd.DataFrame({2019: [1.0, 3.0], 2020: [2.0, 6.0]}).to_csv("pandas-years.csv", index=False)
pd.DataFrame({"a": [1.0, None, 3.0], "b": [None, None, None]}).to_csv("pandas-missing.csv", index=False)
pd.DataFrame({"a": [1.0, None, 3.0]}).to_csv("pandas-missing-one-column.csv", index=False)
pd.DataFrame({"a": [1.0, None]}).to_csv("pandas-na.csv", index=False, na_rep="NA")
pd.DataFrame({'a, "b"': [1.0, 3.0], "c\nd": [2, 6]}).to_csv("pandas-names.csv", index=False)
pd.DataFrame({"a": [True, False]}).to_csv("pandas-bool.csv", index=False)
pd.DataFrame({"name": ["Ann", "Bob"], "a": [1, 3]}).to_csv("pandas-text.csv", index=False)

table = "(VALUES (1.0, 2), (3.0, NULL)) AS t(height, width)"
duckdb.sql(f"COPY (FROM {table}) TO 'duckdb.csv'")
duckdb.sql(f"COPY (FROM {table}) TO 'duckdb-bar.csv' (DELIMITER '|', NULLSTR 'NULL')")
duckdb.sql(f"COPY (FROM {table}) TO 'duckdb-no-header.csv' (HEADER false)")

numbers = np.array([[1, 2], [3, 6]])
np.savetxt("savetxt.csv", numbers, delimiter=",")
np.savetxt("savetxt-spaces.csv", numbers, fmt="%g")
np.savetxt("savetxt-header.csv", numbers, delimiter=",", header="height,width")
