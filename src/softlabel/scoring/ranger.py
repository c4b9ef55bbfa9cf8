"""A random forest as the R package ranger grows one for probabilities, where nothing is asked for."""

from __future__ import annotations

from typing import Any

from softlabel.nuisances.learners import require_sklearn

__all__ = ["ranger_forest"]

# A node of ten rows or fewer is not split (min.node.size of a probability forest); its leaves may be smaller.
_NOT_SPLIT = 10


def ranger_forest(trees: int = 500, seed: int = 0) -> Any:
    r"""Return an unfitted forest of scikit-learn with ranger's settings for a probability forest.

    500 trees of bootstrap samples of all rows; ⌊√k⌋ of k columns tried at each split, by the Gini index; nodes of more
    than ten rows are split; the probability is the mean of the leaves' shares (Malley et al. 2012). To ranger a factor
    is a number, the place of its level in the alphabet, unless it is told otherwise: pass codes for the same.

    References
    ----------
    Wright, M. N. and Ziegler, A. (2017). ranger: A fast implementation of random forests for high dimensional data in
    C++ and R. *Journal of Statistical Software* 77(1).

    Examples
    --------
    >>> forest = ranger_forest(seed=1)
    >>> forest.n_estimators, forest.min_samples_split, forest.max_features
    (500, 11, 'sqrt')
    """
    require_sklearn("to grow a forest")
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(
        n_estimators=trees, max_features="sqrt", min_samples_split=_NOT_SPLIT + 1, random_state=seed
    )
