import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from softlabel.sources.coalesce import coalesced


@given(st.lists(st.integers(0, 7), max_size=12), st.integers(1, 20))
def test_the_rows_stay_in_order_and_only_the_last_batch_may_be_small(sizes: list[int], least: int) -> None:
    total = pa.table({"row": pa.array(range(sum(sizes)), pa.int64())})
    starts = [sum(sizes[:k]) for k in range(len(sizes))]
    batches = [
        pa.record_batch({"row": pa.array(range(start, start + size), pa.int64())})
        for start, size in zip(starts, sizes, strict=True)
    ]
    joined = [batch for batch in coalesced(batches, rows=least) if batch.num_rows]
    assert pa.Table.from_batches(joined, schema=total.schema).equals(total)
    assert all(batch.num_rows >= least for batch in joined[:-1])


def test_batches_with_dictionaries_of_their_own_are_joined() -> None:
    batches = [pa.record_batch({"id": pa.array([text]).dictionary_encode()}) for text in ("a", "b", "a")]
    (joined,) = coalesced(batches)
    assert joined.column("id").to_pylist() == ["a", "b", "a"]


def test_a_large_batch_is_passed_on_as_it_is() -> None:
    batch = pa.record_batch({"y": [1.0, 2.0]})
    assert next(coalesced([batch], rows=2)) is batch
