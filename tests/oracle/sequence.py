"""Several releases about one datum: what they attain together, by listing every transcript, held against a consent.

Written from the section on `sequence/*.json` of the vectors' README. A transcript has one column, the product of the
columns of its answers. Releases that are in no column (forgotten, too many to list, of another alphabet) enter with
their LDP.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from exact import (
    BITS_LISTED,
    Belief,
    Column,
    Exact,
    beliefs_of,
    columns_of,
    fall,
    ldp,
    ratio,
    rise,
    secret_column,
    single,
)
from logs import UNBOUNDED, UNIT, Nats, Ratio, exp_up, ln_up
from policy import WEIGHT, Bits, Claim, Policy, Table, outputs_of

LISTED_MAX = 2**22
MISSING_MAX = 40 * UNIT
SUBSETS_LISTED = 10


@dataclass(frozen=True)
class Release:
    """One release: policy and answer (an index of the outputs), None if not at hand; without a policy, its cost."""

    policy: Policy | None
    answer: int | None = None
    cost: Nats | None = None

    def spent(self) -> Nats:
        """The attained LDP, in printed nats."""
        if self.cost is not None:
            return self.cost
        assert self.policy is not None
        return cost_of(self.policy)


def cost_of(policy: Policy) -> Nats:
    """The attained LDP of a policy in printed nats."""
    channel = policy.channel
    if isinstance(channel, Bits) and channel.symbols > 2:
        # w(y|x) / w(y|x') depends on the bits of x and x' alone: the others have the same law under both.
        channel = Bits(2, channel.own, channel.other)
    return ln_up(ldp(columns_of(channel)))


@dataclass(frozen=True)
class Standing:
    """What a sequence attains, in units of 10^-10 nats. None: for `lip` no context, for `claims` it cannot be said."""

    exact: bool
    ldp: Nats
    lip: Nats | None
    secrets: dict[str, Nats]
    claims: bool | None


def aligned(policy: Policy, labels: Sequence[object]) -> list[Column]:
    """The columns of a policy with its symbols in the order of `labels`."""
    own = policy.inputs.labels()
    order = [own.index(label) for label in labels]
    return [tuple(column[x] for x in order) for column in columns_of(policy.channel)]


def permuted(weights: Sequence[int], policy: Policy, labels: Sequence[object]) -> tuple[int, ...]:
    """Weights of the symbols of a policy, in the order of `labels`."""
    own = policy.inputs.labels()
    return tuple(weights[own.index(label)] for label in labels)


def products(transcripts: Iterable[Column], columns: Sequence[Column]) -> list[Column]:
    """Every transcript followed by every answer; what no symbol can have said is left out."""
    joint = (tuple(a * b for a, b in zip(transcript, column)) for transcript in transcripts for column in columns)
    return [column for column in joint if any(column)]


@dataclass
class Frame:
    """The releases whose alphabets have the same symbols."""

    labels: tuple[object, ...]
    policies: list[Policy]
    transcripts: list[Column]
    missing: Nats = 0
    complete: bool = True
    _factor: Ratio | None = field(default=None, repr=False)

    @property
    def factor(self) -> Ratio:
        """G: by how much the releases that are not in the transcripts may have changed a likelihood."""
        if self._factor is None:
            self._factor = UNBOUNDED if self.missing > MISSING_MAX else exp_up(int(self.missing))
        return self._factor

    def ldp(self) -> Ratio:
        """G max M / min M."""
        plain = ldp(self.transcripts)
        return UNBOUNDED if UNBOUNDED in (plain, self.factor) else plain * self.factor

    def beliefs(self, policy: Policy) -> list[Belief]:
        """The priors that a policy's context assumes, in the order of this frame."""
        found = []
        for belief in beliefs_of(policy.context):
            lower, upper = (permuted(ends, policy, self.labels) for ends in (belief.lower, belief.upper))
            found.append(Belief(lower, upper, belief.one))
        return found

    def rise(self, belief: Belief) -> Ratio:
        """The largest G t / (p t (G - 1) + T)."""
        if self.missing == 0:
            return rise(self.transcripts, belief)
        if not isinstance(self.factor, Fraction):
            return UNBOUNDED
        lightest, worst = belief.lightest(), Fraction(1)
        for column in self.transcripts:
            top, mixture = max(column), Fraction(belief.least(column), belief.one)
            below = lightest * top * (self.factor - 1) + mixture
            if not below:
                return UNBOUNDED
            worst = max(worst, self.factor * top / below)
        return worst

    def fall(self, belief: Belief) -> Ratio:
        """The largest (G T - p (G - 1) b) / b."""
        if self.missing == 0:
            return fall(self.transcripts, belief)
        if not isinstance(self.factor, Fraction):
            return UNBOUNDED
        lightest, worst = belief.lightest(), Fraction(1)
        for column in self.transcripts:
            bottom, mixture = min(column), Fraction(belief.greatest(column), belief.one)
            if not bottom:
                if mixture:
                    return UNBOUNDED
                continue
            worst = max(worst, (self.factor * mixture - lightest * (self.factor - 1) * bottom) / bottom)
        return worst

    def secret(self, rows: Sequence[Sequence[int]]) -> Ratio:
        """By how much the likelihoods of two values of a secret with the law `rows` may differ."""
        if self.missing == 0:
            return ldp([secret_column(rows, column) for column in self.transcripts])
        level = ln_up(self.ldp())
        if level > MISSING_MAX:
            return UNBOUNDED
        excess = exp_up(int(level)) - 1
        worst = Fraction(1)
        for high, low in itertools.permutations(rows, 2):
            for subset in self.subsets(high, low):
                top, bottom = (WEIGHT + excess * sum(row[x] for x in subset) for row in (high, low))
                worst = max(worst, top / bottom)
        return worst

    def subsets(self, high: Sequence[int], low: Sequence[int]) -> Iterable[tuple[int, ...]]:
        """All sets of symbols, or those that hold the worst where there are too many."""
        symbols = range(len(high))
        if len(high) > SUBSETS_LISTED:
            return self.prefixes(high, low)
        return itertools.chain.from_iterable(itertools.combinations(symbols, size) for size in range(len(high) + 1))

    @staticmethod
    def prefixes(high: Sequence[int], low: Sequence[int]) -> Iterable[tuple[int, ...]]:
        """The prefixes of the symbols ordered by P(x|s) / P(x|s')."""
        order = sorted(range(len(high)), key=lambda x: ratio(high[x], low[x]), reverse=True)
        return (tuple(order[:size]) for size in range(len(high) + 1))

    def laws(self, policy: Policy) -> list[tuple[int, ...]]:
        """P(x|s) of a policy's secret, with the symbols in the order of this frame."""
        return [permuted(row, policy, self.labels) for row in policy.context.rows]

    def sides(self, policy: Policy, notion: str, about: str) -> dict[str, Ratio]:
        """What all transcripts attain on each side of a pure claim of `policy`, by the names of a refusal."""
        if notion == "ldp":
            return {"ldp": self.ldp() if about == "input" else self.secret(self.laws(policy))}
        if about == "secret":
            columns = [secret_column(self.laws(policy), column) for column in self.transcripts]
            belief = single(policy.context.priors[0], WEIGHT)
            return {"upper": rise(columns, belief), "lower": fall(columns, belief)}
        beliefs = self.beliefs(policy)
        return {
            "upper": max(self.rise(belief) for belief in beliefs),
            "lower": max(self.fall(belief) for belief in beliefs),
        }

    def holds(self, policy: Policy, claim: Claim) -> bool:
        """Whether a pure claim of ldp, lip or alip holds for every transcript."""
        allowed = {"ldp": Fraction(*claim.upper), "upper": Fraction(*claim.upper), "lower": Fraction(*claim.lower)}
        return all(
            attained <= allowed[side] for side, attained in self.sides(policy, claim.notion, claim.about).items()
        )


