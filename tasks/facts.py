"""The facts behind the demo's tasks, as tables of (subject, answer). Plain knowledge, written for this project."""

from __future__ import annotations

CAPITALS = [
    ("France", "Paris"), ("Italy", "Rome"), ("Germany", "Berlin"), ("Spain", "Madrid"),
    ("Portugal", "Lisbon"), ("Greece", "Athens"), ("Austria", "Vienna"), ("Poland", "Warsaw"),
    ("Hungary", "Budapest"), ("Ireland", "Dublin"), ("Norway", "Oslo"), ("Sweden", "Stockholm"),
    ("Denmark", "Copenhagen"), ("Finland", "Helsinki"), ("Russia", "Moscow"), ("Ukraine", "Kyiv"),
    ("Belgium", "Brussels"), ("the Netherlands", "Amsterdam"), ("Switzerland", "Bern"), ("Turkey", "Ankara"),
    ("Egypt", "Cairo"), ("Kenya", "Nairobi"), ("Ethiopia", "Addis Ababa"), ("Nigeria", "Abuja"),
    ("Ghana", "Accra"), ("Morocco", "Rabat"), ("Algeria", "Algiers"), ("Tunisia", "Tunis"),
    ("Japan", "Tokyo"), ("China", "Beijing"), ("India", "New Delhi"), ("Thailand", "Bangkok"),
    ("Vietnam", "Hanoi"), ("Indonesia", "Jakarta"), ("Iran", "Tehran"), ("Iraq", "Baghdad"),
    ("Afghanistan", "Kabul"), ("Nepal", "Kathmandu"), ("South Korea", "Seoul"), ("the Philippines", "Manila"),
    ("Canada", "Ottawa"), ("Mexico", "Mexico City"), ("Cuba", "Havana"), ("Peru", "Lima"),
    ("Chile", "Santiago"), ("Argentina", "Buenos Aires"), ("Colombia", "Bogota"), ("Venezuela", "Caracas"),
    ("Australia", "Canberra"), ("New Zealand", "Wellington"), ("Iceland", "Reykjavik"), ("Romania", "Bucharest"),
    ("Bulgaria", "Sofia"), ("Croatia", "Zagreb"), ("Serbia", "Belgrade"), ("Lebanon", "Beirut"),
]

SYMBOLS = [
    ("hydrogen", "H"), ("helium", "He"), ("lithium", "Li"), ("carbon", "C"),
    ("nitrogen", "N"), ("oxygen", "O"), ("fluorine", "F"), ("neon", "Ne"),
    ("sodium", "Na"), ("magnesium", "Mg"), ("aluminium", "Al"), ("silicon", "Si"),
    ("phosphorus", "P"), ("sulfur", "S"), ("chlorine", "Cl"), ("argon", "Ar"),
    ("potassium", "K"), ("calcium", "Ca"), ("titanium", "Ti"), ("chromium", "Cr"),
    ("manganese", "Mn"), ("iron", "Fe"), ("cobalt", "Co"), ("nickel", "Ni"),
    ("copper", "Cu"), ("zinc", "Zn"), ("silver", "Ag"), ("tin", "Sn"),
    ("iodine", "I"), ("platinum", "Pt"), ("gold", "Au"), ("mercury", "Hg"),
    ("lead", "Pb"), ("uranium", "U"), ("barium", "Ba"), ("tungsten", "W"),
]

YEARS = [
    ("did the First World War begin", "1914"), ("did the First World War end", "1918"),
    ("did the Second World War begin", "1939"), ("did the Second World War end", "1945"),
    ("did the French Revolution begin", "1789"), ("did Columbus first reach the Americas", "1492"),
    ("did people first walk on the Moon", "1969"), ("did the Berlin Wall fall", "1989"),
    ("was the American Declaration of Independence signed", "1776"), ("did the Titanic sink", "1912"),
    ("was the Battle of Hastings", "1066"), ("was Magna Carta sealed", "1215"),
    ("did the Great Fire of London burn", "1666"), ("was the Battle of Waterloo", "1815"),
    ("did the Soviet Union break up", "1991"), ("was the Russian Revolution", "1917"),
    ("did India become independent", "1947"), ("was Sputnik launched", "1957"),
    ("did the American Civil War begin", "1861"), ("did the American Civil War end", "1865"),
    ("was the League of Nations founded", "1920"), ("did the Wall Street crash begin the Great Depression", "1929"),
    ("was the Suez Canal opened", "1869"), ("was the Panama Canal opened", "1914"),
]

PURPOSES = [
    ("a thermometer", "measuring temperature"), ("a telescope", "looking at distant stars"),
    ("an umbrella", "keeping off the rain"), ("a microscope", "looking at very small things"),
    ("a compass", "finding which way is north"), ("a hammer", "driving nails into wood"),
    ("a calendar", "keeping track of days and months"), ("a refrigerator", "keeping food cold"),
    ("an oven", "baking bread and cakes"), ("a stethoscope", "listening to the heart"),
    ("a piano", "playing music"), ("a bicycle", "riding along a road"),
    ("a pencil", "writing on paper"), ("a broom", "sweeping the floor"),
    ("a ladder", "climbing up to high places"), ("a parachute", "falling slowly through the air"),
    ("a lighthouse", "warning ships of rocks"), ("a library", "borrowing books"),
    ("a hospital", "caring for sick people"), ("a school", "teaching children"),
    ("a bakery", "buying fresh bread"), ("a dam", "holding back water"),
    ("a camera", "taking photographs"), ("a saw", "cutting wood"),
    ("soap", "washing hands"), ("a blanket", "keeping warm in bed"),
    ("a key", "opening a lock"), ("a clock", "telling the time"),
    ("a spoon", "eating soup"), ("a needle", "sewing clothes"),
    ("a fishing rod", "catching fish"), ("a shovel", "digging holes"),
    ("a candle", "giving light in the dark"), ("a kettle", "boiling water"),
    ("a map", "finding a route"), ("scissors", "cutting paper"),
]

QUESTIONS = {
    "capital": ("What is the capital of {}?", CAPITALS),
    "symbol": ("What is the chemical symbol for {}?", SYMBOLS),
    "year": ("In which year {}?", YEARS),
    "purpose": ("What is {} used for?", PURPOSES),
}
