"""Arrays to bytes and back: how a state crosses from one process or day to another."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from softlabel.errors import StateError

__all__ = ["pack", "unpack"]


class _Array(msgspec.Struct, array_like=True):
    dtype: str
    shape: tuple[int, ...]
    data: bytes


class _Packet(msgspec.Struct):
    kind: str
    design: str
    arrays: dict[str, _Array]
    check: int


def _check(arrays: Mapping[str, _Array]) -> int:
    """Return a checksum of every array's bytes, in the order of their names."""
    check = 0
    for name in sorted(arrays):
        check = zlib.crc32(arrays[name].data, check)
    return check


def pack(kind: str, design: str, arrays: Mapping[str, NDArray[np.generic]]) -> bytes:
    """Return bytes that hold these arrays, little-endian, with their kind and design."""
    packed = {}
    for name, array in arrays.items():
        little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
        packed[name] = _Array(little.dtype.str, array.shape, little.tobytes())
    return msgspec.msgpack.encode(_Packet(kind, design, packed, _check(packed)))


def unpack(kind: str, data: bytes, names: Sequence[str]) -> tuple[str, dict[str, NDArray[np.generic]]]:
    """Return the design and the arrays of these names that `pack` wrote for this kind."""
    try:
        packet = msgspec.msgpack.decode(data, type=_Packet)
    except msgspec.DecodeError as error:
        raise StateError(
            expected=f"the bytes of {kind}",
            found=str(error),
            fix="Check that they are whole and come from softlabel",
        ) from error
    if packet.kind != kind or set(packet.arrays) != set(names):
        raise StateError(
            expected=f"the bytes of {kind}",
            found=f"{packet.kind} with {', '.join(packet.arrays)}",
            fix="Read each state with its own class",
        )
    if packet.check != _check(packet.arrays):
        raise StateError(
            expected=f"the bytes of {kind} as they were written",
            found="others: the checksum differs",
            fix="Send or compute them again",
        )
    arrays = {name: np.frombuffer(a.data, dtype=a.dtype).reshape(a.shape) for name, a in packet.arrays.items()}
    return packet.design, arrays
