"""Passages of everyday sentences with the codes of several doors hidden in each, one of them asked for: the documents of assay_long."""

from __future__ import annotations

from random import Random

DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
PEOPLE = [
    "baker", "teacher", "doctor", "farmer", "painter", "sailor", "gardener", "carpenter", "librarian", "postman",
    "tailor", "miller",
]
PLACES = [
    "market", "harbour", "school", "old bridge", "station", "library", "town hall", "mill", "orchard",
    "lighthouse",
]
THINGS = [
    "loaves of bread", "baskets of apples", "letters", "bags of flour", "bottles of milk", "wooden chairs",
    "red bricks", "fresh fish", "sheets of paper", "pots of paint",
]
WEATHER = [
    "rain fell until noon", "the sun shone all day", "a cold wind blew from the sea", "fog lay over the fields",
    "snow covered the roofs", "it was warm and still",
]
NUMBERS = ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "twenty"]
COLOURS = ["red", "blue", "green", "yellow", "white", "black", "brown", "grey", "orange", "purple"]
SENTENCES = [
    "On {day} the {person} carried {number} {thing} from the {place} to the {place2}.",
    "The {person} met the {person2} near the {place}, and they talked about the harvest.",
    "Early on {day}, {weather}, so the {person} stayed at the {place}.",
    "The {person} sold {number} {thing} to the {person2} before the {place} closed.",
    "Nobody at the {place} could remember who had left {number} {thing} there.",
    "In the evening the {person} walked home past the {place} and the {place2}.",
]
WORDS_A_DOOR = 150


def write_sentence(random: Random) -> str:
    place, place2 = random.sample(PLACES, 2)
    person, person2 = random.sample(PEOPLE, 2)
    return random.choice(SENTENCES).format(
        day=random.choice(DAYS), weather=random.choice(WEATHER), number=random.choice(NUMBERS), thing=random.choice(THINGS),
        person=person, person2=person2, place=place, place2=place2,
    )


def write_passage(random: Random, words: int) -> dict[str, str]:
    """A passage of about `words` words; each code stands at a random place in it."""
    sentences: list[str] = []
    while sum(len(sentence.split()) for sentence in sentences) < words:
        sentences.append(write_sentence(random))
    doors = random.sample(COLOURS, min(len(COLOURS), 2 + words // WORDS_A_DOOR))
    codes = [str(random.randrange(1000, 10000)) for _ in doors]
    for door, code in zip(doors, codes, strict=True):
        sentences.insert(random.randrange(len(sentences) + 1), f"The code of the {door} door is {code}.")
    return {"passage": " ".join(sentences), "door": doors[0], "code": codes[0]}
