"""What must work with nothing but the wheel: run by scripts/test-python in an empty environment."""

import importlib.util
import subprocess
import sys

import undertone

for absent in ("numpy", "pandas", "pyarrow", "sklearn", "matplotlib"):
    assert importlib.util.find_spec(absent) is None, f"{absent} is installed, so this proves nothing"
policy = undertone.design(prior={"yes": 0.1, "no": 0.9}, protect="lip:1", method="krr").policy
released = policy.randomize(["yes", "no"] * 5000)
assert set(released) == {"yes", "no"}
told = undertone.estimate(policy, undertone.Tally(policy).add(released))
low, high = told.headline["shares"][0]["low"], told.headline["shares"][0]["high"]
assert low < high and told.reports == 10000
assert len(undertone.design(prior={"a": 0.5, "b": 0.5}, protect="ldp:1", method="oue").policy.randomize(["a"])[0]) == 1
done = subprocess.run([sys.executable, "-m", "undertone", "audit", "nothing.json", "--json"], capture_output=True)
assert done.returncode == 1 and b"error" in done.stdout, done
print("bare environment: ok", undertone.build())
