"""The same work through every library that does it, in one run: speed as ratios, with accuracy beside it.

Every figure is processor time, one thread each. Candidates of one row take turns, so that a slow spell of the machine hits
all of them; what is printed is the median. Ratios are against Undertone's Python arrays.
"""

import json
import os
import platform
import statistics
import sys
import time
import warnings

warnings.filterwarnings("ignore")

import numpy as np
import opendp.prelude as dp
from diffprivlib.mechanisms import LaplaceBoundedDomain
from multi_freq_ldpy.estimators.Histogram_estimator import IBU
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client
from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

import undertone
from undertone import Tally

import large
import tables
from common import FOLDER, LARGE_ALONE, QUICK, less, measure, people, rust, timed, zipf

dp.enable_features("contrib")
OURS = tables.OURS


def anybody(k, epsilon, method):
    """An LDP policy: no prior is assumed."""
    return undertone.design([1 / k] * k, any_prior=True, protect=f"ldp:{epsilon}", method=method).policy


def numpy_response(data, k, epsilon):
    """k-ary randomised response as one would write it in plain NumPy, with its insecure generator."""
    dice = np.random.default_rng()
    own = np.exp(epsilon) / (np.exp(epsilon) + k - 1)

    def work():
        lie = dice.integers(0, k - 1, len(data))
        lie += lie >= data
        return np.where(dice.random(len(data)) < own, data, lie)

    return work


