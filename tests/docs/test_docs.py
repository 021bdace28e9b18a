"""The runner itself: it must notice what is wrong. `python3 -m unittest discover tests/docs`."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import check
from expression import agrees, evaluate
from markdown import Block, Number, read

# Pages that show commands to nobody who should type them, and pages kept for other reasons.
NOT_RUN = {
    "tests/docs/README.md",  # explains the marks
    "tests/oracle/README.md",  # scripts/test runs the oracle
}


class Reading(unittest.TestCase):
    def test_commands_and_numbers(self):
        text = "Text\n\n    echo 1 > a\n    undertone audit \\\n      --prior a   # exit code 1\n\nIt is 1.90<!-- = j[\"lip\"] -->, not 2.5.\n\n<!-- docs: prints -->\n\n    lip 1.9\n"
        parts, unmarked = read(text)
        self.assertEqual(parts[0].commands, ["echo 1 > a", "undertone audit --prior a   # exit code 1"])
        self.assertEqual(parts[1], Number(7, "1.90", 'j["lip"]', None))
        self.assertIn("prints", parts[2].marks)
        self.assertEqual(parts[2].commands, [])
        self.assertEqual(unmarked, 1)

    def test_fences_and_marks(self):
        parts, _ = read("<!-- docs: exit 2 -->\n```sh\nundertone x\n```\n```python\nundertone(1)\n```\n")
        self.assertEqual(len(parts), 1)
        self.assertEqual((parts[0].marks, parts[0].commands), ({"exit": "2"}, ["undertone x"]))

    def test_a_command_ends_where_the_shell_says_so(self):
        [block] = read("```sh\nfor x in a b; do\n  echo $x\ndone\nawk 'BEGIN {\n  print 1 }' > n\nls\n```\n")[0]
        self.assertEqual(block.commands, ["for x in a b; do\n  echo $x\ndone", "awk 'BEGIN {\n  print 1 }' > n", "ls"])

    def test_a_mark_makes_a_command_of_any_program(self):
        self.assertEqual(read("    mosquitto -p 1\n")[0][0].commands, [])
        self.assertEqual(read("<!-- docs: serves running -->\n\n    mosquitto -p 1\n")[0][0].commands, ["mosquitto -p 1"])

    def test_files_and_hidden_commands(self):
        text = "<!-- docs: below needs /x -->\n<!-- docs: all --><!-- docs: run echo 1 -->\n<!-- docs: file a.mjs -->\n```js\nlet x;\n```\n"
        hidden, file = read(text)[0]
        self.assertEqual((hidden.marks, hidden.commands), ({"needs": "/x", "all": ""}, ["echo 1"]))
        self.assertEqual((file.marks["file"], file.lines, file.commands), ("a.mjs", ["let x;"], []))

    def test_code_in_lines_is_not_a_number(self):
        self.assertEqual(read("Use `--epsilon 0.5`, see [this](a-1.5.md): version 0.1.0 or 1.5 nats.")[1], 1)

    def test_marks_that_say_nothing_are_refused(self):
        for text in ("<!-- docs: skp it -->", "about half<!-- = 0.5 -->", "<!-- docs: below skip x -->"):
            with self.assertRaises(ValueError, msg=text):
                read(text)

    def test_bold_and_small_numbers(self):
        [bold, small] = read("**.361**<!-- = up 1 --> and 7.8e-4<!-- = 2 -->")[0]
        self.assertEqual((bold.text, bold.rounding, small.text), (".361", "up", "7.8e-4"))


class Comparing(unittest.TestCase):
    def test_rounding(self):
        self.assertTrue(agrees("1.9005", 1.9004770974, None))
        self.assertFalse(agrees("1.9005", 1.90044, None))
        self.assertFalse(agrees("1.9004", 1.9004770974, "up"))
        self.assertTrue(agrees("1.9004", 1.9004770974, "down"))
        self.assertTrue(agrees("8,492", 8492, None))
        self.assertTrue(agrees("0.5", "0.5", None))
        self.assertFalse(agrees("0.51", 0.5, None))
        self.assertFalse(agrees("1", None, None))

    def test_expressions(self):
        self.assertEqual(evaluate('100 * j["p"][1]', {"p": [0.9, 0.1]}, None), 10)
        self.assertEqual(evaluate("max(x for x in j)", [1, 3, 2], None), 3)
        for bad in ("__import__('os')", "j.clear()", "(lambda: 1)()", "open('x')"):
            with self.assertRaises(Exception):
                evaluate(bad, {}, None)

    def test_tables_of_experiments(self):
        outcome = {"outcome": {"tables": [{"name": "n", "columns": ["law", "nmi"], "rows": [["zipf", "0.25"], ["even", "0.5"]]}]}}
        found = evaluate('sum(r["nmi"] for r in t("out/key", "n") if r["law"] == "even")', None, {"out/key/outcome.json": outcome}.get)
        self.assertEqual(found, 0.5)


class Running(unittest.TestCase):
    """Pages over a program that says what it is told to."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = pathlib.Path(folder.name) / "undertone"
        program.write_text('#!/bin/sh\ncase "$*" in\n  *--json*) echo \'{"lip": 1.9004} \' ;;\n  wrong*) echo no; exit 1 ;;\n  *) echo "lip 1.9004 nats" ;;\nesac\n')
        program.chmod(0o755)
        self.beside = program.with_name("undertone-reproduce")
        before = os.environ.get("UNDERTONE_BIN")
        os.environ["UNDERTONE_BIN"] = str(program)
        self.addCleanup(lambda: os.environ.pop("UNDERTONE_BIN") if before is None else os.environ.update(UNDERTONE_BIN=before))

    def page(self, text, everything=False):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            page, _ = check.check("page.md", text, everything)
        return page, said.getvalue()

    def refused(self, text):
        with self.assertRaises(check.Failed) as raised:
            self.page(text)
        return str(raised.exception)

    def test_what_holds(self):
        page, _ = self.page("    undertone audit\n\nIt is 1.90<!-- = j[\"lip\"] -->.\n\n<!-- docs: prints -->\n\n    lip 1.9…   nats\n")
        self.assertEqual((page.ran, page.checked), (1, 2))

    def test_a_wrong_number(self):
        self.assertIn("says 1.91", self.refused("    undertone audit\n\nIt is 1.91<!-- = j[\"lip\"] -->.\n"))

    def test_a_wrong_exit_code(self):
        self.assertIn("exit code 1 instead of 0", self.refused("    undertone wrong\n"))
        self.assertIn("exit code 0 instead of 1", self.refused("    undertone right    # exit code 1\n"))
        self.page("    undertone wrong    # exit code 1\n")

    def test_output_that_is_not_printed(self):
        self.assertIn("is not printed: lip 2", self.refused("    undertone audit\n\n<!-- docs: prints -->\n\n    lip 2\n"))

    def test_a_file_nobody_makes(self):
        self.assertIn("exit code", self.refused("    cat nowhere.json\n"))
        page, _ = self.page("<!-- docs: file here.json -->\n\n    [1, 2]\n\nthen\n\n    cat here.json\n\n2<!-- = f(\"here.json\")[1] -->\n")
        self.assertEqual(page.checked, 1)

    def test_a_kept_file_that_comes_out_otherwise(self):
        self.assertIn("examples/opinion.json is not what", self.refused("    echo 1 > examples/opinion.json\n"))

    def test_what_is_left_out_is_said_and_not_compared(self):
        page, said = self.page("<!-- docs: needs ../nowhere/x.csv -->\n\n    undertone audit > out.json\n\n9.9<!-- = j[\"lip\"] --> and 8.8<!-- = f(\"out.json\")[0] -->\n")
        self.assertEqual((page.ran, page.checked, page.postponed), (0, 0, 2))
        self.assertIn("../nowhere/x.csv is not here", said)
        self.assertEqual(self.page("<!-- docs: all -->\n\n    undertone audit\n", everything=True)[0].ran, 1)

    def test_exports_last_and_servers_end(self):
        page, _ = self.page("```sh\nexport GREETING=hello\ntest $GREETING = hello\n```\n\n<!-- docs: serves ready -->\n\n    echo ready; sleep 600\n\nthen\n\n    echo next\n")
        self.assertEqual(page.ran, 4)
        self.assertIsNotNone(page.servers[0][0].poll())

    def test_another_workspace_runs_its_own_program(self):
        self.assertIn("exit code 101", self.refused("    cd / && cargo run --release -- draws\n"))

    def test_each_program_by_its_names(self):
        page = "    cargo run --release -p undertone-experiments -- all --quick\n\n2<!-- = j[\"claims\"] -->\n\nthen\n\n    cargo run --release -- audit\n\n1.9<!-- = j[\"lip\"] -->\n"
        self.assertIn("undertone-reproduce is not built", self.refused(page))
        self.beside.write_text("#!/bin/sh\necho '{\"claims\": 2}'\n")
        self.beside.chmod(0o755)
        self.assertEqual(self.page(page)[0].checked, 2)
        self.assertEqual(self.page(page.replace("cargo run --release -p undertone-experiments --", "undertone-reproduce"))[0].checked, 2)

    def test_nothing_is_built_again(self):
        self.assertIn("builds everything again", self.refused("    cargo test -p undertone-core\n"))


class Pages(unittest.TestCase):
    def test_unmarked_numbers_do_not_become_more(self):
        allowed = json.loads((check.HERE / "unmarked.json").read_text())
        self.assertEqual(sorted(allowed), sorted(check.DOCUMENTS))
        with contextlib.redirect_stdout(io.StringIO()):
            for name in check.DOCUMENTS:
                self.assertIsNone(check.too_many(name, read((check.ROOT / name).read_text())[1], allowed))
            self.assertIn("3 numbers carry no mark", check.too_many("x.md", 3, {"x.md": 2}))
            self.assertIsNone(check.too_many("x.md", 1, {"x.md": 2}))

    def test_no_page_with_commands_is_forgotten(self):
        listed = subprocess.run(["git", "ls-files", "*.md"], cwd=check.ROOT, capture_output=True, text=True)
        if listed.returncode != 0:
            self.skipTest("not a checkout")
        for name in set(listed.stdout.split()) - set(check.DOCUMENTS) - NOT_RUN:
            parts, _ = read((check.ROOT / name).read_text())
            self.assertFalse([part.line for part in parts if isinstance(part, Block) and part.commands], f"{name} shows commands")


if __name__ == "__main__":
    unittest.main()
