"""The native module. Use the package `undertone`, whose classes build on these."""

from collections.abc import Sequence
from typing import Any, final

__all__ = [
    "ArrowArray",
    "ArrowStream",
    "HittersPlan",
    "HittersReports",
    "Ledger",
    "PlanTally",
    "Policy",
    "Release",
    "Report",
    "Tally",
    "__version__",
    "audit",
    "check_found",
    "check_prior",
    "commit",
    "compliance",
    "compose",
    "count",
    "correlate",
    "crosstab",
    "curve",
    "design",
    "draw",
    "estimate",
    "estimate_plan",
    "estimate_groups",
    "estimate_sample",
    "fit_counts",
    "fit_mixture",
    "formula_columns",
    "fusion_columns",
    "fusion_design",
    "fusion_evaluate",
    "fusion_train",
    "hitters_design",
    "kept_beside",
    "lip_consequence",
    "main",
    "mix",
    "odds_nats",
    "parse_epsilon",
    "perturb",
    "plan_design",
    "plan_size",
    "plan_verify",
    "policy_from_bytes",
    "policy_make",
    "profile",
    "regress",
    "relate",
    "report_from",
    "risk_picture",
    "rustc",
    "show",
    "target",
    "together",
    "transfer",
    "verify",
    "watchdog",
]

__version__: str
target: str
profile: str
rustc: str
commit: str

class Policy:
    def __new__(cls, document: str) -> Policy: ...
    def to_json(self) -> str: ...
    def to_bytes(self) -> bytes: ...
    @property
    def id(self) -> str: ...
    @property
    def shape(self) -> str: ...
    @property
    def claims(self) -> list[str]: ...
    @property
    def inputs(self) -> list[str]: ...
    @property
    def outputs(self) -> list[str]: ...
    @property
    def input_kind(self) -> str: ...
    @property
    def output_kind(self) -> str: ...
    def _encode_column(self, values: Any, *, other: bool = False) -> Any: ...
    def _draw_column(
        self, values: Any, *, other: bool = False, threads: int | None = None, seed: int | None = None
    ) -> Any: ...
    def _draw_stream(
        self,
        stream: Any,
        column: str,
        *,
        keep: Sequence[str],
        other: bool = False,
        threads: int | None = None,
    ) -> ArrowStream: ...

@final
class Release:
    def __new__(cls, document: str, *, other: bool = False) -> Release: ...
    @property
    def id(self) -> str: ...
    @property
    def questions(self) -> list[str]: ...
    @property
    def items(self) -> list[tuple[str, list[int], str]]: ...
    @property
    def split(self) -> bool: ...
    def person(self) -> str: ...
    def draw(
        self, names: Sequence[str], columns: Sequence[Any], *, arrow: bool, threads: int | None = None
    ) -> list[Any]: ...
    def kept(self, columns: Sequence[Any], kept_names: Sequence[str], kept: Sequence[Any]) -> str: ...

class Tally:
    def __new__(cls, policy: Policy | None = None, document: str | None = None) -> Tally: ...
    def to_json(self) -> str: ...
    @property
    def policy_id(self) -> str: ...
    @property
    def reports(self) -> int: ...
    @property
    def counts(self) -> list[int]: ...
    def _merge_tally(self, other: Tally) -> None: ...
    def _add_column(self, tokens: Any) -> None: ...

class PlanTally:
    def __new__(cls, plan: str, pairs: list[list[str]], document: str | None = None) -> PlanTally: ...
    def to_json(self) -> str: ...
    @property
    def plan_id(self) -> str: ...
    @property
    def responses(self) -> int: ...
    @property
    def columns(self) -> list[str]: ...
    def _plan(self) -> str: ...
    def _merge_tally(self, other: PlanTally) -> None: ...
    def _add_frame(self, csv: bytes, skip: bool) -> None: ...
    def _add_messages(self, lines: str) -> None: ...

class HittersPlan:
    def __new__(cls, document: str) -> HittersPlan: ...
    @property
    def id(self) -> str: ...
    @property
    def values(self) -> str: ...
    @property
    def rounds(self) -> int: ...
    @property
    def report_bytes(self) -> int: ...
    def to_json(self) -> str: ...
    def _report(self, values: list[str | None], unknown: str) -> list[str]: ...

@final
class HittersReports:
    def __new__(cls, plan: HittersPlan) -> HittersReports: ...
    def add(self, reports: list[str | None]) -> None: ...
    def add_responses(self, lines: str) -> None: ...
    @property
    def count(self) -> int: ...
    def find(
        self,
        *,
        known_values: str | None = None,
        threshold: float = 0.0,
        error: float = 0.05,
        power: float = 0.9,
    ) -> str: ...

