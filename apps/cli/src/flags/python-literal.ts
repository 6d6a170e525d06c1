// The part of Python's ast.literal_eval that lm_eval's flags rely on: numbers, quoted text, lists, tuples, mappings,
// True, False and None. Anything else is not a literal.

const NOT_LITERAL = Symbol('not a literal');

/** The value of a literal, or `otherwise` where the text is not one. */
export function evaluateLiteral(text: string, otherwise: unknown): unknown {
  try {
    const reader = new LiteralReader(text);
    const value = reader.readValue();
    return reader.isAtEnd() ? value : otherwise;
  } catch (thrown) {
    if (thrown === NOT_LITERAL) return otherwise;
    throw thrown;
  }
}

const WORDS: Record<string, unknown> = { True: true, False: false, None: null };
const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', '0': '\0', '\\': '\\', '\'': '\'', '"': '"' };
const CLOSING: Record<string, string> = { '[': ']', '(': ')' };

class LiteralReader {
  readonly #text: string;
  #place = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readValue(): unknown {
    const next = this.#peek();
    if (next === '[' || next === '(') return this.#readList(next);
    if (next === '{') return this.#readMapping();
    if (next === '"' || next === '\'') return this.#readText(next);
    return this.#readNumber() ?? this.#readWord();
  }

  isAtEnd(): boolean {
    return this.#peek() === '';
  }

  #peek(): string {
    while (/\s/.test(this.#text[this.#place] ?? '')) this.#place += 1;
    return this.#text[this.#place] ?? '';
  }

  #take(expected: string): boolean {
    if (this.#peek() !== expected) return false;
    this.#place += 1;
    return true;
  }

  #require(expected: string): void {
    if (!this.#take(expected)) throw NOT_LITERAL;
  }

  #readList(opening: string): unknown {
    this.#require(opening);
    const closing = CLOSING[opening] as string;
    const items: unknown[] = [];
    let hasComma = false;
    while (!this.#take(closing)) {
      if (items.length > 0) {
        this.#require(',');
        hasComma = true;
        if (this.#take(closing)) break;
      }
      items.push(this.readValue());
    }
    // (1) is the number 1 to Python; only a comma makes a tuple.
    return opening === '(' && items.length === 1 && !hasComma ? items[0] : items;
  }

  #readMapping(): Record<string, unknown> {
    this.#require('{');
    const entries: [string, unknown][] = [];
    while (!this.#take('}')) {
      if (entries.length > 0) {
        this.#require(',');
        if (this.#take('}')) break;
      }
      const key = this.readValue();
      this.#require(':');
      entries.push([String(key), this.readValue()]);
    }
    return Object.fromEntries(entries);
  }

  #readText(quote: string): string {
    this.#require(quote);
    let value = '';
    while (this.#text[this.#place] !== quote) {
      const character = this.#text[this.#place];
      if (character === undefined) throw NOT_LITERAL;
      this.#place += 1;
      value += character === '\\' ? this.#readEscape() : character;
    }
    this.#place += 1;
    return value;
  }

  #readEscape(): string {
    const character = this.#text[this.#place] ?? '';
    this.#place += 1;
    if (character !== 'u' && character !== 'x') return ESCAPES[character] ?? `\\${character}`;
    const length = character === 'u' ? 4 : 2;
    const digits = this.#text.slice(this.#place, this.#place + length);
    if (!/^[0-9a-f]+$/i.test(digits) || digits.length !== length) throw NOT_LITERAL;
    this.#place += length;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }

  #readNumber(): number | undefined {
    const match = /^[+-]?(?:\d+(?:_\d+)*\.?\d*|\.\d+)(?:e[+-]?\d+)?/i.exec(this.#text.slice(this.#place));
    if (!match) return undefined;
    this.#place += match[0].length;
    return Number(match[0].replaceAll('_', ''));
  }

  #readWord(): unknown {
    const word = /^\w+/.exec(this.#text.slice(this.#place))?.[0] ?? '';
    if (!Object.hasOwn(WORDS, word)) throw NOT_LITERAL;
    this.#place += word.length;
    return WORDS[word];
  }
}
