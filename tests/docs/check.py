"""Runs the documents' commands and compares their numbers. See README.md beside this file."""

import ctypes
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from expression import agrees, evaluate
from markdown import Block, Number, read

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent

# Everything people are told to type.
DOCUMENTS = [
    "README.md",
    "CONTRIBUTING.md",
    "examples/README.md",
    "docs/frontier.md",
    "docs/large-alphabets.md",
    "docs/watchdog.md",
    "docs/fusion.md",
    "docs/fusion-run.md",
    "docs/fusion-time.md",
    "docs/tour-salaries.md",
    "docs/tour-plan.md",
    "docs/tour-statistics.md",
    "docs/tour-survey.md",
    "docs/operate.md",
    "docs/heavy-hitters.md",
    "docs/predicted-priors.md",
    "docs/scale.md",
    "docs/coverage.md",
    "docs/attack-model.md",
    "docs/papers.md",
    "vectors/v1/README.md",
    "experiments/README.md",
    "bindings/python/README.md",
    "bindings/js/README.md",
    "bench/README.md",
    "bench/estimate/README.md",
    "bench/laplace/README.md",
    "bench/load/README.md",
    "bench/lp/README.md",
    "bench/peers/README.md",
    "bench/perturb/README.md",
    "bench/release/README.md",
]

# What commands write into is copied; everything else is the repository itself, so that nothing is built twice.
COPIED = {"docs", "examples"}

TIME_LIMIT = 900


class Failed(Exception):
    """A document that does not hold."""


def target() -> pathlib.Path:
    """Where this repository is built."""
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def binary() -> pathlib.Path:
    """The program the documents call `undertone`."""
    found = pathlib.Path(os.environ.get("UNDERTONE_BIN", target() / "release/undertone"))
    if not found.is_file():
        sys.exit(f"documents: there is no binary {found}: build it first (cargo build --release --features full), or set UNDERTONE_BIN")
    return found.absolute()


def programs() -> dict[str, pathlib.Path]:
    """What the documents call, by name: both are built into one folder."""
    return {"undertone": binary(), "undertone-reproduce": binary().with_name("undertone-reproduce")}


def installed(command: str) -> str:
    """A command that builds and runs a program, as it is written where the program is installed."""
    # Behind a cd it is another workspace's program.
    if command.startswith("cd "):
        return command
    command = re.sub(r"cargo run --release -p undertone-experiments --(?= |$)", "undertone-reproduce", command)
    return re.sub(r"cargo run --release( --features \w+)? --(?= |$)", "undertone", command)


def scratch() -> tempfile.TemporaryDirectory:
    """A directory like the repository's root, in which commands may write."""
    directory = tempfile.TemporaryDirectory(prefix="undertone-docs-", ignore_cleanup_errors=True)
    place = pathlib.Path(directory.name) / "root"
    place.mkdir()
    for entry in ROOT.iterdir():
        if entry.name in COPIED:
            shutil.copytree(entry, place / entry.name)
        elif entry.name not in {"target", ".git"}:
            (place / entry.name).symlink_to(entry)
    shared = ROOT.parent / "shared"
    if shared.is_dir():
        (place.parent / "shared").symlink_to(shared)
    return directory


def serves(name: str) -> bool:
    """Whether a page starts servers."""
    parts, _ = read((ROOT / name).read_text())
    return any("serves" in part.marks for part in parts if isinstance(part, Block))


def own_network() -> None:
    """Pages that serve name fixed ports. Where it can be had, they get a network of their own, with nobody else on it."""
    new_network = 0x40000000
    if os.geteuid() == 0 and shutil.which("ip") and ctypes.CDLL(None).unshare(new_network) == 0:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


