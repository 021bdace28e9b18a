"""Large alphabets: the protocols for many symbols of pure-ldp and multi-freq-ldpy beside Undertone's.

Theirs are subset selection (SS), optimised local hashing (OLH), Hadamard response, thresholded histograms (THE) and
optimised unary encoding (OUE). Every report is drawn by their client. Estimates are of two kinds, which are compared apart: unbiased
ones, each clipped to what a share can be, and mended ones, which look at all shares together: maximum likelihood, projections, scaling.
"""

import math

import numpy as np
from multi_freq_ldpy.estimators.Histogram_estimator import IBU, MI
from multi_freq_ldpy.pure_frequency_oracles.HE import HE_Aggregator_MI, HE_Client
from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Aggregator_MI, SS_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
from pure_ldp.frequency_oracles.histogram_encoding import HEClient, HEServer
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

import undertone
from undertone import Tally

from common import QUICK, less, measure, people, rust, timed

# What is measured at a million symbols is only tried on fewer when nothing is measured.
MILLION = 20_000 if QUICK else 1_000_000
SIZES = (128, 256) if QUICK else (128, 1024)
NUMBERED = ("hadamard", "projective", "hashing", "blocks")
METHODS = ("subset", *NUMBERED, "oue")
# pure-ldp numbers symbols from one.
FIRST = 1


def designed(k, epsilon, method):
    """A design for k symbols without a prior, for their shares."""
    return undertone.design(size=k, protect=f"ldp:{epsilon}", objective="frequency", method=method)


class Pure:
    """One protocol of pure-ldp: a client, and a server for every batch of reports."""

    def __init__(self, client, server):
        self.client, self.server = client, server

    def draw(self, values):
        return [self.client.privatise(value + FIRST) for value in values]

    def counted(self, reports):
        server = self.server()
        for report in reports:
            server.aggregate(report)
        return server

    def shares(self, reports, k, normalization=0):
        """Unbiased shares, or those of one of pure-ldp's normalisations."""
        return self.all_shares(self.counted(reports), k, normalization)

    def all_shares(self, server, k, normalization):
        found = server.estimate_all(range(FIRST, k + FIRST), suppress_warnings=True, normalization=normalization)
        return np.asarray(found) / server.n


def pure(k, epsilon):
    hadamard = HadamardResponseServer(epsilon, k)

    def emptied():
        # A server of its own for each batch would draw another permutation than the client has.
        hadamard.reset()
        return hadamard

    return {
        "pure-ldp OLH": Pure(LHClient(epsilon, k, use_olh=True), lambda: LHServer(epsilon, k, use_olh=True)),
        "pure-ldp Hadamard": Pure(HadamardResponseClient(epsilon, k, hadamard.get_hash_funcs()), emptied),
        "pure-ldp THE": Pure(HEClient(epsilon, k), lambda: HEServer(epsilon, k, use_the=True)),
        "pure-ldp OUE": Pure(UEClient(epsilon, k, use_oue=True), lambda: UEServer(epsilon, k, use_oue=True)),
    }


class Multi:
    """One protocol of multi-freq-ldpy: a client and what makes shares of reports, clipped and made to sum to one."""

    def __init__(self, client, aggregator):
        self.client, self.aggregator = client, aggregator

    def draw(self, values):
        return [self.client(value) for value in values]

    def shares(self, reports):
        return self.aggregator(reports)


def multi(k, epsilon):
    return {
        "multi-freq-ldpy SS": Multi(lambda v: SS_Client(v, k, epsilon), lambda reports: SS_Aggregator_MI(reports, k, epsilon)),
        "multi-freq-ldpy OLH": Multi(lambda v: LH_Client(v, k, epsilon), lambda reports: LH_Aggregator_MI(reports, k, epsilon)),
        "multi-freq-ldpy THE": Multi(lambda v: HE_Client(v, k, epsilon), lambda reports: HE_Aggregator_MI(reports, k, epsilon)),
        "multi-freq-ldpy OUE": Multi(lambda v: UE_Client(v, k, epsilon, True), lambda reports: UE_Aggregator_MI(reports, epsilon, True)),
    }


def compile_clients():
    """numba compiles at the first call, which is not to be timed."""
    for protocol in multi(4, 1.0).values():
        protocol.shares(protocol.draw([0, 1, 2]))
    IBU(2, np.eye(2), np.array([0.5, 0.5]), 2, 1e-12, "max_abs")


