"""PrivateEncoder behaves as scikit-learn's own transformers do, where that applies."""

import pickle

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

from undertone import Error, PrivateEncoder, Refused

# Checks that cannot apply, and why. Everything else must pass.
DO_NOT_APPLY = {
    "check_transformer_general": "fit_transform and transform release twice, and the releases differ",
    "check_transformer_data_not_an_array": "the same",
    "check_fit_idempotent": "transforming twice releases twice",
    "check_estimators_pickle": "compares two releases; test_frames_names_pipelines_and_clones pickles",
}


CHECKS = [
    pytest.param(estimator, check, id=getattr(check, "func", check).__name__)
    for estimator, check in estimator_checks_generator(
        PrivateEncoder(protect="ldp:2", bins=4), mark="skip", expected_failed_checks=DO_NOT_APPLY
    )
]


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_estimator_checks(estimator, check):
    check(estimator)


def test_released_columns_estimate_the_truth():
    dice = np.random.default_rng(1)
    ages = dice.normal(40, 10, (20_000, 2)).clip(0, 80)
    encoder = PrivateEncoder(protect="lip:2", bins=16).fit(ages)
    assert encoder.policies_[0].claims == ["lip:2"]
    told = encoder.estimate(encoder.transform(ages))
    assert all(abs(one.mean["value"] - ages[:, at].mean()) < 1 for at, one in enumerate(told))


def test_frames_names_pipelines_and_clones():
    frame = pd.DataFrame({"age": np.linspace(20, 60, 200), "pay": np.linspace(1e4, 9e4, 200)})
    encoder = clone(PrivateEncoder(protect="ldp:3", bins=8)).set_output(transform="pandas")
    released = encoder.fit_transform(frame)
    assert list(released.columns) == ["age", "pay"] and released.shape == (200, 2)
    assert not released.equals(encoder.transform(frame)), "a second release is another one"
    again = pickle.loads(pickle.dumps(encoder))
    assert again.policies_ == encoder.policies_ and again.priors_ == encoder.priors_
    model = make_pipeline(PrivateEncoder(protect="ldp:4", bins=8), LinearRegression()).fit(frame, frame["age"])
    assert model.predict(frame).shape == (200,)


def test_bad_parameters_are_said():
    data = np.linspace(0, 1, 50).reshape(-1, 1)
    with pytest.raises(Error, match="protect"):
        PrivateEncoder(protect="nonsense").fit(data)
    with pytest.raises(Error, match="bins"):
        PrivateEncoder(bins=0).fit(data)
    with pytest.raises(ValueError, match="NaN"):
        PrivateEncoder().fit([[np.nan], [1.0]])
    assert issubclass(Refused, ValueError)
