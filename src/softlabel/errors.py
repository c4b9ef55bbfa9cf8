"""Every error softlabel raises on purpose.

::

    SoftlabelError                       anything below
    ├── InputError (ValueError)          the call is wrong: an unknown column, option or file
    ├── DataError (ValueError)           the call is right, the values cannot answer it
    ├── SourceError (OSError)            a source could not be read to its end
    │   └── SourceChanged                its rows differed between the two passes
    └── StateError (ValueError)          saved or partial results that do not belong together

A message always has three parts: what was expected, what came instead, and what to do about it.
The constructor asks for all three, so none can be forgotten.
"""

import re
from collections.abc import Iterable
from difflib import get_close_matches

__all__ = [
    "DataError",
    "InputError",
    "SoftlabelError",
    "SourceChanged",
    "SourceError",
    "StateError",
    "did_you_mean",
]

# Characters of one part of a message.
_LONGEST = 600


class SoftlabelError(Exception):
    """Root of the tree: catch this to catch every error raised on purpose.

    Parameters
    ----------
    expected, found, fix
        The three parts of the message, each a phrase without its final full stop.

    Examples
    --------
    >>> from softlabel.errors import InputError
    >>> print(InputError(expected="folds to be at least 2", found="1", fix="Use folds=None for none"))
    Expected folds to be at least 2; found 1. Use folds=None for none.
    """

    def __init__(self, *, expected: str, found: str, fix: str) -> None:
        self.expected, self.found, self.fix = _one_line(expected), _one_line(found), _one_line(fix)
        super().__init__(f"Expected {self.expected}; found {self.found}. {self.fix}.")

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments defeat the default pickling, and workers must be able to raise.
        return _rebuild, (type(self), self.expected, self.found, self.fix)


def _one_line(part: str) -> str:
    """Return a part of a message without line breaks and cut to a size, for it may show a value of the caller's."""
    line = re.sub(r"\s*[\n\r]\s*", " ", part)
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} ..."


def _rebuild(cls: type[SoftlabelError], expected: str, found: str, fix: str) -> SoftlabelError:
    return cls(expected=expected, found=found, fix=fix)


class InputError(SoftlabelError, ValueError):
    """The call itself is wrong: an unknown column, option, name or file."""


class DataError(SoftlabelError, ValueError):
    """The call is right but the values in the data cannot answer it."""


class SourceError(SoftlabelError, OSError):
    """A source could not be opened or read to its end."""


class SourceChanged(SourceError):
    """The rows read by the second pass are not the rows read by the first."""


class StateError(SoftlabelError, ValueError):
    """Partial or saved results that cannot be combined or understood."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return advice that names the closest known name, capitals or not, or lists what there is.

    Examples
    --------
    >>> did_you_mean("scroe", ["y", "score"])
    "Did you mean 'score'? There are: 'y', 'score'"
    >>> did_you_mean("REGION", ["age", "Region"])
    "Did you mean 'Region'? There are: 'age', 'Region'"
    """
    names = list(known)
    shown = ", ".join(repr(n) for n in names[:20]) + (", ..." if len(names) > 20 else "")
    folded = {known.casefold(): known for known in reversed(names)}
    close = get_close_matches(name.casefold(), folded, n=1)
    return (f"Did you mean {folded[close[0]]!r}? " if close else "") + f"There are: {shown or 'none'}"
