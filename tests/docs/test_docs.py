"""The runner itself: it must notice what is wrong. `python3 -m unittest discover tests/docs`."""

import unittest

from expression import agrees, evaluate
from markdown import Block, Number, read


class Reading(unittest.TestCase):
    def test_commands_and_numbers(self):
        text = "Text\n\n    echo 1 > a\n    undertone audit \\\n      --prior a   # exit code 1\n\nIt is 1.90<!-- = j[\"lip\"] -->, not 2.5.\n\n<!-- docs: prints -->\n\n    lip 1.9\n"
        parts, unmarked = read(text)
        self.assertEqual(parts[0].commands, ["echo 1 > a", "undertone audit --prior a   # exit code 1"])
        self.assertEqual(parts[1], Number(7, "1.90", 'j["lip"]', None))
        self.assertIn("prints", parts[2].marks)
        self.assertEqual(unmarked, 1)

    def test_fences_and_marks(self):
        parts, _ = read("<!-- docs: exit 2 -->\n```sh\nundertone x\n```\n```python\nundertone(1)\n```\n")
        self.assertEqual(len(parts), 1)
        self.assertEqual((parts[0].marks, parts[0].commands), ({"exit": "2"}, ["undertone x"]))

    def test_code_in_lines_is_not_a_number(self):
        self.assertEqual(read("Use `--epsilon 0.5`, see [this](a-1.5.md): version 0.1.0 or 1.5 nats.")[1], 1)


class Comparing(unittest.TestCase):
    def test_rounding(self):
        self.assertTrue(agrees("1.9005", 1.9004770974, None))
        self.assertFalse(agrees("1.9005", 1.90044, None))
        self.assertFalse(agrees("1.9004", 1.9004770974, "up"))
        self.assertTrue(agrees("1.9004", 1.9004770974, "down"))
        self.assertTrue(agrees("8,492", 8492, None))
        self.assertTrue(agrees("0.5", "0.5", None))
        self.assertFalse(agrees("0.51", 0.5, None))

    def test_expressions(self):
        self.assertEqual(evaluate('100 * j["p"][1]', {"p": [0.9, 0.1]}, None), 10)
        self.assertEqual(evaluate("max(x for x in j)", [1, 3, 2], None), 3)
        for bad in ("__import__('os')", "j.clear()", "(lambda: 1)()", "open('x')"):
            with self.assertRaises(Exception):
                evaluate(bad, {}, None)


if __name__ == "__main__":
    unittest.main()
