"""Options that cannot be, formulas among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from softlabel import DataError, InputError
from tests.bad_inputs.asked import ROWS, columns, refused

FORMULA = "a formula of controls, such as 'age + C(region) + ns(income)'"
NUMBERS = "to be a sequence of numbers"
FOLDS = "folds to be a whole number from 2 to 100, or None"
LEVEL = "level to be a confidence level between 0.5 and 1"
PLAIN_NAME = "Pass a name as text; values that are not in the table go into a column of it first"

OPTIONS: dict[str, tuple[dict[str, Any], tuple[str, str, str]]] = {
    "outcome of None": ({"outcome": None}, ("the outcome to be the name of a column", "None", PLAIN_NAME)),
    "weights as an array": ({"weights": np.ones(ROWS)}, ("the weights to be the name", "array([1., 1.", PLAIN_NAME)),
    "cluster as a number": ({"cluster": 3}, ("the cluster to be the name of a column", "3", PLAIN_NAME)),
    "id as a list": ({"id": ["age"]}, ("the id to be the name of a column", "['age']", PLAIN_NAME)),
    "two roles": ({"score": "days"}, ("each column to play one role", "'days' as outcome and score", "Give each role")),
    "id and cluster": ({"id": "age", "cluster": "sex"}, ("one column to decide folds", "id='age'", "Leave id out")),
    "controls as a number": ({"controls": 3}, ("controls to be a list of columns", "3", "Use controls=[] for none")),
    "controls that are no text": ({"controls": [3]}, ("controls to be a list", "(3,)", "Pass the names as text")),
    "a control twice": ({"controls": ["age"] * 2}, ("name each column once", "'age' more than once", "Name it once")),
    "labels in two places": (
        {"labelled": columns()},
        ("no label in the data when the labelled rows come as", "rows with a 'sick'", "Leave labelled= out"),
    ),
    "labels without a group": (
        {"labelled": columns(), "group": None},
        ("a group with labelled=", "group=None", "Name the column of the labelled table"),
    ),
    "labels that are no table": ({"labelled": 3}, ("a pandas or Polars DataFrame", "a int", "Convert it")),
    "thresholds as a number": ({"thresholds": 0.5}, (f"thresholds {NUMBERS}", "0.5", "thresholds=(.6, .9)")),
    "thresholds of text": ({"thresholds": ["a"]}, (f"thresholds {NUMBERS}", "['a']", "thresholds=(.6, .9)")),
    "thresholds in a matrix": (
        {"thresholds": np.full((2, 2), 0.5)},
        (f"thresholds {NUMBERS}", "array([[0.5, 0.5], [0.5, 0.5]])", "thresholds=(.6, .9)"),
    ),
    "a threshold beyond floats": ({"thresholds": [10**400]}, (f"thresholds {NUMBERS}", "[1000", "thresholds=(.6, .9)")),
    "a threshold of one": ({"thresholds": [1]}, ("thresholds to be numbers from 0 to below 1", "(1.0,)", "(.6, .9)")),
    "a threshold of NaN": ({"thresholds": [np.nan]}, ("from 0 to below 1", "thresholds=(nan,)", "(.6, .9)")),
    "a threshold twice": ({"thresholds": [0.5] * 2}, ("thresholds to differ", "(0.5, 0.5)", "Give each one once")),
    "confident below a half": (
        {"confident": [0.3]},
        ("confident to be numbers from 0.5 to", "(0.3,)", "confident=(.6"),
    ),
    "one fold": ({"folds": 1}, (FOLDS, "folds=1", "Use folds=5, or folds=None")),
    "folds as text": ({"folds": "5"}, (FOLDS, "folds='5'", "Use folds=5, or folds=None")),
    "folds as an array": ({"folds": np.arange(ROWS)}, (FOLDS, "folds=array([", "Use folds=5, or folds=None")),
    "a negative seed": ({"seed": -1}, ("seed to be a whole number from 0", "seed=-1", "seed=0")),
    "level in percent": ({"level": 95}, (LEVEL, "level=95", "Use level=0.95")),
    "level of NaN": ({"level": np.nan}, (LEVEL, "level=nan", "Use level=0.95")),
    "covariance": ({"covariance": "HC4"}, ("the name of a covariance", "covariance='HC4'", "Did you mean 'HC3'?")),
    "rule": ({"rule": "papers"}, ("the name of a rule", "rule='papers'", "Did you mean 'paper'?")),
    "tolerance": ({"kappa_tolerance": 2}, ("kappa_tolerance to lie between 0 and 1", "=2", "Use 0.05")),
    "missing": ({"missing": "keep"}, ("missing to be 'raise' or 'drop'", "'keep'", "Use missing='drop'")),
    "basis": ({"basis": "splines"}, ("the name of a basis", "basis='splines'", "Did you mean 'spline'?")),
    "learner": ({"learner": "forrest"}, ("learner to be a name", "learner='forrest'", "Did you mean 'forest'?")),
    "threads": ({"threads": 0}, ("threads to be a whole number from 1", "threads=0", "Leave threads out")),
    "type of weights": (
        {"weights": "age", "controls": [], "weight_type": "freq"},
        ("weight_type to be 'sampling' or 'frequency'", "'freq'", "Did you mean 'frequency'?"),
    ),
    "a type of no weights": (
        {"weight_type": "frequency"},
        ("weights with weight_type='frequency'", "weights=None", "Name the column that counts the copies"),
    ),
    "no option": ({"fold": 5}, ("an option of diagnose", "fold=", "Did you mean 'folds'?")),
    "fixed effects": ({"absorb": "sex"}, ("no absorbed fixed effects", "absorb=", "Put a column of up to 200 levels")),
    "another model": ({"family": "logit"}, ("no model of the outcome but the linear one", "family=", "Leave it out")),
    "formula and basis": (
        {"controls": "age", "basis": "linear"},
        ("no basis with a formula", "basis='linear'", "Leave basis out"),
    ),
    "formula unfinished": ({"controls": "age +", "basis": None}, (FORMULA, "the end of 'age +'", "Name a column")),
    "formula with an outcome": (
        {"controls": "days ~ age", "basis": None},
        (FORMULA, "'~' at character 6", "Pass the outcome as outcome="),
    ),
    "formula with a function": (
        {"controls": "log(age)", "basis": None},
        (FORMULA, "'log('", "Compute the column first"),
    ),
    "formula with a power": ({"controls": "age**2", "basis": None}, (FORMULA, "'**' at", "compute powers as columns")),
    "formula with fixed effects": ({"controls": "age | sex", "basis": None}, (FORMULA, "'|' at", "C(name) takes a")),
    "formula with too many knots": (
        {"controls": "ns(age, 99)", "basis": None},
        (FORMULA, "'99' at character 9", "Give a whole number of knots from 3 to 20"),
    ),
    "formula of nothing": ({"controls": "", "basis": None}, (FORMULA, "the end of ''", "Name a column")),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_an_option_that_cannot_be(case: str) -> None:
    options, says = OPTIONS[case]
    data = columns()
    # Only the sight of the rows tells that they have labels.
    refused(data, options, DataError if case == "labels in two places" else InputError, says)