def drawing(k, epsilon=1.0):
    """Nanoseconds per report, by the name of the protocol; ours as Python arrays and, in a second dictionary, in Rust."""
    some = people(k, less(1000)).tolist()
    candidates, bulk = {}, {}
    for method in METHODS:
        made = designed(k, epsilon, method)
        policy, one_bit_each = made.policy, made.report_bits == k
        values = people(k, less(40_000 if one_bit_each else 400_000))
        candidates[f"Undertone {method}"] = (lambda policy=policy, values=values: policy.randomize(values, threads=1), len(values))
        bulk[f"Undertone {method}"] = rust(policy, len(values))
    for name, protocol in {**pure(k, epsilon), **multi(k, epsilon)}.items():
        candidates[name] = (lambda protocol=protocol: protocol.draw(some), len(some))
    return measure(candidates), bulk


def decoding(k, epsilon=1.0):
    """Nanoseconds per report, from reports in memory to shares. All cost of theirs but that of Hadamard response is per report."""
    values = people(k, less(20_000))
    candidates, whole = {}, {}
    for method in METHODS:
        policy = designed(k, epsilon, method).policy
        reports = policy.randomize(values)
        count = lambda policy=policy, reports=reports: Tally(policy).add(reports)
        candidates[f"Undertone {method} (count)"] = (count, len(values))
        if method in NUMBERED:
            whole[f"Undertone {method}, Rust (count, unbiased shares)"] = rust(policy, len(values), "shares")
        # Once: climbing to the maximum of the likelihood takes seconds for some.
        whole[f"Undertone {method} (count, all estimates, intervals, drift)"] = timed(lambda: undertone.estimate(policy, reports), len(values))
    for name, protocol in pure(k, epsilon).items():
        few = len(values) if name.endswith("Hadamard") else less(2000 // (k // 128))
        reports = protocol.draw(values[:few].tolist())
        candidates[name] = (lambda protocol=protocol, reports=reports: protocol.shares(reports, k), len(reports))
    for name, protocol in multi(k, epsilon).items():
        reports = protocol.draw(values[: less(2000 // (k // 128))].tolist())
        candidates[name] = (lambda protocol=protocol, reports=reports: protocol.shares(reports), len(reports))
    return {**measure(candidates, turns=1 if QUICK else 3), **whole}


def million(epsilon=1.0):
    """A million symbols and, for ours, a million reports: nanoseconds per report to draw and to decode, where either was tried."""
    found = {}
    values = people(MILLION, less(MILLION))
    for method in NUMBERED:
        policy = designed(MILLION, epsilon, method).policy
        reports = policy.randomize(values)
        draw = measure({"draw": (lambda: policy.randomize(values, threads=1), len(values))})["draw"]
        found[f"Undertone {method}"] = (draw, timed(lambda: undertone.estimate(policy, reports), len(values)))
        found[f"Undertone {method}, Rust"] = (rust(policy, len(values)), rust(policy, len(values), "shares"))
    theirs = {**pure(MILLION, epsilon), **multi(MILLION, epsilon)}
    tried = {"pure-ldp OLH": 2000, "pure-ldp Hadamard": 2000, "multi-freq-ldpy OLH": 2000, "multi-freq-ldpy SS": 20, "multi-freq-ldpy OUE": 20}
    for name, reports in tried.items():
        some = values[: less(reports)].tolist()
        found[name] = (timed(lambda: theirs[name].draw(some), len(some)), None)
    # Local hashing decodes each report by itself, with one hash for every symbol; two reports are enough to see what it takes.
    olh = theirs["pure-ldp OLH"]
    two = olh.draw(values[:2].tolist())
    found["pure-ldp OLH"] = (found["pure-ldp OLH"][0], timed(lambda: olh.shares(two, MILLION), len(two)))
    hadamard = theirs["pure-ldp Hadamard"]
    reports = np.random.default_rng(1).integers(0, hadamard.client.hr.outsz, len(values)).tolist()
    found["pure-ldp Hadamard"] = (found["pure-ldp Hadamard"][0], timed(lambda: hadamard.shares(reports, MILLION), len(reports)))
    return found


def packed_bytes(name, k, epsilon):
    """The least bytes of a report that keep what their server looks at; the objects they return are larger."""
    if "OLH" in name:
        # xxh32 looks at 32 bits of the seed; beside it there is one bucket of a few.
        return 5
    if "Hadamard" in name:
        bits = math.ceil(math.log2(HadamardResponseServer(epsilon, k).hr.outsz))
    elif "SS" in name:
        bits = min(k, subset_size(k, epsilon) * math.ceil(math.log2(k)))
    else:
        bits = k
    return math.ceil(bits / 8)


def subset_size(k, epsilon):
    """As multi-freq-ldpy has it."""
    return int(max(1, np.rint(k / (math.exp(epsilon) + 1))))


def subset_rates(k, epsilon):
    """How likely a subset contains the input, and another symbol, as multi-freq-ldpy has it."""
    size, grown = subset_size(k, epsilon), math.exp(epsilon)
    own = size * grown / (size * grown + k - size)
    return own, (own * (size - 1) + (1 - own) * size) / (k - 1)


# pure-ldp's numbers for what it does after an unbiased estimate.
NORMALISATIONS = {1: "additive", 2: "simplex", 3: "threshold cut"}
# Ours are printed moved to the nearest possible share, so theirs are clipped to [0, 1] too: like with like.
UNBIASED = "unbiased, clipped"


def possible(shares):
    return np.clip(shares, 0, 1)


def by_pure(protocol, data, k):
    server = protocol.counted(protocol.draw(data.tolist()))
    mended = {name: protocol.all_shares(server, k, number) for number, name in NORMALISATIONS.items()}
    return {UNBIASED: possible(protocol.all_shares(server, k, 0)), **mended}


def by_subsets(protocol, data, k, epsilon, iterate):
    """multi-freq-ldpy clips and divides by the sum; the unbiased shares are those it does this to."""
    counts = np.bincount(np.concatenate(protocol.draw(data.tolist())), minlength=k)
    own, other = subset_rates(k, epsilon)
    unbiased = (counts / len(data) - other) / (own - other)
    found = {UNBIASED: possible(unbiased), "MI, clipped and scaled": MI(counts, len(data), own, other)}
    if iterate:
        matrix = np.full((k, k), other)
        np.fill_diagonal(matrix, own)
        found["IBU"] = IBU(k, matrix, counts / counts.sum(), 10 if QUICK else 10_000, 1e-12, "max_abs")
    return found


def by_ours(made, data):
    told = undertone.estimate(made.policy, made.policy.randomize(data))
    values = lambda which: np.array([share["value"] for share in told[which]["shares"]])
    return {UNBIASED: values("unbiased"), "maximum likelihood": values("mle")}


def errors(k, epsilon, n=20_000):
    """Mean squared error of one share, averaged over symbols and rounds, on the same people for everybody, and bytes of one
    report: unbiased and mended estimates apart."""
    n = less(n)
    many, slow = (1, 1) if QUICK else ((12, 12) if k < 500 else (6, 2))
    candidates = {}
    for method in METHODS:
        made = designed(k, epsilon, method)
        # Maximum likelihood by the number of every block takes seconds at 1,024 symbols.
        rounds = many if made.report_bits == k else slow
        candidates[f"Undertone {method}"] = (rounds, math.ceil(made.report_bits / 8), lambda data, _, made=made: by_ours(made, data))
    for name, protocol in pure(k, epsilon).items():
        rounds = slow if name.endswith(("OLH", "THE")) else many
        candidates[name] = (rounds, packed_bytes(name, k, epsilon), lambda data, _, protocol=protocol: by_pure(protocol, data, k))
    for name, protocol in multi(k, epsilon).items():
        if name.endswith("SS"):
            work = lambda data, at, protocol=protocol: by_subsets(protocol, data, k, epsilon, at < slow)
        elif name.endswith("OLH"):
            # The same hashes as pure-ldp's, from which its code is adapted.
            continue
        else:
            work = lambda data, _, protocol=protocol: {"MI, clipped and scaled": protocol.shares(protocol.draw(data.tolist()))}
        candidates[name] = (many, packed_bytes(name, k, epsilon), work)
    found = {UNBIASED: {}, "mended": {}}
    for name, (rounds, size, work) in candidates.items():
        squares = {}
        for at in range(rounds):
            data = people(k, n, seed=at)
            truth = np.bincount(data, minlength=k) / n
            for kind, shares in work(data, at).items():
                squares.setdefault(kind, []).append(float(np.mean((shares - truth) ** 2)))
        for kind, list_of in squares.items():
            group = found[UNBIASED if kind == UNBIASED else "mended"]
            group[f"{name}, {kind}"] = (float(np.mean(list_of)), spread(list_of, k), size)
    return found


def spread(squares, k):
    """The standard error of the mean; of few rounds the scatter says little, and k symbols each say as much as a round."""
    between = np.std(squares, ddof=1) / math.sqrt(len(squares)) if len(squares) > 1 else 0.0
    within = np.mean(squares) * math.sqrt(2 / (k * len(squares)))
    return float(max(between, within))


def measured():
    """All of it."""
    compile_clients()
    return {
        "drawing": {k: drawing(k) for k in SIZES},
        "decoding": {k: decoding(k) for k in SIZES},
        "million": million(),
        "errors": {f"{k}, {epsilon:g}": errors(k, epsilon) for k in SIZES for epsilon in (0.5, 1.0, 2.0)},
    }