def numpy_unary(data, k, epsilon):
    dice = np.random.default_rng()
    other = 1 / (np.exp(epsilon) + 1)

    def work():
        for block in np.array_split(data, max(1, len(data) * k // (1 << 24))):
            bits = dice.random((len(block), k), dtype=np.float32) < other
            bits[np.arange(len(block)), block] = dice.random(len(block)) < 0.5

    return work


def response(k, epsilon=1.0):
    policy = anybody(k, epsilon, "krr")
    many, some, few = people(k, less(1_000_000)), people(k, less(20_000)).tolist(), people(k, less(300)).tolist()
    client = DEClient(epsilon, k)
    scalar = dp.m.make_randomized_response(list(range(k)), np.exp(epsilon) / (np.exp(epsilon) + k - 1))
    found = measure(
        {
            OURS: (lambda: policy.randomize(many, threads=1), len(many)),
            "NumPy, insecure generator": (numpy_response(many, k, epsilon), len(many)),
            "pure-ldp": (lambda: [client.privatise(value + 1) for value in some], len(some)),
            "multi-freq-ldpy": (lambda: [GRR_Client(value, k, epsilon) for value in some], len(some)),
            "OpenDP, per call": (lambda: [scalar(value) for value in few], len(few)),
        }
    )
    found["Undertone, Rust"] = rust(policy, len(many))
    return found


def unary(k, epsilon=1.0):
    policy = anybody(k, epsilon, "oue")
    many = people(k, less(60_000 if k > 500 else 400_000))
    some = people(k, less(300 if k > 500 else 1000)).tolist()
    client = UEClient(epsilon, k, use_oue=True)
    vector = dp.m.make_randomized_response_bitvec(
        dp.bitvector_domain(max_weight=1), dp.discrete_distance(), 2 / (np.exp(epsilon) + 1)
    )
    hot = [np.packbits(np.eye(1, k, value, dtype=np.uint8)).tobytes() for value in some[:100]]
    candidates = {
        OURS: (lambda: policy.randomize(many, threads=1), len(many)),
        "NumPy, insecure generator": (numpy_unary(many[:20_000], k, epsilon), len(many[:20_000])),
        "pure-ldp": (lambda: [client.privatise(value + 1) for value in some], len(some)),
        "multi-freq-ldpy": (lambda: [UE_Client(value, k, epsilon, True) for value in some], len(some)),
        "OpenDP, per call": (lambda: [vector(value) for value in hot], len(hot)),
    }
    found = measure(candidates)
    found["Undertone, Rust"] = rust(policy, len(many))
    return found


def aggregation(k, epsilon=1.0):
    """From reports in memory to unbiased shares."""
    policy = anybody(k, epsilon, "krr")
    reports = policy.randomize(people(k, less(1_000_000)))
    listed = reports[:100_000].tolist()

    def theirs():
        server = DEServer(epsilon, k)
        for report in listed:
            server.aggregate(report)
        return server.estimate_all(range(1, k + 1))

    own = np.exp(epsilon) / (np.exp(epsilon) + k - 1)
    lie = (1 - own) / (k - 1)
    return measure(
        {
            OURS + " (count)": (lambda: Tally(policy).add(reports), len(reports)),
            OURS + " (count, all estimates, intervals, drift)": (lambda: undertone.estimate(policy, reports), len(reports)),
            "NumPy": (lambda: (np.bincount(reports, minlength=k) / len(reports) - lie) / (own - lie), len(reports)),
            "pure-ldp": (theirs, len(listed)),
            "multi-freq-ldpy": (lambda: GRR_Aggregator_MI(listed, k, epsilon), len(listed)),
        }
    )


def iterative(k=1024, epsilon=3.0, n=1_000_000):
    """Maximum likelihood from one set of counts; IBU with its own defaults."""
    own = np.exp(epsilon) / (np.exp(epsilon) + k - 1)
    matrix = np.full((k, k), (1 - own) / (k - 1))
    np.fill_diagonal(matrix, own)
    counts = np.random.default_rng(1).multinomial(n, matrix @ zipf(k))
    policy = anybody(k, epsilon, "krr")
    empty = json.loads(Tally(policy).to_json())
    tally = Tally.from_json(json.dumps({**empty, "counts": counts.tolist(), "reports": n}), policy)
    IBU(2, np.eye(2), np.array([0.5, 0.5]), 2, 1e-12, "max_abs")
    found = {}

    def theirs():
        found["IBU"] = IBU(k, matrix, counts / n, 10 if QUICK else 10_000, 1e-12, "max_abs")

    def ours():
        found["mle"] = [share["value"] for share in undertone.estimate(policy, tally).mle["shares"]]

    # The whole of `estimate` is timed: all methods, intervals and drift, not the fit alone.
    times = {"multi-freq-ldpy IBU": [], OURS + " (estimate: all methods, intervals, drift)": []}
    for _ in range(3):
        times["multi-freq-ldpy IBU"].append(timed(theirs, 1))
        times[OURS + " (estimate: all methods, intervals, drift)"].append(timed(ours, 1))
    short = lambda shares: float(counts @ (np.log(matrix @ np.asarray(found["mle"])) - np.log(matrix @ np.asarray(shares))))
    seconds = {name: statistics.median(values) / 1e9 for name, values in times.items()}
    return seconds, {"IBU short of the maximum by, nats": short(found["IBU"])}


def laplace(epsilon=1.0):
    """Inputs and outputs in [0, 3]; LDP at epsilon, so the same scale on both sides."""
    policy = undertone.design(
        density="uniform:0,3", range=(0, 3), bins=13, output_bins=1000, protect=f"ldp:{epsilon}", method="laplace",
        objective="squared",
    ).policy  # fmt: skip
    values = np.random.default_rng(1).uniform(0, 3, less(1_000_000))
    few = values[: less(2000)].tolist()
    mechanism = LaplaceBoundedDomain(epsilon=epsilon, delta=0.0, sensitivity=3.0, lower=0.0, upper=3.0)
    found = measure(
        {
            OURS: (lambda: policy.randomize(values, threads=1), len(values)),
            "diffprivlib": (lambda: [mechanism.randomise(value) for value in few], len(few)),
        }
    )
    found["Undertone, Rust"] = rust(policy, len(values))
    return found


def errors(k, epsilon, n=20_000, rounds=40):
    """Mean squared error of one share, averaged over symbols and rounds, on the same people for everybody."""
    n, rounds = less(n), 2 if QUICK else rounds
    truth_data = [people(k, n, seed) for seed in range(rounds)]
    krr, oue = anybody(k, epsilon, "krr"), anybody(k, epsilon, "oue")
    own = np.exp(epsilon) / (np.exp(epsilon) + k - 1)
    matrix = np.full((k, k), (1 - own) / (k - 1))
    np.fill_diagonal(matrix, own)

    def shares(policy, data, which):
        told = undertone.estimate(policy, policy.randomize(data))[which]
        return [share["value"] for share in told["shares"]]

    def de(data):
        client, server = DEClient(epsilon, k), DEServer(epsilon, k)
        for value in data.tolist():
            server.aggregate(client.privatise(value + 1))
        return np.asarray(server.estimate_all(range(1, k + 1))) / n

    def ue(data):
        client, server = UEClient(epsilon, k, use_oue=True), UEServer(epsilon, k, use_oue=True)
        for value in data.tolist():
            server.aggregate(client.privatise(value + 1))
        return np.asarray(server.estimate_all(range(1, k + 1))) / n

    def grr(data):
        return GRR_Aggregator_MI([GRR_Client(value, k, epsilon) for value in data.tolist()], k, epsilon)

    def grr_ibu(data):
        counts = np.bincount([GRR_Client(value, k, epsilon) for value in data.tolist()], minlength=k)
        return IBU(k, matrix, counts / n, 10 if QUICK else 10_000, 1e-12, "max_abs")

    def mue(data):
        return UE_Aggregator_MI([UE_Client(value, k, epsilon, True) for value in data.tolist()], epsilon, True)

    methods = {
        "Undertone krr, unbiased": lambda data: shares(krr, data, "unbiased"),
        "Undertone krr, maximum likelihood": lambda data: shares(krr, data, "mle"),
        "Undertone oue, unbiased": lambda data: shares(oue, data, "unbiased"),
        "Undertone oue, maximum likelihood": lambda data: shares(oue, data, "mle"),
        "Undertone oue, headline": lambda data: shares(oue, data, "headline"),
        "pure-ldp DE": de,
        "multi-freq-ldpy GRR, MI": grr,
        "multi-freq-ldpy GRR, IBU": grr_ibu,
        "multi-freq-ldpy OUE, MI": mue,
    }
    if k <= 16:
        methods["pure-ldp OUE"] = ue
    found = {}
    for name, method in methods.items():
        squares = [np.mean((np.asarray(method(data)) - np.bincount(data, minlength=k) / n) ** 2) for data in truth_data]
        found[name] = (float(np.mean(squares)), float(np.std(squares) / np.sqrt(rounds)))
    return found


def guesses(prior):
    """One answer read as it stands: the error rate of LIP designs against LDP at the same attained level."""
    rows = []
    guess = {"objective": "hamming", "allow_uninformative": True}
    for epsilon in (0.5, 1.0, 2.0):
        lip = undertone.design(prior, protect=f"lip:{epsilon}", **guess)
        level = lip.attained["ldp"]
        same = undertone.design(prior, protect=f"ldp:{level:.9f}", **guess)
        rows.append((epsilon, level, lip.utility, same.utility, lip.attained["lip"], same.attained["lip"]))
    return rows


def everything():
    return {
        "response": {k: response(k) for k in (16, 128, 1024)},
        "unary": {k: unary(k) for k in (128, 1024)},
        "aggregation": {k: aggregation(k) for k in (128, 1024)},
        "iterative": iterative(),
        "laplace": laplace(),
        "errors": {"16, 1": errors(16, 1.0), "64, 2": errors(64, 2.0, rounds=20)},
        "guesses": guesses([0.5, 0.2, 0.15, 0.1, 0.05]),
        "large": large.measured(),
    }


def main():
    load = os.getloadavg()[0]
    report = {
        "machine": f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}, NumPy {np.__version__}, load {load:.1f} at the start",
        "date": time.strftime("%Y-%m-%d"),
        "version": undertone.build(),
        **({"large": large.measured()} if LARGE_ALONE else everything()),
    }
    markdown, page, missed = tables.write(report)
    for name, text in (("peers.md", markdown), ("peers.html", page), ("peers.json", json.dumps(report, indent=1))):
        with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as file:
            file.write(text)
    print(markdown)
    for aim in missed:
        print(f"missed: {aim}", file=sys.stderr)


if __name__ == "__main__":
    main()
