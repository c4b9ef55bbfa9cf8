"""Make the Parquet files of `softlabel.datasets` from the tables they come from.

    python tools/make_datasets.py FOLDER [OUT]

FOLDER holds adult.csv.gz, credit_default.csv.gz and nycflights13_100k.csv.gz; OUT is the package's own folder of
files unless given. Prints rows, bytes and SHA-256 of each file: the last goes into `softlabel/datasets/known.py` and
into the note beside the file.

Every row, every column and their order are kept. What makes the files small is what a column allows: the
narrowest integer that holds it, a dictionary or split bytes, whichever is smaller, and zstd at its highest level.
The same input, pyarrow and machine give the same bytes; another version of pyarrow gives the same values.
"""

import hashlib
import sys
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet

HOME = Path(__file__).parents[1] / "src" / "softlabel" / "datasets" / "files"
SOURCES = {
    "adult": "adult.csv.gz",
    "credit_default": "credit_default.csv.gz",
    "nycflights": "nycflights13_100k.csv.gz",
}
MOST_BYTES = 1 << 20
ALL_ROWS = 1 << 20  # one row group and one page per column: a dictionary is written once


def main(folder: Path, out: Path) -> None:
    """Write the three files and print what they hold."""
    out.mkdir(parents=True, exist_ok=True)
    for name, file in SOURCES.items():
        content = packed(narrowed(table_of(folder / file)))
        if len(content) > MOST_BYTES:
            raise SystemExit(f"{name}: {len(content):,} bytes are more than {MOST_BYTES:,}")
        (out / f"{name}.parquet").write_bytes(content)
        rows = parquet.read_metadata(BytesIO(content)).num_rows
        print(f"{name:15s} {rows:7,} rows {len(content):9,} bytes  {hashlib.sha256(content).hexdigest()}")


def table_of(path: Path) -> pa.Table:
    """Read a CSV file; an empty field and a lone question mark are missing values."""
    options = csv.ConvertOptions(null_values=["", "?"], strings_can_be_null=True)
    return csv.read_csv(path, convert_options=options)


def narrowed(table: pa.Table) -> pa.Table:
    """Return the table with every column of whole numbers in the smallest integer that holds it."""
    return pa.table({name: _narrow(table[name].combine_chunks()) for name in table.column_names})


def _narrow(column: pa.Array) -> pa.Array:
    if pa.types.is_floating(column.type) and pc.all(pc.equal(pc.floor(column), column)).as_py():
        column = column.cast(pa.int64())
    if not pa.types.is_integer(column.type):
        return column
    least, most = pc.min_max(column).as_py().values()
    fits = (kind for bits, kind in ((8, pa.int8()), (16, pa.int16()), (32, pa.int32())) if _holds(bits, least, most))
    return column.cast(next(fits, pa.int64()))


def _holds(bits: int, least: int, most: int) -> bool:
    return -(1 << (bits - 1)) <= least and most < 1 << (bits - 1)


def packed(table: pa.Table) -> bytes:
    """Return the Parquet file, each column by whichever of the two encodings makes it smaller."""
    split = [
        name
        for name in table.column_names
        if not pa.types.is_string(table.schema.field(name).type)
        and len(_written(table.select([name]), [name])) < len(_written(table.select([name]), []))
    ]
    return _written(table, split)


def _written(table: pa.Table, split: list[str]) -> bytes:
    out = BytesIO()
    parquet.write_table(
        table,
        out,
        compression="zstd",
        compression_level=22,
        use_dictionary=[name for name in table.column_names if name not in split],
        column_encoding=dict.fromkeys(split, "BYTE_STREAM_SPLIT") or None,
        dictionary_pagesize_limit=1 << 24,
        data_page_size=1 << 24,
        row_group_size=ALL_ROWS,
        write_statistics=False,
        store_schema=False,
    )
    return out.getvalue()


if __name__ == "__main__":
    if len(sys.argv) not in {2, 3}:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) == 3 else HOME)
