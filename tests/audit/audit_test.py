#!/usr/bin/env python3
"""The dependency audit itself: versions as Cargo compares them, planted lock files and advisories."""
import contextlib
import importlib.machinery
import importlib.util
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
loader = importlib.machinery.SourceFileLoader("audit", str(ROOT / "scripts/audit"))
sys.dont_write_bytecode = True
audit = importlib.util.module_from_spec(importlib.util.spec_from_loader("audit", loader))
loader.exec_module(audit)


class Requirements(unittest.TestCase):
    """The tables of "Specifying dependencies" in Cargo's book, and pre-releases as the crate `semver` treats them."""

    TABLE = {
        # requirement: (versions that match, versions that do not)
        "*": ("0.0.0 1.2.3 9.0.0", "1.0.0-alpha"),
        "1.2.3": ("1.2.3 1.2.4 1.9.0 1.2.3+build", "1.2.2 2.0.0 0.9.0 2.0.0-alpha 1.3.0-alpha 1.2.3-alpha"),
        "^ 1.2": ("1.2.0 1.3.1", "1.1.9 2.0.0"),
        "^1": ("1.0.0 1.9.9", "0.9.9 2.0.0"),
        "^0.3": ("0.3.0 0.3.9", "0.2.9 0.4.0 0.3.0-rc.1"),
        "0.2.3": ("0.2.3 0.2.9", "0.2.2 0.3.0 1.2.3"),
        "^0.0.3": ("0.0.3", "0.0.2 0.0.4 0.1.0"),
        "^0.0": ("0.0.0 0.0.9", "0.1.0"),
        "^0": ("0.0.0 0.9.9", "1.0.0"),
        "^1.2.3-beta.2": ("1.2.3-beta.2 1.2.3-beta.10 1.2.3-rc.1 1.2.3 1.3.0", "1.2.3-beta.1 1.2.3-alpha 1.2.4-beta.2"),
        "~1.2.3": ("1.2.3 1.2.9", "1.2.2 1.3.0 2.2.3"),
        "~1.2": ("1.2.0 1.2.9", "1.1.0 1.3.0"),
        "~1": ("1.0.0 1.9.0", "0.9.0 2.0.0"),
        "~1, < 1.2.3-rc.1": ("1.2.2", "1.2.3-beta.1"),
        "1.*": ("1.0.0 1.9.0", "2.0.0 1.0.0-alpha"),
        "1.2.*": ("1.2.0 1.2.9", "1.3.0"),
        "= 1.0.0": ("1.0.0 1.0.0+build", "1.0.1 0.9.9 1.0.0-rc.1"),
        "=1.0": ("1.0.0 1.0.7", "1.1.0"),
        "=1.0.0-rc.1": ("1.0.0-rc.1", "1.0.0 1.0.0-rc.2"),
        "> 1.2.3": ("1.2.4 1.3.0 2.0.0", "1.2.3 1.2.2 1.2.4-alpha"),
        "> 1.2": ("1.3.0 2.0.0", "1.2.0 1.2.9"),
        ">=1.2": ("1.2.0 1.2.9 2.0.0", "1.1.9"),
        "<= 1.2": ("1.2.9 1.0.0 0.1.0", "1.3.0"),
        "< 1.2": ("1.1.9 0.0.1", "1.2.0 1.1.0-alpha"),
        "< 1.2.3": ("1.2.2 0.9.9", "1.2.3 1.2.3-alpha 1.2.2-alpha"),
        "< 1.2.3-rc.1": ("1.2.2 1.2.3-beta.9", "1.2.3-rc.1 1.2.3 1.2.2-beta.9"),
        ">= 1.2, < 2": ("1.2.0 1.9.9", "1.1.9 2.0.0 2.0.0-alpha"),
        "< 0.104.0-alpha.1, >= 0.103.13": ("0.103.13 0.103.99", "0.103.12 0.104.0 0.104.0-alpha.2"),
        ">= 0.104.0-alpha.7": ("0.104.0-alpha.7 0.104.0-alpha.10 0.104.0 0.105.0", "0.104.0-alpha.6 0.105.0-alpha.8"),
        ">= 1.0.0-9": ("1.0.0-9 1.0.0-10 1.0.0-a", "1.0.0-8"),
        ">= 1.0.0-a.b": ("1.0.0-a.b 1.0.0-a.b.0 1.0.0-b", "1.0.0-a 1.0.0-a.1"),
        ">= 18446744073709551615.0.0": ("18446744073709551615.0.0", "18446744073709551614.9.9"),
    }

    def test_versions_match_as_in_cargo(self):
        for text, (yes, no) in self.TABLE.items():
            requirement = audit.Requirement(text)
            for versions, expected in ((yes, True), (no, False)):
                for version in versions.split():
                    with self.subTest(requirement=text, version=version):
                        self.assertEqual(requirement.matches(audit.version(version)), expected)

    def test_anything_else_is_refused_and_not_guessed(self):
        for text in ["", " ", "1.2.3.4", ">=", "=> 1", ">= 1.0 < 2.0", "1.0,", "1.*.3", "01.0", "1.2.3-01", "^1.2-alpha", "latest", "!=1"]:
            with self.subTest(text), self.assertRaises(audit.Unreadable):
                audit.Requirement(text)
        for text in ["", "1", "1.2", "1.2.3.4", "1.2.3-", "1.2.3-01", "v1.2.3", "1.02.3"]:
            with self.subTest(text), self.assertRaises(audit.Unreadable):
                audit.version(text)


