// What must never be written down: keys that name a secret, and texts that look like one. Everything recorded passes here.

const REDACTED = '[redacted]';

/** Words of a key that make its value a secret, wherever they stand in it. */
const SECRET_WORDS = new Set([
  'password', 'passwd', 'passphrase', 'pwd', 'secret', 'secrets', 'apikey', 'credential', 'credentials', 'authorization', 'bearer', 'cookie',
]);

/** A key that ends in two such words is a secret as well. */
const SECRET_KEYS = new Set(['api', 'access', 'private', 'secret', 'encryption', 'signing', 'auth', 'account']);

/** In front of "token" these mean a piece of text, so bos_token and max_tokens stay readable. */
const TEXT_TOKENS = new Set([
  'bos', 'eos', 'pad', 'unk', 'sep', 'cls', 'mask', 'prefix', 'suffix', 'stop', 'start', 'end', 'eot', 'eod', 'think', 'image', 'audio',
  'special', 'first', 'last', 'next', 'added', 'per',
]);

/** Forms of well-known secrets inside any text. The first group, where there is one, is kept. */
const SECRET_TEXTS: readonly RegExp[] = [
  /\bhf_[A-Za-z0-9]{16,}\b/g,
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /\bgh[opsur]_[A-Za-z0-9]{20,}\b/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,}\b/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /(\bBearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi,
  /([a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi,
];

// Not after a slash before ": ", as in "/etc/passwd: no such file".
const KEY_AND_VALUE = /(?<!\/(?=[\w.-]+:\s))(["']?)([A-Za-z][\w.-]*)\1(\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&"'}\]]+)/g;

/** True for hf_token, OPENAI_API_KEY, redisPassword; false for eos_token, max_tokens, tokenizer. */
export function isSecretKey(key: string): boolean {
  const words = key.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase().split(/[^a-z0-9]+/).filter(Boolean);
  if (words.some((word) => SECRET_WORDS.has(word))) return true;
  const last = words.at(-1);
  const before = words.at(-2);
  if (last === 'key') return before !== undefined && SECRET_KEYS.has(before);
  return last === 'token' && (before === undefined || !TEXT_TOKENS.has(before));
}

/** Replaces secrets inside a text: known forms, credentials of URLs, and `key=value` where the key names a secret. */
export function redactText(text: string): string {
  const known = SECRET_TEXTS.reduce((clean, form) => clean.replace(form, (_, kept: unknown) => (
    typeof kept === 'string' ? `${kept}${REDACTED}${kept.endsWith('://') ? '@' : ''}` : REDACTED
  )), text);
  return redactPairs(known);
}

/** The value of a harmless key may be a pair itself: "refused: token=…". */
function redactPairs(text: string): string {
  return text.replace(KEY_AND_VALUE, (_, ...[quote, key, equals, value]: string[]) => {
    const kept = isSecretKey(key as string) && isTextual(value as string) ? REDACTED : redactPairs(value as string);
    return `${quote}${key}${quote}${equals}${kept}`;
  });
}

/** A copy of any JSON-like value without its secrets. Flags and numbers stay: `token: true` says nothing. */
export function redactSecrets<Value>(value: Value): Value {
  return redactValue(value) as Value;
}

/** A command line without its secrets, `--hf_token VALUE` included. */
export function redactCommand(command: readonly string[]): string[] {
  return command.map((argument, place) => {
    const flag = command[place - 1];
    const isSecretValue = flag !== undefined && /^--?[A-Za-z][\w-]*$/.test(flag) && isSecretKey(flag) && !argument.startsWith('-');
    return isSecretValue ? REDACTED : redactText(argument);
  });
}

function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map(redactValue);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, isSecretKey(key) ? redactNamed(entry) : redactValue(entry)]));
}

function redactNamed(value: unknown): unknown {
  return typeof value === 'boolean' || typeof value === 'number' || value === null || value === '' ? value : REDACTED;
}

/** A Date, an Error or a Map is not ours to take apart. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** False for flags, numbers and what has been redacted already. */
function isTextual(value: string): boolean {
  return !/^(true|false|null|none|\d+(\.\d+)?|\[redacted.*)$/i.test(value);
}
