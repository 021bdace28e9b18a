"""Sensor networks: the fusion centre learns a public hypothesis and not a private one."""

from __future__ import annotations

import csv
import io
import json
from typing import Any, Sequence

from ._call import Answer, Call, listed, matrix
from ._errors import Error
from .policy import Policy


def design(
    model: Any = None,
    *,
    information: float | None = None,
    ldp: float | None = None,
    outputs: int | Sequence[int] = 2,
    method: str = "joint",
    epochs: int = 1,
    restarts: int | None = None,
    seed: int = 1,
    time_limit: float | None = None,
) -> Answer:
    """Maps for every sensor within budgets, certified.

    `model` is a dictionary as ``undertone fusion design --model`` reads it. `seed` starts the search for
    good maps and has nothing to do with the noise. The result has ``network``, the document that
    sensors and centre share, and ``policies``, one verified `Policy` per sensor.
    """
    call = Call("fusion", "design")
    _model(call, model)
    call.options(information=information, ldp=ldp, outputs=outputs, method=method, epochs=epochs)
    call.options(restarts=restarts, seed=seed, time_limit=time_limit)
    return _with_network(call)


def _with_network(call: Call) -> Answer:
    call.option("output", "network.json")
    answer, written = call.run()
    network = json.loads(written["network.json"])
    answer["network"] = network
    answer["policy_ids"] = answer["policies"]
    answer["policies"] = [Policy(json.dumps(document)) for document in network["policies"]]
    return answer


def evaluate(network: Any = None, *, maps: Sequence[Any] | None = None, model: Any = None) -> Answer:
    """What the centre learns under a network's maps, or under given ones and a model."""
    call = Call("fusion", "evaluate")
    if network is not None:
        content = network if isinstance(network, str) else json.dumps(network)
        call.words.append(call.document("network.json", content))
    if maps is not None:
        call.option("maps", call.document("maps.json", _maps(maps)))
    if model is not None:
        _model(call, model)
    return call.run()[0]


def train(
    samples: Any,
    *,
    public: str,
    private: str | Sequence[str],
    sensors: Sequence[str],
    methods: str | Sequence[str] = "epic",
    ldp: float = 1.0,
    outputs: int = 2,
    levels: int | None = None,
    cut: str | None = None,
    keep: int | None = None,
    sequence: str | None = None,
    hold_out: float | None = None,
    train: int | None = None,
    test: int | None = None,
    balance: bool = False,
    confidence: float | None = None,
    ratio: float | None = None,
    slack: float | None = None,
    ridge: float | None = None,
    restarts: int | None = None,
    seed: int = 1,
    time_limit: float | None = None,
) -> Answer:
    """Maps learned from labelled samples, judged on samples held out.

    `samples` is a table (pandas, polars, pyarrow, or a dictionary of columns) with a column for the public label,
    one or more for the private one, and one for each sensor. `methods` are epic, npo and e-ldp, whose maps ship as
    ``network`` and ``policies``, and raw, dca, mdr and ruca to compare with. `seed` splits the samples and starts the
    search; it has nothing to do with the noise.
    """
    call = Call("fusion", "train")
    call.option("samples", call.document("samples.csv", _csv(samples)))
    call.options(public=public, private=private, sensors=listed("sensors", sensors, "a list of columns"))
    call.options(methods=methods, ldp=ldp, outputs=outputs)
    call.options(levels=levels, cut=cut, keep=keep, sequence=sequence, hold_out=hold_out, train=train, test=test)
    call.options(balance=balance, confidence=confidence, ratio=ratio, slack=slack, ridge=ridge)
    call.options(restarts=restarts, seed=seed, time_limit=time_limit)
    names = methods.split(",") if isinstance(methods, str) else listed("methods", methods, "a list of methods")
    if any(name.strip() in ("epic", "npo", "e-ldp") for name in names):
        call.option("output", "network.json")
    answer, written = call.run()
    answer["network"] = json.loads(written["network.json"]) if "network.json" in written else None
    documents = answer["network"]["policies"] if answer["network"] else []
    answer["policies"] = [Policy(json.dumps(document)) for document in documents]
    return answer


def _csv(samples: Any) -> str:
    """A table as text, in memory."""
    if hasattr(samples, "to_csv"):
        return samples.to_csv(index=False)
    if hasattr(samples, "write_csv"):
        return samples.write_csv()
    if not (hasattr(samples, "to_pydict") or isinstance(samples, dict)):
        # What it holds are samples: only its type is named.
        raise Error(f"samples is of type {type(samples).__name__}: give a table, or a dictionary of columns")
    columns = samples.to_pydict() if hasattr(samples, "to_pydict") else samples
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


def _maps(maps: Any) -> list[Any]:
    wanted = "a list of matrices, one per sensor"
    return [matrix(f"maps[{at}]", one) for at, one in enumerate(listed("maps", maps, wanted))]


def _model(call: Call, model: Any) -> None:
    if model is None:
        raise Error("give a model, as a dictionary or as JSON")
    call.option("model", call.document("model.json", model if isinstance(model, str) else json.dumps(model)))
