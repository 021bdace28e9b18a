"""Designs, audits and relations: each function is a use case of the library, named as on the command line."""

from __future__ import annotations

import json
import warnings
from typing import Any, Sequence

from . import _native
from ._call import Answer, answered, listed, matrix, named_matrix, named_numbers, number, numbers, policy_argument
from ._call import refused, series_names, shown, whole, word_or_number
from ._errors import Error, Refused, UninformativeWarning
from .policy import Policy
from .prior import Prior, decimals


# What a range is.
_ENDS = "two numbers, (low, high)"


def _several(value: Any) -> list[Any]:
    """One prior or several."""
    if value is None:
        return []
    if isinstance(value, (Prior, dict, str)) or series_names(value) is not None:
        return [value]
    wanted = "a list of probabilities, {symbol: probability}, a Prior, or a list of these"
    items = listed("prior", value.tolist() if hasattr(value, "tolist") else value, wanted)
    nested = bool(items) and not isinstance(items[0], (int, float))
    return items if nested else [items]


def _texts(name: str, value: str | Sequence[str] | None, example: str) -> list[str]:
    """One text or several; anything else is refused by name."""
    if value is None:
        return []
    items = [value] if isinstance(value, str) else list(value) if isinstance(value, (list, tuple, set)) else None
    if items is None or not all(isinstance(item, str) for item in items):
        raise Error(f"{name} is {shown(value)}: give a text such as {example!r}, or a list of them")
    return items


def _prior_text(name: str, prior: Any) -> str:
    """The document of the argument `name`, a prior in any of its forms."""
    if isinstance(prior, str):
        raise Error(f"{name} is {prior!r}: give probabilities or a Prior")
    if isinstance(prior, Prior) or (isinstance(prior, dict) and hasattr(prior.get("p"), "__len__")):
        return json.dumps(Prior.of(prior)._content())
    return json.dumps(named_numbers(name, prior))


def _priors(prior: Any) -> list[str]:
    """The documents of one prior or several."""
    several = _several(prior)
    name = "prior" if len(several) < 2 else "prior[{}]"
    return [_prior_text(name.format(at), one) for at, one in enumerate(several)]


def _known_priors(prior: Any) -> list[str]:
    """The documents of the priors of a design, which may hold for any prior."""
    for one in _several(prior):
        if isinstance(one, str):
            raise Error(f"prior is {one!r}: give probabilities or a Prior; any prior is any_prior=True")
    return _priors(prior)


def _numbers_text(name: str, value: Any) -> str | None:
    """The document of the argument `name`, numbers with or without names."""
    return None if value is None else json.dumps(named_numbers(name, value))


def _matrix_text(name: str, value: Any, rows: str, columns: str) -> str | None:
    """The document of the argument `name`, a matrix with or without names."""
    return None if value is None else json.dumps(named_matrix(name, value, rows, columns))


