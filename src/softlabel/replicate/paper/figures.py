__all__ = ["FiguresFound", "replicate_figures"]
FiguresFound = None


def replicate_figures(replications, *, workers, seed, resume, progress): ...
