"""The parts of a document that are run or compared."""

import re
import subprocess
from dataclasses import dataclass, field

# What a line of a command block begins with.
COMMAND = re.compile(
    r"^\s*(cargo |undertone\b|echo |cat |printf |awk |\./|bench/|bindings/|scripts/|tests/|cd |pip |python3? |curl |export |gunzip |zcat |head |\(echo |for |createdb |node |npm |! |[A-Z_]+=\S+ )"
)
MARK = re.compile(r"<!--\s*docs:\s*(\w+)\s*(.*?)\s*-->")
WORDS = {"skip", "all", "needs", "exit", "serves", "run", "file", "prints", "below"}
# Marks that only commands can have.
COMMANDS_ONLY = {"skip", "all", "needs", "exit", "serves"}
COMPARED = re.compile(r"<!--\s*=")
NUMBER = re.compile(
    r"(?P<text>-?[\d,]*\.?\d+(?:e-?\d+)?)(?P<percent>\s?%)?(?:\*\*)?\s*<!--\s*=\s*(?:(?P<rounding>up|down)\s+)?(?P<expression>.*?)\s*-->"
)
DECIMAL = re.compile(r"(?<![\w.])-?\d*\.\d+(?![\w.]*\w)")


def complete(command: str) -> bool:
    """Whether the shell would begin, and not ask for another line."""
    # Whatever does not open anything needs no shell to tell.
    if not re.search(r"['\"({`|&]|<<|^\s*(for|while|if|case)\b", command):
        return True
    return subprocess.run(["bash", "-n"], input=command, text=True, capture_output=True).returncode == 0


@dataclass
class Block:
    """Lines that are shown as code."""

    line: int
    lines: list[str]
    marks: dict[str, str] = field(default_factory=dict)
    # Whether the page says that these are commands.
    shell: bool = False

    @property
    def commands(self) -> list[str]:
        """The commands of the block, or none if it shows something else. A command ends where the shell says so."""
        if "prints" in self.marks or "file" in self.marks:
            return []
        if not self.shell and not any(COMMAND.match(line) for line in self.lines):
            return []
        joined = re.sub(r"\\\n\s*", "", "\n".join(self.lines))
        found, open_lines = [], []
        for line in joined.split("\n"):
            if not open_lines and (not line.strip() or line.strip().startswith("#")):
                continue
            open_lines.append(line)
            if complete("\n".join(open_lines)):
                found.append("\n".join(open_lines).strip())
                open_lines = []
        return found + ["\n".join(open_lines)] * bool(open_lines)


@dataclass
class Number:
    """A number of the text and what it must be."""

    line: int
    text: str
    expression: str
    rounding: str | None


def read(text: str) -> tuple[list[Block | Number], int]:
    """The parts in order, and how many decimals of the text carry no mark."""
    parts: list[Block | Number] = []
    marks: dict[str, str] = {}
    # What holds for all commands from here on.
    below: dict[str, str] = {}
    unmarked = 0
    lines = text.split("\n")
    at = 0
    previous_blank = True
    while at < len(lines):
        line = lines[at]
        fence = re.match(r"^\s*(```|~~~)(\w*)", line)
        if fence:
            end = next((n for n in range(at + 1, len(lines)) if lines[n].strip().startswith(fence[1])), len(lines))
            if fence[2] in ("", "sh", "bash", "console", "text") or "file" in marks:
                shell = fence[2] in ("sh", "bash") or bool(marks.keys() & COMMANDS_ONLY)
                parts.append(Block(at + 1, lines[at + 1 : end], below | marks, shell))
            marks, at, previous_blank = {}, end + 1, True
            continue
        if line.startswith("    ") and line.strip() and (previous_blank or parts and at > 0 and lines[at - 1].startswith("    ")):
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            while not lines[end - 1].strip():
                end -= 1
            parts.append(Block(at + 1, [one[4:] for one in lines[at:end]], below | marks, bool(marks.keys() & COMMANDS_ONLY)))
            marks, at, previous_blank = {}, end, False
            continue
        for mark in MARK.finditer(line):
            if mark[1] not in WORDS:
                raise ValueError(f"line {at + 1}: there is no mark {mark[1]!r}")
            if mark[1] == "run":
                parts.append(Block(at + 1, [mark[2]], below | marks, shell=True))
                marks = {}
            elif mark[1] == "below":
                word, _, value = mark[2].partition(" ")
                if word not in {"needs", "all"}:
                    raise ValueError(f"line {at + 1}: {word!r} cannot hold for everything below")
                below[word] = value
            else:
                marks[mark[1]] = mark[2]
        numbers = list(NUMBER.finditer(line))
        if len(numbers) != len(COMPARED.findall(line)):
            raise ValueError(f"line {at + 1}: a mark '<!-- = -->' does not stand behind a number")
        for number in numbers:
            parts.append(Number(at + 1, number["text"], number["expression"], number["rounding"]))
        plain = re.sub(r"<!--.*?-->", "", NUMBER.sub("", line))
        plain = re.sub(r"`[^`]*`|\]\([^)]*\)|https?://\S+", "", plain)
        unmarked += len(DECIMAL.findall(plain))
        previous_blank = not line.strip()
        at += 1
    return parts, unmarked