def frames_of(past: Sequence[Release], last: Policy) -> list[Frame]:
    """Sorts the releases at hand into frames and lists the transcripts of each."""
    releases = [*past, Release(last)]
    groups: dict[object, list[int]] = {}
    for at, release in enumerate(releases):
        if release.policy is not None:
            groups.setdefault(release.policy.inputs.frame(), []).append(at)
    return [_frame(releases, members) for members in groups.values()]


def _frame(releases: Sequence[Release], members: Sequence[int]) -> Frame:
    """The frame of the releases `members`, the last of which is the one asked for if it is the last of all."""
    policies = [policy for at in members if (policy := releases[at].policy) is not None]
    labels = policies[0].inputs.labels()
    answered = [at for at in members if releases[at].answer is not None]
    unknown = [at for at in members if releases[at].answer is None]
    listed = []
    size = len(labels)
    if unknown and unknown[-1] == len(releases) - 1:
        listed.append(unknown.pop())
        channel = policies[-1].channel
        size *= outputs_of(channel) if isinstance(channel, Table) else 1
    for outputs, at in sorted((_outputs(releases[at]), at) for at in unknown):
        if size * outputs <= LISTED_MAX:
            size *= outputs
            listed.append(at)
    transcripts: list[Column] = [tuple(1 for _ in labels)]
    for at in (*answered, *listed):
        policy, answer = releases[at].policy, releases[at].answer
        assert policy is not None
        columns = aligned(policy, labels)
        transcripts = products(transcripts, columns if answer is None else [columns[answer]])
    outside = [release for at, release in enumerate(releases) if at not in answered and at not in listed]
    return Frame(labels, policies, transcripts, sum(release.spent() for release in outside), not outside)


