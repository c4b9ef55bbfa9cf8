"""The five datasets. Every number here is computed anew by a test from the rows themselves."""

from softlabel.datasets.records import Dataset, Effects, Roles
from softlabel.errors import InputError, did_you_mean

__all__ = ["NAMES", "about"]

_ADULT = Dataset(
    name="adult",
    title="Adult (census income)",
    description="Years of schooling (its rank, 1 to 16) of people who earn more than 50,000 dollars a year beside the "
    "others, in a census sample of 1994",
    rows=32_561,
    complete_rows=30_162,
    source="Becker, B. and Kohavi, R. (1996), Adult, UCI Machine Learning Repository: the file adult.data",
    doi="10.24432/C5XW20",
    licence="CC BY 4.0",
    ships=True,
    file="adult.parquet",
    sha256="e0914acbf4b1fb055dfd016da87d0f843b25f74047420d93cfa3949dd5dca99d",
    roles=Roles(
        outcome="education_num",
        group="high_income",
        controls=("age", "hours_per_week", "sex"),
        features=(
            "age",
            "hours_per_week",
            "sex",
            "capital_gain",
            "capital_loss",
            "occupation",
            "marital_status",
            "workclass",
            "relationship",
            "race",
            "native_country",
        ),
    ),
    effects=Effects(linear=2.015424, cells=1.842617),
    exclusion="fails: an occupation tells of schooling whatever the income",
)

_CREDIT_DEFAULT = Dataset(
    name="credit_default",
    title="Default of credit card clients",
    description="Log of the credit limit of clients who default on their next payment beside the others, Taiwan 2005",
    rows=30_000,
    complete_rows=30_000,
    source="Yeh, I-C. (2009), Default of Credit Card Clients, UCI Machine Learning Repository; Yeh, I-C. and Lien, "
    "C.-H. (2009), Expert Systems with Applications 36(2), 2473-2480",
    doi="10.24432/C55S3H",
    licence="CC BY 4.0",
    ships=True,
    file="credit_default.parquet",
    sha256="53d0b583ed053ba6845d96770dd2c1420de0fb2b2c1c90e02d652f3c2951352b",
    roles=Roles(
        outcome="log_limit",
        group="default",
        controls=("AGE", "SEX", "EDUCATION", "MARRIAGE"),
        features=("AGE", "SEX", "EDUCATION", "MARRIAGE", "PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6"),
        categories=("SEX", "EDUCATION", "MARRIAGE"),
    ),
    effects=Effects(linear=-0.354768, cells=-0.318061),
    exclusion="fails: who has paid late before was given less credit, whether or not a default follows",
)

_NYCFLIGHTS = Dataset(
    name="nycflights",
    title="Flights from New York in 2013",
    description="Minutes late on arrival of JetBlue's flights beside those of other carriers",
    rows=100_000,
    complete_rows=98_179,
    source="Wickham, H., nycflights13: flights (US Bureau of Transportation Statistics) with planes (FAA aircraft "
    "registry), a seeded sample of rows",
    doi="10.32614/CRAN.package.nycflights13",
    licence="CC0 1.0",
    ships=True,
    file="nycflights.parquet",
    sha256="d5bf79068617655b9cf735c09c0e0319f798078597fe904024328d42816278f9",
    roles=Roles(
        outcome="arr_delay",
        group="jetblue",
        controls=("month", "hour", "origin", "distance"),
        features=("month", "hour", "origin", "distance", "plane_year", "manufacturer", "seats"),
        categories=("month", "hour"),
    ),
    effects=Effects(linear=4.812253, cells=5.848851),
    exclusion="plausible: route and plane give the carrier away almost surely",
)

_BOSTON_MARATHON = Dataset(
    name="boston_marathon",
    title="Boston marathon 2017",
    description="Minutes to the finish of women beside men, with P(female) given the first name",
    rows=26_410,
    complete_rows=25_085,
    source="the published results of the race, first names only, with the share of women among people of that first "
    "name in the baby names of the US Social Security Administration",
    doi=None,
    licence=None,
    ships=False,
    file="boston_marathon_2017.csv.gz",
    sha256="5704f5c6c2fccb402868a2e19befaaa3ef81ae69bee3edecdc116fb96067dec6",
    roles=Roles(
        outcome="finish_min",
        group="female",
        controls=("age", "country"),
        features=("age", "country"),
        text="first_name",
        score="ssa_p_female",
    ),
    effects=Effects(linear=24.574436, cells=25.036894),
    exclusion="not rejected: a first name tells nothing of the time beyond sex, age and country",
)

_ALPHAFOLD = Dataset(
    name="alphafold",
    title="AlphaFold and disordered regions",
    description="Share of phosphorylated among disordered beside ordered residues of proteins, no controls",
    rows=10_802,
    complete_rows=10_802,
    source="Bludau, I. et al. (2022), PLoS Biology 20(5), e3001636, an example of Angelopoulos, A. N. et al. (2023), "
    "Prediction-powered inference, Science 382, 669-674",
    doi="10.1371/journal.pbio.3001636",
    licence="CC BY 4.0",
    ships=False,
    file="alphafold_idr.csv.gz",
    sha256="cc443335bd0f3dc0a01c2d71b1e56fe2f3a9e48c8f5d92ba746b0970e947b4a4",
    roles=Roles(outcome="phosphorylated", group="disordered", controls=(), features=(), score="p_alphafold"),
    effects=Effects(linear=0.176847, cells=0.176847),
    exclusion="fails: the score tells of phosphorylation whether or not a residue is disordered",
)

_KNOWN = {each.name: each for each in (_ADULT, _CREDIT_DEFAULT, _NYCFLIGHTS, _BOSTON_MARATHON, _ALPHAFOLD)}

NAMES = tuple(_KNOWN)
"""The datasets that `about` knows, those that ship first."""


def about(name: str) -> Dataset:
    """Return what is known of a dataset.

    Parameters
    ----------
    name
        One of `NAMES`.

    Raises
    ------
    InputError
        A name that is none of them.

    Examples
    --------
    >>> from softlabel.datasets import NAMES, about
    >>> NAMES
    ('adult', 'credit_default', 'nycflights', 'boston_marathon', 'alphafold')
    >>> adult = about("adult")
    >>> adult.rows, adult.complete_rows, adult.licence
    (32561, 30162, 'CC BY 4.0')
    >>> adult.roles.outcome, adult.roles.group, adult.roles.controls
    ('education_num', 'high_income', ('age', 'hours_per_week', 'sex'))
    >>> adult.effects.linear
    2.015424
    """
    if not isinstance(name, str) or name not in _KNOWN:
        fix = did_you_mean(str(name), _KNOWN)
        raise InputError(expected="the name of a dataset", found=repr(name), fix=fix)
    return _KNOWN[name]
