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
    "PLAN",
    "PLAN_EPILOG",
    "REPLICATE",
    "REPLICATE_EPILOG",
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
with: 600 patients whose charts were reviewed, 40,000 with a score alone. Or,
with --adult, a real census whose group is known in every row: 1,500 keep it,
a score is made of features, and the verdict is held against what all rows say."""

DEMO_EPILOG = """\
For example:
  softlabel demo
  softlabel demo --seed 1 --output clinic.csv
  softlabel demo --adult

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
    --cluster hospital --missing drop --json diagnosis.json \\
    --html diagnosis.html
  softlabel diagnose visits.parquet --outcome days --group sick --score p \\
    --audit reviewed_later --trust exclusion

What is printed:
  Verdict               which estimate to use, why, and what would change it
  Data                  which rows entered, and how the controls did
  Effect                supervised (the labels alone), soft (the score), and
                        the rungs between them, which trust more and more
  Assumptions           what fails, what holds up, what it does to soft
  Threshold             kappa, the share of the effect that a threshold keeps;
                        hard, which aims at it; de-attenuated, hard over kappa
  Confident rows only   the same where the score is above t or below 1 - t
  Notes                 what to know before using a number
Exit codes: 0 done, 1 the data cannot answer, 2 a wrong call, 130 interrupted."""

PLAN = """\
Say how many labelled rows are needed for a standard error, by estimators that
trust the score more and more, and what a richer score would buy: from the files
of a pilot study, from its diagnosis, or from numbers alone."""

PLAN_EPILOG = """\
For example:
  softlabel plan --target-se 0.1 --tau 2 --noise-sd 3 --group-variance 0.2 \\
    --v-star 0.05 --n-unlabelled 40000
  softlabel plan visits.parquet --outcome days --group sick --score p \\
    --controls age sex --target-se 0.1
  softlabel plan --pilot diagnosis.json --target-se 0.1 --n-unlabelled 200000

Where numbers come from: the variance of a group that is a share q of the rows
is q(1 - q), less what the controls explain of it; V* is what of it the score
explains besides, a tenth for a weak score and half for a good one; the noise is
what group and controls leave of the outcome's standard deviation.

What is printed:
  Plan                  labels needed, in one sentence
  Rests on              the numbers behind it
  Labels needed         beside the unlabelled rows there are, and beside endless
                        ones; the standard error now
  Standard error with   more labelled rows
  Score that knows      more or less of the group: labels needed with it
  Notes                 what to know before spending money on it
Exit codes: 0 done, 1 the data cannot answer, 2 a wrong call, 130 interrupted."""

REPLICATE = """\
Repeat the simulations behind what this package claims."""

REPLICATE_EPILOG = """\
For example:
  softlabel replicate table3
  softlabel replicate tables --workers 2 --out tables/ --resume runs/
  softlabel replicate figures --resume runs/ --out figures/
  softlabel replicate adult --workers 2 --out tables/
  softlabel replicate studies --data DIR
  softlabel replicate all --workers 2 --resume runs/ --out everything/
  softlabel replicate rules --reps 100 --scenarios platt exclusion-0.1
  softlabel replicate rules --workers 8 --resume rules/ --json rules.json

What is printed of a table: for each cell what the paper has, the exact value,
ours with its Monte Carlo error, and how many errors they are apart. --out has
it as Markdown, CSV, LaTeX and JSON too.
What is printed of studies: of real data whose group is known, what most labels
hidden leave to estimate, beside what all of them say.
What is printed of rules: mean squared errors over that of the better of
supervised and soft, and coverage, by scenario; the same summed up; how often
samples are suspected; other thresholds of the guarded rule; and which aims were
reached.
Exit codes: 0 done, 1 failed, 2 a wrong call, 130 interrupted: --resume goes on."""

SCORE = """\
Train a classifier on the labelled rows, calibrate it, and give every row of the
files a probability by models that have not seen its label."""

SCORE_EPILOG = """\
For example:
  softlabel score visits.parquet --group sick --features age sex notes_length \\
    --controls age sex --output scored.parquet
  softlabel diagnose scored.parquet --outcome days --group sick --score p \\
    --audit p_audit --controls age sex

The output holds every column and row of FILE, those of --labelled after them,
the score p, and p_audit: 1 for labelled rows whose own label did not help to
make their score, so that they may audit it, 0 for those whose label did.
Features are numbers, or text as categories; gaps are filled, and that is said.
  conditional  calibrates given the controls, which is what a regression needs
  given        as --model: the one feature is a score from elsewhere, which is
               only calibrated
  halves       as --split: the paper's way; leaves no row to audit the score
Exit codes: 0 done, 1 the data cannot answer, 2 a wrong call, 130 interrupted."""