def design(
    prior: Any = None,
    *,
    size: int | None = None,
    symbols: Sequence[str] | None = None,
    protect: str | Sequence[str] | None = None,
    objective: str | None = None,
    loss: Any = None,
    values: Any = None,
    method: str | None = None,
    max_bits: int | None = None,
    accept: bool = False,
    allow_uninformative: bool = False,
    any_prior: bool = False,
    prior_lower: Any = None,
    prior_upper: Any = None,
    joint: Any = None,
    secret_name: str | None = None,
    accuracy: float | None = None,
    n: int | None = None,
    for_n: bool = False,
    level: float | None = None,
    points: Sequence[float] | None = None,
    range: tuple[float, float] | None = None,
    bins: int | None = None,
    output_bins: int | None = None,
    output_range: tuple[float, float] | None = None,
    density: str | None = None,
    scale: str | float | None = None,
    alpha: float | None = None,
    sigma: str | float | None = None,
    convention: str | None = None,
) -> Answer:
    """A verified policy from a prior, a protection and an objective.

    `prior` is a `Prior`, a list of probabilities, ``{symbol: probability}``, a pandas series with names for
    index, or several of these (then every promise holds under each). With `any_prior` every promise holds for any prior,
    and the one given only says the symbols and weighs the objective. Several priors, and the ends of a box, are matched
    by the names of their symbols, in any order; other symbols are refused. In place of a prior, `size` stands for so many
    symbols without names, and `symbols` for names, of which nothing is known: protections are then ldp, and the objective weighs
    all symbols alike.
    `protect` is ``lip:E``, ``alip:L,U``, ``ldp:E`` (each may end in ``,DELTA``) or ``di:E``, or a list, and
    all hold at once. `objective` is frequency (the
    shares of the population; the default), squared (the default for numbers), mean (numbers whose plain average is unbiased,
    with the least variance; what numbers get where the best single ones do not tell all apart), absolute, hamming (how often the released
    symbol is right), mmse, mi or nmi; `loss` is a matrix of losses instead. `method` is optimal,
    published, symmetric, krr, oue, sue, sampling, extremal-ldp, compact, subset, hadamard, projective, hashing, blocks, balanced or head-tail, with reports of at
    most `max_bits` bits; for numbers (`range` with `points` or
    `bins`, or a prior of bins) optimal, published, laplace, gaussian or sampling.

    The result has the ``policy`` and what an honest reader wants beside it: ``utility``, ``attained``,
    ``channel``, ``comparison``; ``shape`` and ``report_bits`` say what one report takes on the wire, and ``variance_at_zero`` is
    n times the variance of one share whose true frequency is nought. A printed formula that leaks more than it claims raises `Refused`. So does, with the code
    ``"uninformative"``, a policy whose reports cannot tell two symbols apart, or for frequency do not determine all shares;
    `allow_uninformative` makes it all the same. Where single answers are the goal and shares are not determined, an
    `UninformativeWarning` says so.

    >>> found = design(prior=[0.5, 0.3, 0.2], protect="lip:1", objective="hamming")
    >>> round(found.utility, 6), found.attained["lip"] <= 1
    (0.274201, True)
    >>> many = design(size=1000, protect="ldp:1", method="oue")
    >>> many.shape, many.report_bits, round(many.variance_at_zero, 3)
    ('bits', 1000, 3.683)
    >>> design(prior=[0.25, 0.25, 0.25, 0.25], protect="lip:1", method="published")
    Traceback (most recent call last):
    ...
    undertone._errors.Refused: claim 0 (lip:1) is false at output 0, input 0: belief rises by 1.0634553551 nats and 1 are allowed
    >>> try:
    ...     design(prior={"no": 0.98, "yes": 0.02}, protect="lip:1", objective="hamming")
    ... except Refused as refusal:
    ...     print(refusal.code)
    uninformative
    """
    answer, policy = _native.design(
        _known_priors(prior),
        protect=_texts("protect", protect, "lip:1"),
        size=whole("size", size),
        symbols=None if symbols is None else [*map(str, listed("symbols", symbols, "a list of names"))],
        any_prior=any_prior,
        prior_lower=_numbers_text("prior_lower", prior_lower),
        prior_upper=_numbers_text("prior_upper", prior_upper),
        joint=_matrix_text("joint", joint, "secret", "symbols"),
        secret_name=secret_name,
        objective=objective,
        loss=None if loss is None else json.dumps(matrix("loss", loss)),
        values=None if values is None else numbers("values", values),
        method=method,
        max_bits=whole("max_bits", max_bits),
        accept=accept,
        allow_uninformative=allow_uninformative,
        accuracy=number("accuracy", accuracy),
        n=whole("n", n),
        for_n=for_n,
        level=0.95 if level is None else number("level", level),
        points=None if points is None else decimals("points", points, "a list of numbers"),
        range=None if range is None else decimals("range", range, _ENDS),
        bins=whole("bins", bins),
        output_bins=whole("output_bins", output_bins),
        output_range=None if output_range is None else decimals("output_range", output_range, _ENDS),
        density=density,
        scale=word_or_number("scale", scale),
        alpha=number("alpha", alpha),
        sigma=word_or_number("sigma", sigma),
        convention=convention,
    )
    found = answered(answer)
    if policy is None:
        raise refused(found)
    found["policy"] = Policy(policy)
    if found.uninformative is not None and not allow_uninformative:
        warnings.warn(found.uninformative, UninformativeWarning, stacklevel=2)
    return found