def _outputs(release: Release) -> int:
    """How many answers a release can have; too many where they are never listed."""
    assert release.policy is not None
    channel = release.policy.channel
    return LISTED_MAX + 1 if isinstance(channel, Bits) and channel.symbols > BITS_LISTED else outputs_of(channel)


def standing(past: Sequence[Release], last: Policy) -> Standing:
    """What the releases `past`, followed by any answer of `last`, attain."""
    frames = frames_of(past, last)
    exact = all(frame.complete for frame in frames)
    if any(not frame.transcripts for frame in frames):
        return _contradiction(frames)
    total: Nats = sum(release.spent() for release in past) + cost_of(last)
    whole = min(total, min(ln_up(frame.ldp()) for frame in frames))
    lip: Nats | None = None
    secrets: dict[str, Nats] = {}
    for frame in frames:
        for policy in frame.policies:
            for belief in frame.beliefs(policy):
                lip = max(lip or 0, min(whole, ln_up(max(frame.rise(belief), frame.fall(belief)))))
            if policy.context.kind == "secret":
                level = min(whole, ln_up(frame.secret(frame.laws(policy))))
                secrets[policy.context.name] = max(secrets.get(policy.context.name, 0), level)
    return Standing(exact, whole, lip, secrets, claims_hold(past, last, frames, exact))


def _contradiction(frames: Sequence[Frame]) -> Standing:
    """Answers that no symbol can have given make everything unbounded."""
    contexts = [policy.context for frame in frames for policy in frame.policies]
    lip = UNBOUNDED if any(context.kind != "unknown" for context in contexts) else None
    secrets: dict[str, Nats] = {context.name: UNBOUNDED for context in contexts if context.kind == "secret"}
    return Standing(all(frame.complete for frame in frames), UNBOUNDED, lip, secrets, False)


def claims_hold(past: Sequence[Release], last: Policy, frames: Sequence[Frame], exact: bool) -> bool | None:
    """Whether all claims of all policies hold for every transcript; None if that cannot be said."""
    claims = [(frame, policy, claim) for frame in frames for policy in frame.policies for claim in policy.claims]
    if not past:
        return Exact(last).refusal() is None
    if any(release.policy is None for release in past):
        return None
    if any(claim.delta or claim.notion == "di" for _, _, claim in claims):
        return None
    belief_in_secret = any(claim.about == "secret" and claim.notion in ("lip", "alip") for _, _, claim in claims)
    if belief_in_secret and (isinstance(last.channel, Bits) or not exact):
        return None
    if all(frame.holds(policy, claim) for frame, policy, claim in claims):
        return True
    return False if exact else None


def holds_together(releases: Sequence[Release]) -> bool | None:
    """Whether all claims hold for all releases together, none of whose answers is at hand."""
    last = releases[-1].policy
    assert last is not None
    return standing(releases[:-1], last).claims


@dataclass(frozen=True)
class Consent:
    """What a person agreed to, in units of 10^-10 nats; None is no limit."""

    ldp: int | None
    lip: int | None
    secrets: dict[str, int]


def met(found: Standing, consent: Consent) -> dict[str, bool]:
    """For each limit of a consent whether it is kept, by the names `ldp`, `lip` and `secret:NAME`."""
    answers = {}
    if consent.ldp is not None:
        answers["ldp"] = found.ldp <= consent.ldp
    if consent.lip is not None:
        if found.lip is not None:
            answers["lip"] = found.lip <= consent.lip
        else:
            answers["lip"] = consent.ldp is not None or found.ldp <= consent.lip
    for name, limit in consent.secrets.items():
        answers[f"secret:{name}"] = found.secrets.get(name, found.ldp) <= limit
    return answers


def outcome(found: Standing, consent: Consent, past: Sequence[Release], last: Policy) -> str:
    """The decision of a device with an unlimited budget."""
    costs = [*(release.spent() for release in past), cost_of(last)]
    if past and UNBOUNDED in costs and found.claims is not True:
        return "not_composable" if found.claims is None else "not_composable_checked"
    for limit, kept in met(found, consent).items():
        if not kept:
            return "consent_secret" if limit.startswith("secret:") else f"consent_{limit}"
    return "fresh"
