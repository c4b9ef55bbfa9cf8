"""One Parquet file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from softlabel.sources.protocol import plain_type, reading

__all__ = ["ParquetFile"]


@dataclass(frozen=True, slots=True)
class ParquetFile:
    """Column names and types from the footer, rows batch by batch."""

    path: str

    def columns(self) -> list[str]:
        """Return the names of the top-level columns."""
        return list(self._schema().names)

    def types(self, columns: Sequence[str]) -> list[pa.DataType]:
        """Return the Arrow type of each column."""
        schema = self._schema()
        return [plain_type(schema.field(column).type) for column in columns]

    def batches(self, schema: pa.Schema, rows: int) -> Iterator[pa.RecordBatch]:
        """Yield the file's rows as batches of at most `rows`, cast to `schema`."""
        from pyarrow import parquet

        # pre_buffer=True, the default, would keep every row group read so far in memory.
        with reading(self.path), parquet.ParquetFile(self.path, pre_buffer=False) as file:
            for batch in file.iter_batches(rows, columns=schema.names):
                # By name: a struct called "a" comes along when "a.b" is asked for.
                arrays = [batch.column(field.name).cast(field.type) for field in schema]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _schema(self) -> pa.Schema:
        from pyarrow import parquet

        with reading(self.path), parquet.ParquetFile(self.path) as file:
            return file.schema_arrow