def watchdog(
    joint: Any,
    *,
    lower: float | None = None,
    upper: float | None = None,
    ldp: float | None = None,
    split: float | str | None = None,
    method: str = "auto",
    secret_name: str | None = None,
) -> Answer:
    """Releases data so that belief in a secret behind it stays within a budget.

    `joint` is P(s,x), one row per value of the secret. The budget is `lower` and `upper`, or an LDP level
    to `split`. `method` is merge, uniform, repair, subset, partition or optimal; the first two are the published ones
    and may miss the budget: then ``met`` is False and ``policy`` is None. ``"auto"`` takes the optimum for up to 30 symbols
    (the best groups where these keep as much) and subset merging for more.

    >>> found = watchdog([[0.2, 0.2, 0.1], [0.1, 0.2, 0.2]], lower=0.5, upper=0.5)
    >>> found.met, found.policy.claims
    (True, ['lip:0.5 of the secret'])
    """
    answer, policy = _native.watchdog(
        json.dumps(named_matrix("joint", joint, "secret", "symbols")),
        method=method,
        lower=number("lower", lower),
        upper=number("upper", upper),
        ldp=number("ldp", ldp),
        split=word_or_number("split", split),
        secret_name=secret_name,
    )
    found = answered(answer)
    found["policy"] = None if policy is None else Policy(policy)
    return found


def relate(
    from_: str,
    to: str,
    *,
    prior: Any = None,
    p_min: float | None = None,
    symbols: int | None = None,
    sensors: int | None = None,
    secrets: int | None = None,
    alpha: float | None = None,
    spread: float | None = None,
    convention: str | None = None,
) -> Answer:
    """What one guarantee implies about another notion, as tightly as is known.

    With a prior the answer is the exact supremum over all mechanisms, with a channel that attains it.

    >>> answer = relate("lip:1", "ldp", prior=[0.5, 0.3, 0.2])
    >>> answer.exact, round(answer.epsilon, 6) <= 2
    (True, True)
    """
    return answered(
        _native.relate(
            from_,
            to,
            priors=_priors(prior),
            p_min=p_min,
            symbols=symbols,
            sensors=sensors,
            secrets=secrets,
            alpha=alpha,
            spread=spread,
            convention=convention,
        )
    )


def audit(
    policy: Policy | None = None,
    *,
    prior: Any = None,
    channel: Any = None,
    joint: Any = None,
    epsilon: float | None = None,
    alpha: float | None = None,
) -> Answer:
    """Every measure of what a policy, or a channel given as floats, reveals.

    A policy is audited under its own prior, or under `prior`, matched by the names of its symbols. `channel`
    is rows in the order of the prior's symbols, ``{"inputs": names, "outputs": names, "rows": rows}``, or a
    pandas frame with names for index; `joint` is P(s,x), likewise with ``secret`` and ``symbols``.

    >>> found = audit(prior=[0.5, 0.5], channel=[[0.75, 0.25], [0.25, 0.75]])
    >>> round(found.ldp, 6), round(found.max_lift, 6)
    (1.098612, 0.405465)
    """
    return answered(
        _native.audit(
            None if policy is None else policy_argument("policy", policy),
            prior=None if prior is None else _prior_text("prior", prior),
            channel=_matrix_text("channel", channel, "inputs", "outputs"),
            joint=_matrix_text("joint", joint, "secret", "symbols"),
            epsilon=epsilon,
            alpha=2.0 if alpha is None else alpha,
        )
    )


