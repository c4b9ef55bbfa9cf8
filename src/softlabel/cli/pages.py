"""What the pages of help say above and below the options, in lines of 80 columns."""

__all__ = [
    "CHECK",
    "CHECK_EPILOG",
    "DEMO",
    "DEMO_EPILOG",
    "DIAGNOSE",
    "DIAGNOSE_EPILOG",
    "MAIN",
    "MAIN_EPILOG",
]

MAIN = """\
The effect of a group that is seen only through a classifier's score: what
thresholding the score costs, and which estimate to use."""

MAIN_EPILOG = """\
For example:
  softlabel demo --output clinic.csv     make up a hospital, and diagnose it
  softlabel check clinic.csv             see what its columns could be
  softlabel diagnose clinic.csv --outcome days_in_hospital --group delirium \\
    --score p_delirium --controls age frailty emergency

softlabel COMMAND --help has the options of a command, and more examples."""

DEMO = """\
Diagnose a simulated hospital study, and compare with the truth it was made
with: 600 patients whose charts were reviewed, 40,000 with a score alone."""

DEMO_EPILOG = """\
For example:
  softlabel demo
  softlabel demo --seed 1 --output clinic.csv

What is printed: the story, what the usual threshold would have cost, and the
page that diagnose prints; with --output also the command that prints it."""

CHECK = """\
Say what the data can and cannot answer before anything is estimated: name the
files alone to see what each column could be, and the roles to see which
estimates are possible. Everything that diagnose would stop at is listed."""

CHECK_EPILOG = """\
For example:
  softlabel check visits.parquet
  softlabel check visits.parquet --outcome days --group sick --score p \\
    --controls age sex region

What is printed: the verdict, the rows and what is missing, the columns, the
rows above each threshold, which estimators are possible, what to run next.
Exit codes: 0 diagnose can run, 1 the data cannot answer, 2 a wrong call."""

DIAGNOSE = """\
Estimate the effect of a group that is known on some rows and scored on all.
The files come first, so that no option takes them for its own."""

DIAGNOSE_EPILOG = """\
For example:
  softlabel diagnose visits.parquet --outcome days --group sick --score p \\
    --controls age sex
  softlabel diagnose "visits-*.csv" --labelled charts.csv --outcome days \\
    --group sick --score p --formula "bs(age) + C(region) + sex:region"
  softlabel diagnose visits.parquet --outcome days --group sick --score p \\
    --cluster hospital --missing drop --json diagnosis.json

What is printed:
  Verdict               which estimate to use, and why
  Data                  which rows entered, and how the controls did
  Effect                supervised (the labels alone) and soft (the score)
  Threshold             kappa, the share of the effect that a threshold keeps;
                        hard, which aims at it; de-attenuated, hard over kappa
  Confident rows only   the same where the score is above t or below 1 - t
  Notes                 what to know before using a number
Exit codes: 0 done, 1 the data cannot answer, 2 a wrong call, 130 interrupted."""