class Page:
    """One document while it is run."""

    def __init__(self, name: str, place: pathlib.Path, everything: bool):
        self.name, self.place, self.everything = name, place, everything
        self.output = ""
        self.last: str | None = None
        self.answer: object = None
        self.servers: list[tuple[subprocess.Popen, pathlib.Path, str]] = []
        self.ran = self.checked = self.postponed = 0
        self.left_out = self.incomplete = False
        self.before = self.files()
        tools = place.parent / "bin"
        tools.mkdir()
        for called, program in programs().items():
            (tools / called).symlink_to(program)
        self.environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}", "NO_COLOR": "1", "COLUMNS": "100"}
        # Benchmarks are run to see that they run.
        self.environment |= {"BENCH_QUICK": "1", "TARGET": str(target())}

    def fail(self, line: int, what: str) -> None:
        raise Failed(f"{self.name}:{line}: {what}")

    def skip(self, block: Block) -> bool:
        """Whether a block is left out, with a line that says so."""
        why = None
        if "skip" in block.marks:
            why = block.marks["skip"]
        elif "all" in block.marks and not self.everything:
            why = "only with --all"
        elif missing := [word for word in block.marks.get("needs", "").split() if not self.there(word)]:
            why = f"{', '.join(missing)} is not here"
        if why is not None:
            print(f"  {self.name}:{block.line}: skipped ({why})")
            self.incomplete = True
        return why is not None

    def there(self, word: str) -> bool:
        """Whether a path, a program, or (`index`) a package index for Python can be had."""
        if word == "index":
            return subprocess.run([sys.executable, "-m", "pip", "index", "versions", "scipy"], capture_output=True).returncode == 0
        if "/" not in word:
            return shutil.which(word) is not None
        return (self.place / word.replace("$TARGET", str(target()))).exists()

    def run(self, block: Block) -> None:
        self.output = ""
        for at, command in enumerate(block.commands):
            final = at + 1 == len(block.commands)
            words = installed(command)
            if "undertone-reproduce" in words and not programs()["undertone-reproduce"].is_file():
                self.fail(block.line, "undertone-reproduce is not built: cargo build --release -p undertone-experiments")
            if words.startswith("cargo "):
                self.fail(block.line, f"builds everything again in a scratch directory; skip it, or let it begin with cd: {command}")
            if final and "serves" in block.marks:
                self.serve(block, words)
                continue
            exports = words.startswith("export ")
            if exports:
                words += "\nenv -0"
            wanted = re.search(r"#\s*exit code (\d+)", command)
            code = int(wanted[1]) if wanted else int(block.marks.get("exit", 0)) if final else 0
            try:
                done = subprocess.run(
                    ["bash", "-c", words], cwd=self.place, env=self.environment,
                    capture_output=True, text=True, timeout=TIME_LIMIT, stdin=subprocess.DEVNULL,
                )
            except subprocess.TimeoutExpired:
                self.fail(block.line, f"took more than {TIME_LIMIT} s: {command}")
            if done.returncode != code:
                said = (done.stdout + done.stderr)[-1500:]
                self.fail(block.line, f"exit code {done.returncode} instead of {code}: {command}\n{said}")
            self.ran += 1
            if exports:
                self.environment = dict(pair.split("=", 1) for pair in done.stdout.split("\0") if pair)
                continue
            self.output += done.stdout + done.stderr
            if re.match(r"\s*undertone(-reproduce)? ", words):
                self.last, self.answer = words, None

    def serve(self, block: Block, words: str) -> None:
        log = self.place.parent / f"server-{len(self.servers)}.txt"
        with log.open("w") as out:
            process = subprocess.Popen(
                ["bash", "-c", words], cwd=self.place, env=self.environment, stdout=out,
                stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, start_new_session=True,
            )
        text = block.marks["serves"]
        self.servers.append((process, log, text))
        for _ in range(6000):
            if text in log.read_text():
                break
            if process.poll() is not None:
                self.fail(block.line, f"ended before it said {text!r}: {words}\n{log.read_text()[-1500:]}")
            time.sleep(0.1)
        else:
            self.fail(block.line, f"never said {text!r}: {words}")
        self.output = log.read_text()
        self.ran += 1

    def stop(self) -> None:
        for process, _, _ in self.servers:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)

    def printed(self, block: Block) -> None:
        """Every line of a shown output occurs in what was printed."""
        flat = " ".join(self.output.split())
        for line in block.lines:
            parts = [re.escape(" ".join(part.split())) for part in line.split("…")]
            if line.strip() and not re.search(".*?".join(parts), flat):
                self.fail(block.line, f"is not printed: {line.strip()}\nprinted was: {self.output[-1500:]}")
            self.checked += 1

    def json(self, line: int) -> object:
        """What the last command prints with --json."""
        if self.last is None:
            self.fail(line, "a number is marked, but no command came before it")
        if self.answer is None:
            words = re.sub(r"\s+#.*$", "", self.last) + " --json"
            done = subprocess.run(["bash", "-c", words], cwd=self.place, env=self.environment, capture_output=True, text=True)
            try:
                self.answer = json.loads(done.stdout)
            except json.JSONDecodeError:
                self.fail(line, f"does not print JSON: {words}\n{done.stdout[-500:]}{done.stderr[-500:]}")
        return self.answer

    def compare(self, number: Number) -> None:
        # Numbers about a block that was not run cannot be compared now.
        named = re.findall(r"\bf\(\s*['\"](.*?)['\"]", number.expression)
        named += [f"{folder}/outcome.json" for folder in re.findall(r"\bt\(\s*['\"](.*?)['\"]", number.expression)]
        absent = any(not (self.place / name).exists() for name in named)
        needs_answer = re.search(r"\bj\b", number.expression)
        if needs_answer and self.left_out or absent and self.incomplete:
            self.postponed += 1
            return
        files = lambda name: json.loads((self.place / name).read_text())
        try:
            value = evaluate(number.expression, self.json(number.line) if needs_answer else None, files)
        except Failed:
            raise
        except Exception as error:
            self.fail(number.line, f"{number.expression}: {type(error).__name__}: {error}")
        if not agrees(number.text, value, number.rounding):
            self.fail(number.line, f"says {number.text}, and {number.expression} is {value!r}")
        self.checked += 1


    def files(self) -> dict[str, bytes]:
        """What stands in the copied folders now."""
        found = [file for folder in COPIED for file in (self.place / folder).rglob("*") if file.is_file()]
        return {str(file.relative_to(self.place)): file.read_bytes() for file in found}

    def kept(self) -> None:
        """Files of the repository that commands write again come out as they are kept."""
        now = self.files()
        for name, content in self.before.items():
            if now.get(name) != content:
                self.fail(1, f"{name} is not what the commands write")