def together(policies: Sequence[Policy], *, consent: str | Sequence[str] = ()) -> Answer:
    """What several policies tell about one datum when all of them are answered.

    `consent` are limits on the whole, ``ldp:E``, ``lip:E`` or ``secret:NAME=ldp:E``; the answer says of each whether it
    is met.

    >>> policy = design({"a": 0.5, "b": 0.5}, any_prior=True, protect="ldp:1", method="krr").policy
    >>> found = together([policy, policy], consent="ldp:1.5").together
    >>> found["attained"]["ldp"] > 1.9, found["consent"][0]["met"]
    (True, False)
    """
    given = listed("policies", policies, "a list of policies")
    verified = [policy_argument(f"policies[{at}]", one) for at, one in enumerate(given)]
    return answered(_native.together(verified, _texts("consent", consent, "ldp:1")))


def compose(
    prior: Any = None,
    *,
    epsilons: Sequence[float | str | tuple[float, float]] | None = None,
    channels: Sequence[Any] | None = None,
    joint: Any = None,
    markov: Any = None,
) -> Answer:
    """What several releases of one datum, or of correlated data, leak together.

    `epsilons` are levels each mechanism keeps, a pair for lower and upper; `channels` are given ones, each with
    or without names as in `audit`. With several priors each figure is that of the worst of them.

    >>> found = compose([0.5, 0.3, 0.2], epsilons=[1, 1])
    >>> found.exact <= found.sharpened <= found.bound
    True
    """
    levels = documents = None
    if epsilons is not None:
        pair = lambda one: "/".join(map(str, one)) if isinstance(one, (tuple, list)) else str(one)
        levels = [pair(one) for one in listed("epsilons", epsilons, "a list of levels, one per release")]
    if channels is not None:
        given = enumerate(listed("channels", channels, "a list of channels, one per release"))
        documents = [json.dumps(named_matrix(f"channels[{at}]", one, "inputs", "outputs")) for at, one in given]
    return answered(
        _native.compose(
            _priors(prior),
            epsilons=levels,
            channels=documents,
            joint=_matrix_text("joint", joint, "first", "second"),
            markov=_matrix_text("markov", markov, "inputs", "outputs"),
        )
    )


def transfer(
    from_: Any,
    to: Any = None,
    *,
    epsilon: float,
    policy: Policy | None = None,
    samples: int | None = None,
    beta: float | None = None,
) -> Answer:
    """What leaks when a policy was designed for one prior and the truth is another.

    >>> found = transfer([0.5, 0.5], [0.6, 0.4], epsilon=1)
    >>> 1 < found.exact <= found.ratio
    True
    """
    return answered(
        _native.transfer(
            _prior_text("from_", from_),
            None if to is None else _prior_text("to", to),
            epsilon=epsilon,
            policy=None if policy is None else policy_argument("policy", policy),
            samples=samples,
            beta=0.05 if beta is None else beta,
        )
    )


def curve(
    prior: Any,
    *,
    epsilons: str | Sequence[float],
    objective: str | None = None,
    methods: str | Sequence[str] | None = None,
    values: Any = None,
) -> Answer:
    """The best utility at every level, method by method: ``rows``.

    >>> found = curve([0.5, 0.5], epsilons="0.5:1.5:0.5", methods=["optimal", "krr"])
    >>> len(found.rows)
    6
    """
    named = None if methods is None else [
        name for one in _texts("methods", methods, "optimal,krr") for name in one.split(",")
    ]
    return answered(
        _native.curve(
            _known_priors(prior),
            epsilons=epsilons if isinstance(epsilons, str) else numbers("epsilons", epsilons),
            objective=objective,
            methods=named,
            values=None if values is None else numbers("values", values),
        )
    )


def document(text: str) -> Any:
    """A JSON document, with the words of a bad one."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise Error(f"not a JSON document: {error}") from None