def advisory(package, patched=(), unaffected=(), kind=None, withdrawn=None, number=1):
    return {
        "id": f"RUSTSEC-2020-{number:04}",
        "package": package,
        "date": "2020-01-01",
        "title": f"something about {package}",
        "informational": kind,
        "withdrawn": withdrawn,
        "patched": list(patched),
        "unaffected": list(unaffected),
    }


def lock(*packages, ours=()):
    source = 'source = "registry+https://example.org/index"\n'
    entries = [f'[[package]]\nname = "{name}"\nversion = "{version}"\n{source}' for name, version in packages]
    entries += [f'[[package]]\nname = "{name}"\nversion = "{version}"\n' for name, version in ours]
    return "version = 4\n\n" + "\n".join(entries)


class Planted(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def plant(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def run_audit(self, *advisories):
        """Exit code, and everything that was printed."""
        self.plant("advisories.json", json.dumps(advisories))
        return self.run_with("--root", self.root, "--advisories", self.root / "advisories.json")

    def run_with(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            with mock.patch.object(sys, "argv", ["audit", *map(str, arguments)]):
                code = audit.main()
        return code, out.getvalue()

    def accept(self, *lines):
        text = "# Security\n\n* RUSTSEC-2020-0009 (elsewhere): not in the list.\n\n## Accepted advisories\n\nNone but:\n\n"
        self.plant("SECURITY.md", text + "\n".join(lines) + "\n\n## How to report\n\n* Somehow.\n")

    def test_a_vulnerable_version_fails_in_every_lock_file(self):
        known = advisory("leaky", patched=[">= 1.2, < 2", ">= 2.1"], unaffected=["< 1"])
        for version, affected in [
            ("0.9.0", False), ("1.0.0", True), ("1.1.9", True), ("1.2.0", False), ("2.0.0", True), ("2.1.0", False),
            ("2.1.0-rc.1", True), ("1.2.0-alpha", True),
        ]:
            for place in ["Cargo.lock", "fuzz/Cargo.lock"]:
                with self.subTest(version=version, place=place):
                    self.plant("Cargo.lock", lock(("fine", "1.0.0")))
                    self.plant("fuzz/Cargo.lock", lock(("fine", "1.0.0")))
                    self.plant(place, lock(("fine", "1.0.0"), ("leaky", version)))
                    code, said = self.run_audit(known)
                    self.assertEqual(code, int(affected), said)
                    if affected:
                        for words in [f"{place}: leaky {version}", "RUSTSEC-2020-0001", "update to >= 1.2, < 2 or >= 2.1"]:
                            self.assertIn(words, said)

    def test_what_is_withdrawn_ours_or_in_a_build_does_not_count(self):
        self.plant("Cargo.lock", lock(("leaky", "1.0.0"), ours=[("ours", "1.0.0")]))
        self.plant("target/package/Cargo.lock", lock(("built", "1.0.0")))
        withdrawn = advisory("leaky", withdrawn="2020-02-02")
        code, said = self.run_audit(withdrawn, advisory("ours"), advisory("built"))
        self.assertEqual(code, 0, said)
        self.assertIn("1 lock files with 1 crates of others, 0 problems", said)

    def test_one_version_of_two_is_enough(self):
        self.plant("Cargo.lock", lock(("leaky", "0.102.8"), ("leaky", "0.103.16")))
        code, said = self.run_audit(advisory("leaky", patched=[">= 0.103.13, < 0.104.0-alpha.1", ">= 0.104.0-alpha.7"]))
        self.assertEqual((code, said.count("RUSTSEC")), (1, 1), said)
        self.assertIn("leaky 0.102.8", said)

    def test_other_kinds_fail_unless_accepted_with_a_reason(self):
        self.plant("Cargo.lock", lock(("old", "1.0.0")))
        for kind in ["unmaintained", "unsound", "notice"]:
            with self.subTest(kind):
                known = advisory("old", kind=kind)
                self.accept()
                code, said = self.run_audit(known)
                self.assertEqual(code, 1)
                self.assertIn(f"({kind}): replace it, or accept it with a reason in SECURITY.md", said)
                self.accept("* RUSTSEC-2020-0001 (old): only its tables are used, until its successor is out.")
                code, said = self.run_audit(known)
                self.assertEqual(code, 0, said)
                # Another advisory for the same crate is another matter, and so is another crate.
                self.assertEqual(self.run_audit(known, advisory("old", kind=kind, number=2))[0], 1)
                self.accept("* RUSTSEC-2020-0001 (young): only its tables are used.")
                self.assertEqual(self.run_audit(known)[0], 1)

    def test_a_vulnerability_cannot_be_accepted(self):
        self.plant("Cargo.lock", lock(("leaky", "1.0.0")))
        self.accept("* RUSTSEC-2020-0001 (leaky): we feel lucky.")
        code, said = self.run_audit(advisory("leaky"))
        self.assertEqual(code, 1)
        self.assertIn("a vulnerability cannot be accepted", said)

    def test_an_exception_that_is_not_needed_any_more_fails(self):
        self.accept("* RUSTSEC-2020-0001 (old): only its tables are used.")
        known = advisory("old", patched=[">= 1.1"], kind="unmaintained")
        self.plant("Cargo.lock", lock(("old", "1.0.0")))
        self.assertEqual(self.run_audit(known)[0], 0)
        for packages in [[("old", "1.1.0")], [("new", "1.0.0")]]:
            self.plant("Cargo.lock", lock(*packages))
            code, said = self.run_audit(known)
            self.assertEqual(code, 1)
            self.assertIn("RUSTSEC-2020-0001 (old) affects nothing any more", said)

    def test_an_exception_without_a_reason_cannot_be_read(self):
        self.plant("Cargo.lock", lock(("old", "1.0.0")))
        line = "* RUSTSEC-2020-0001 (old): a reason."
        for lines in [["* RUSTSEC-2020-0001 (old):"], ["* RUSTSEC-2020-0001"], ["* old is fine"], [line, line]]:
            with self.subTest(lines):
                self.accept(*lines)
                code, said = self.run_audit(advisory("old", kind="unmaintained"))
                self.assertEqual(code, 2, said)
                self.assertIn("SECURITY.md", said)

    def test_what_cannot_be_read_is_an_error_and_not_a_pass(self):
        self.plant("Cargo.lock", lock(("leaky", "1.0.0")))
        for known, words in [
            (advisory("leaky", patched=["newest"]), "'newest'"),
            (advisory("leaky", kind="rumour"), "'rumour'"),
            ({"id": "RUSTSEC-2020-0001"}, "'package'"),
        ]:
            code, said = self.run_audit(known)
            self.assertEqual(code, 2)
            self.assertIn(words, said)
        self.plant("Cargo.lock", "nonsense")
        self.assertEqual(self.run_audit()[0], 2)
        self.plant("Cargo.lock", lock(("leaky", "one")))
        self.assertEqual(self.run_audit(advisory("leaky"))[0], 2)
        (self.root / "Cargo.lock").unlink()
        code, said = self.run_audit()
        self.assertEqual(code, 2)
        self.assertIn("no Cargo.lock", said)

    def test_without_advisories_it_says_that_it_is_skipped(self):
        self.plant("Cargo.lock", lock(("leaky", "1.0.0")))
        code, said = self.run_with("--root", self.root, "--advisories", self.root / "none.json")
        self.assertEqual((code, said), (0, "audit: skipped (no none.json)\n"))


if __name__ == "__main__":
    unittest.main()
