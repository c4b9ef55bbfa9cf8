"""More real data than the paper's: where soft is right, where it is wrong, and what a threshold costs."""

from softlabel.replicate.studies.command import StudiesFound, StudyFound, replicate_studies

__all__ = ["StudiesFound", "StudyFound", "replicate_studies"]
