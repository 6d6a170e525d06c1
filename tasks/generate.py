"""Writes tasks/data and the shuffled control from the tables of facts.py. Seeded: the same code always writes the same bytes.

    python3 tasks/generate.py           write the files
    python3 tasks/generate.py --check   exit 1 where a file differs from what would be written
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

from facts import QUESTIONS
from passages import write_passage

Row = dict[str, Any]
SEED = 20240229
ROOT = Path(__file__).resolve().parent
CONTROL = ROOT.parent / "test" / "fixtures" / "tasks" / "data"

CONTROL_COPIES = 2
SHORTEST_WORDS, LONGEST_WORDS, PASSAGES = 45, 2930, 40


def draw_questions(random: Random, counts: dict[str, int]) -> list[tuple[str, str, str]]:
    """(kind, question, answer), the kinds mixed."""
    drawn = []
    for kind, count in counts.items():
        template, table = QUESTIONS[kind]
        drawn += [(kind, template.format(subject), answer) for subject, answer in random.sample(table, count)]
    random.shuffle(drawn)
    return drawn


def add_choices(random: Random, drawn: Iterable[tuple[str, str, str]]) -> list[Row]:
    """Three wrong answers of the same kind; the right ones are spread evenly over the four places."""
    rows: list[Row] = []
    for number, (kind, question, answer) in enumerate(drawn):
        others = sorted({other for _, other in QUESTIONS[kind][1]} - {answer})
        choices = random.sample(others, 3)
        choices.insert(number % 4, answer)
        rows.append({"question": question, "choices": choices, "answer": number % 4})
    random.shuffle(rows)
    return rows


def split_rows(rows: list[Row], fewshot: int) -> list[Row]:
    """The first `fewshot` rows become examples; no question is in both splits."""
    return [{"split": "fewshot" if place < fewshot else "test", **row} for place, row in enumerate(rows)]


def make_letters(random: Random) -> list[Row]:
    counts = {"capital": 9, "symbol": 7, "year": 6, "purpose": 9}
    return split_rows(add_choices(random, draw_questions(random, counts)), fewshot=3)


def make_facts(random: Random) -> list[Row]:
    counts = {"capital": 10, "symbol": 6, "year": 4, "purpose": 12}
    return split_rows(add_choices(random, draw_questions(random, counts)), fewshot=0)


def make_short(random: Random) -> list[Row]:
    drawn = draw_questions(random, {"capital": 32, "symbol": 18, "year": 14})
    return split_rows([{"question": question, "answer": answer} for _, question, answer in drawn], fewshot=4)


def make_control(random: Random) -> list[Row]:
    """Every question with its right answer (`answer`) and with a shuffled one (`shuffled`) that chance alone can hit."""
    counts = {kind: len(table) for kind, (_, table) in QUESTIONS.items()}
    rows = []
    for _ in range(CONTROL_COPIES):
        rows += add_choices(random, draw_questions(random, counts))
    shuffled = [row["answer"] for row in rows]
    random.shuffle(shuffled)
    return [{"split": "test", **row, "shuffled": answer} for row, answer in zip(rows, shuffled, strict=True)]


NAMES = {2: "half", 3: "third", 4: "quarter", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth", 10: "tenth"}
COUNTS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}


def write_latex(value: Fraction) -> str:
    if value.denominator == 1:
        return f"${value.numerator}$"
    return f"$\\frac{{{value.numerator}}}{{{value.denominator}}}$"


def make_maths(random: Random) -> list[Row]:
    """Sums and differences of whole numbers, fractions in words, and sums of fractions with one denominator."""
    sums = [(f"What is ${a}+{b}$?", Fraction(a + b)) for a in range(2, 10) for b in range(2, 10)]
    differences = [(f"What is ${a}-{b}$?", Fraction(a - b)) for a in range(5, 20) for b in range(2, 5)]
    words = [
        (f"Write {COUNTS[top]} {NAMES[bottom]}{'s' * (top > 1)} as a fraction.", Fraction(top, bottom))
        for bottom in range(3, 11) for top in range(1, bottom) if Fraction(top, bottom).denominator == bottom
    ]
    fractions = [
        (f"What is $\\frac{{{a}}}{{{bottom}}}+\\frac{{{b}}}{{{bottom}}}$?", Fraction(a + b, bottom))
        for bottom in range(3, 10) for a in range(1, bottom) for b in range(1, bottom - a)
    ]
    kinds = [random.sample(kind, 16) for kind in (sums, differences, words, fractions)]
    mixed = [question for four in zip(*kinds, strict=True) for question in four]
    return split_rows([{"question": text, "answer": write_latex(value)} for text, value in mixed], fewshot=4)


def make_long(random: Random) -> list[Row]:
    """Lengths in equal ratios from the shortest to the longest, in mixed order."""
    ratio = (LONGEST_WORDS / SHORTEST_WORDS) ** (1 / (PASSAGES - 1))
    lengths = [round(SHORTEST_WORDS * ratio**step) for step in range(PASSAGES)]
    random.shuffle(lengths)
    return [{"split": "test", **write_passage(random, words)} for words in lengths]


FILES: dict[Path, Callable[[Random], list[Row]]] = {
    ROOT / "data" / "letters.jsonl": make_letters,
    ROOT / "data" / "facts.jsonl": make_facts,
    ROOT / "data" / "short.jsonl": make_short,
    ROOT / "data" / "maths.jsonl": make_maths,
    ROOT / "data" / "long.jsonl": make_long,
    CONTROL / "control.jsonl": make_control,
}


def main() -> int:
    differing = []
    for path, make in FILES.items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in make(Random(SEED)))
        if "--check" not in sys.argv[1:]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            differing.append(path)
    for path in differing:
        print(f"{path.relative_to(ROOT.parent)} differs from what generate.py writes")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