@final
class Report:
    @staticmethod
    def from_json(text: str) -> Report: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Report: ...
    def to_json(self) -> str: ...
    def to_bytes(self) -> bytes: ...
    @property
    def policy_id(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def token(self) -> int | bytes: ...
    def check(self, policy: Policy) -> None: ...

@final
class Ledger:
    def __new__(
        cls,
        budget: str | float,
        *,
        lip: str | float | None = None,
        ldp: str | float | None = None,
        secrets: dict[str, str | float] | None = None,
    ) -> Ledger: ...
    def request(self, datum: str, policy: Policy, earlier: Policy | None = None) -> str: ...
    def spend(self, datum: str, policy: Policy, earlier: Policy | None = None) -> None: ...
    def report(self, datum: str, policy: Policy, index: int, earlier: Policy | None = None) -> Report: ...
    def note(self, datum: str, policy: Policy, report: Report | None = None, *, kept: bool = True) -> None: ...
    def standing(self, datum: str, policy: Policy) -> dict[str, Any]: ...
    def spent(self, datum: str) -> str | None: ...

@final
class ArrowArray:
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...
    def __len__(self) -> int: ...

@final
class ArrowStream:
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

def main(words: Sequence[str]) -> int: ...
def check_prior(name: str, prior: str) -> None: ...
def audit(
    policy: Policy | None = None,
    *,
    prior: str | None = None,
    channel: str | None = None,
    joint: str | None = None,
    epsilon: float | None = None,
    alpha: float = 2.0,
) -> str: ...
def verify(policy: Policy) -> str: ...
def show(policy: Policy) -> str: ...
def risk_picture(policy: Policy) -> str: ...
def mix(priors: Sequence[str], weights: Sequence[float]) -> str: ...
def estimate(
    policies: Sequence[Policy],
    tallies: Sequence[Tally],
    *,
    level: float,
    all: bool,
    respondents: bool,
    above: float | None = None,
    quantiles: Sequence[float] | None = None,
    population: int | None = None,
    top: int | None = None,
) -> str: ...
def estimate_plan(
    tally: PlanTally,
    *,
    level: float,
    all: bool,
    respondents: bool,
    above: float | None = None,
    quantiles: Sequence[float] | None = None,
    population: int | None = None,
) -> str: ...
def design(
    priors: Sequence[str],
    *,
    protect: Sequence[str],
    size: int | None = None,
    symbols: Sequence[str] | None = None,
    any_prior: bool = False,
    prior_lower: str | None = None,
    prior_upper: str | None = None,
    joint: str | None = None,
    secret_name: str | None = None,
    objective: str | None = None,
    loss: str | None = None,
    values: Sequence[float] | None = None,
    method: str | None = None,
    max_bits: int | None = None,
    accept: bool = False,
    allow_uninformative: bool = False,
    accuracy: float | None = None,
    n: int | None = None,
    for_n: bool = False,
    level: float = 0.95,
    points: Sequence[str] | None = None,
    range: Sequence[str] | None = None,
    bins: int | None = None,
    output_bins: int | None = None,
    output_range: Sequence[str] | None = None,
    density: str | None = None,
    scale: str | float | None = None,
    alpha: float | None = None,
    sigma: str | float | None = None,
    convention: str | None = None,
) -> tuple[str, str | None]: ...
def policy_make(
    design: str,
    *,
    channel: str | None = None,
    symbols: list[str] | None = None,
    prior: str | None = None,
    claims: list[str] | None = None,
) -> tuple[str, str | None]: ...
def watchdog(
    joint: str,
    *,
    method: str,
    lower: float | None = None,
    upper: float | None = None,
    ldp: float | None = None,
    split: str | float | None = None,
    secret_name: str | None = None,
) -> tuple[str, str | None]: ...
def compliance(
    rows: str,
    *,
    design: str,
    response: str,
    second: str,
    weights: str | None = None,
    yes: str | None = None,
    first_group: str | None = None,
    level: float = 0.95,
) -> str: ...
def plan_size(
    policy: Policy | None,
    shares: list[float],
    *,
    protect: list[str],
    half_width: float | None = None,
    difference: float | None = None,
    slope: float | None = None,
    symbol: str | None = None,
    with_policy: Policy | None = None,
    with_protect: list[str] = ...,
    with_shares: list[float] | None = None,
    level: float = 0.95,
    power: float = 0.8,
) -> str: ...
def plan_design(
    questions: str,
    *,
    person: str,
    joint: str | None = None,
    secrets: Sequence[str] = ...,
    beliefs: Sequence[str] = ...,
    people: int = 1000,
    reports: int | None = None,
    first_report: str | None = None,
    periods: int = 1,
    pairs: Sequence[tuple[str, str]] = ...,
) -> tuple[str, str]: ...
def plan_verify(document: str) -> str: ...
def hitters_design(
    values: str,
    protect: str,
    *,
    rounds: int | None = None,
    longer: str = "refuse",
    known_values: str | None = None,
    people: int | None = None,
    share: float | None = None,
    error: float = 0.05,
    power: float = 0.9,
) -> tuple[str, str]: ...
def curve(
    priors: Sequence[str],
    *,
    epsilons: str | Sequence[float],
    objective: str | None = None,
    methods: Sequence[str] | None = None,
    values: Sequence[float] | None = None,
) -> str: ...
def together(policies: Sequence[Policy], consent: Sequence[str]) -> str: ...
def relate(
    from_: str,
    to: str,
    *,
    priors: Sequence[str],
    p_min: float | None = None,
    symbols: int | None = None,
    sensors: int | None = None,
    secrets: int | None = None,
    alpha: float | None = None,
    spread: float | None = None,
    convention: str | None = None,
) -> str: ...
def compose(
    priors: Sequence[str],
    *,
    epsilons: Sequence[str] | None = None,
    channels: Sequence[str] | None = None,
    joint: str | None = None,
    markov: str | None = None,
) -> str: ...
def transfer(
    from_: str,
    to: str | None = None,
    *,
    epsilon: float,
    policy: Policy | None = None,
    samples: int | None = None,
    beta: float = 0.05,
) -> str: ...
def fusion_design(
    model: str,
    *,
    information: float | None = None,
    ldp: float | None = None,
    outputs: Sequence[int],
    method: str,
    epochs: int = 1,
    restarts: int | None = None,
    seed: int = 1,
    time_limit: float | None = None,
    objective: str | None = None,
    costs: Sequence[Sequence[float]] | None = None,
    begin: Sequence[str],
) -> tuple[str, str]: ...
def fusion_evaluate(*, network: str | None = None, maps: str | None = None, model: str | None = None) -> str: ...
def fusion_columns(
    public: str, private: Sequence[str], sensors: Sequence[str], sequence: Sequence[str]
) -> list[str]: ...
def fusion_train(
    cells: Sequence[Sequence[str]],
    *,
    public: str,
    private: Sequence[str],
    sensors: Sequence[str],
    sequence: Sequence[str],
    methods: Sequence[str],
    ldp: float,
    outputs: int,
    levels: int,
    cut: str,
    keep: int | None,
    hold_out: float,
    train_most: int | None,
    test_most: int | None,
    balance: bool,
    confidence: float,
    ratio: float,
    slack: float,
    ridge: float,
    kernel: str,
    loss: str,
    restarts: int,
    seed: int,
    time_limit: float | None,
) -> tuple[str, str | None]: ...
def draw(policy: Policy, index: int, stream: bytes, *, flat: bool = False) -> tuple[int | bytes, int]: ...
def report_from(ledger: Ledger, datum: str, policy: Policy, index: int, stream: bytes) -> Report: ...
def parse_epsilon(text: str) -> tuple[tuple[int, int], str]: ...
def odds_nats(numerator: int, denominator: int) -> str: ...
def lip_consequence(spent: str, weights: Sequence[int]) -> str | None: ...
def policy_from_bytes(bytes: bytes) -> Policy: ...
def count(
    values: Any,
    *,
    symbols: Sequence[str] | None = None,
    points: Sequence[str] | None = None,
    range: Sequence[str] | None = None,
    bins: int | None = None,
    skip: bool = False,
) -> dict[str, Any]: ...
def check_found(values: Sequence[str], rows: int, categories: bool) -> None: ...
def fit_counts(counts: Sequence[int], smoothing: float, beta: float) -> dict[str, Any]: ...
def fit_mixture(
    numbers: Sequence[float],
    edges: Sequence[float],
    counts: Sequence[int],
    beta: float,
    components: int | None = None,
) -> tuple[dict[str, Any], list[tuple[float, float, float]]]: ...
def kept_beside(policy: Policy, name: str, column: Any, kept_names: Sequence[str], kept: Sequence[Any]) -> str: ...
def crosstab(
    people: dict[str, Any],
    tabulated: Sequence[str],
    *,
    randomised: Sequence[tuple[str, Policy]],
    drawn: dict[str, Any],
    method: str,
    level: float | None,
    policy_by: tuple[str, Sequence[tuple[str, Policy | None]]] | None = None,
) -> str: ...
def correlate(
    people: dict[str, Any],
    correlated: Sequence[str],
    *,
    randomised: Sequence[tuple[str, Policy]],
    drawn: dict[str, Any],
    level: float | None,
    policy_by: tuple[str, Sequence[tuple[str, Policy | None]]] | None = None,
) -> str: ...
def estimate_sample(
    people: dict[str, Any],
    column: str,
    policy: Policy,
    *,
    drawn: dict[str, Any],
    level: float | None,
    by: str | None = None,
) -> str: ...
def estimate_groups(
    people: dict[str, Any],
    column: str,
    policy_by: tuple[str, Sequence[tuple[str, Policy | None]]],
    *,
    level: float | None,
    all: bool,
    respondents: bool,
) -> str: ...
def perturb(
    rows: str,
    column: str,
    output: str,
    policy_by: tuple[str, Sequence[tuple[str, Policy | None]]],
    *,
    keep: Sequence[str],
    unknown: str,
    least_group: int,
) -> str: ...
def formula_columns(formula: str) -> list[str]: ...
def regress(
    people: dict[str, Any],
    formula: str,
    *,
    randomised: Sequence[tuple[str, Policy]],
    drawn: dict[str, Any],
    options: dict[str, Any],
    policy_by: tuple[str, Sequence[tuple[str, Policy | None]]] | None = None,
) -> str: ...