def check(name: str, text: str, everything: bool) -> tuple[Page, int]:
    """Runs one document; the second is how many of its numbers carry no mark."""
    parts, unmarked = read(text)
    directory = scratch()
    page = Page(name, pathlib.Path(directory.name) / "root", everything)
    try:
        for part in parts:
            if isinstance(part, Number):
                page.compare(part)
            elif "file" in part.marks:
                (page.place / part.marks["file"]).write_text("\n".join(part.lines) + "\n")
            elif part.commands:
                page.left_out = page.skip(part)
                if not page.left_out:
                    page.run(part)
            elif "prints" in part.marks and not page.left_out:
                page.printed(part)
        page.kept()
    finally:
        page.stop()
        directory.cleanup()
    return page, unmarked


def too_many(name: str, unmarked: int, allowed: dict[str, int]) -> str | None:
    """What is wrong if a page has more numbers without a mark than it had."""
    if unmarked > allowed.get(name, 0):
        return f"{name}: {unmarked} numbers carry no mark, and {allowed.get(name, 0)} are allowed (tests/docs/unmarked.json)"
    if unmarked < allowed.get(name, 0):
        print(f"  {name}: {unmarked} numbers without a mark are fewer than the {allowed[name]} in tests/docs/unmarked.json: write it there")
    return None


def main() -> None:
    # Whoever ends this ends the servers too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("documents: ended"))
    words = sys.argv[1:]
    everything = "--all" in words
    names = [word for word in words if word != "--all"] or DOCUMENTS
    kept = HERE / "unmarked.json"
    allowed = json.loads(kept.read_text()) if kept.exists() else {}
    faults = []
    # Those that serve come last: from then on nothing outside can be reached.
    names.sort(key=serves)
    alone = False
    for name in names:
        if serves(name) and not alone:
            own_network()
            alone = True
        started = time.monotonic()
        try:
            page, unmarked = check(name, (ROOT / name).read_text(), everything)
        except (Failed, ValueError) as fault:
            fault = fault if isinstance(fault, Failed) else f"{name}: {fault}"
            faults.append(str(fault))
            print(f"FAILED {fault}", flush=True)
            continue
        later = f" ({page.postponed} not now)" if page.postponed else ""
        print(
            f"{name}: {page.ran} commands, {page.checked} lines and numbers compared{later}, "
            f"{unmarked} unmarked ({time.monotonic() - started:.0f} s)",
            flush=True,
        )
        if fault := too_many(name, unmarked, allowed):
            faults.append(fault)
            print(f"FAILED {fault}")
    if faults:
        sys.exit(f"documents: {len(faults)} faults")
    print("documents: all hold")


if __name__ == "__main__":
    main()
