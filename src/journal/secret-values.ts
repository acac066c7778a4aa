// Which values of the environment are secrets, and the forms in which a value may turn up in a text.

export interface SecretSources {
  env: Readonly<Record<string, string | undefined>>;
  /** Names besides the built-in ones; `*` and `?` are wildcards. */
  extra_names: readonly string[];
  /** Values from elsewhere: an exchanged token, a header. */
  values?: readonly string[];
}

const SHORTEST = 8;
/** A value named by the task itself may be shorter. */
const SHORTEST_NAMED = 4;
const SHORTEST_LINE = 6;

const SECRET_NAMES = [
  /(?:^|_)(?:KEY|TOKEN|SECRETS?|CREDENTIALS?|PASSPHRASE|PASS|PAT|JWT|AUTH|COOKIE|DSN)$/,
  /PASSWORD|PASSWD|SECRET|ACCESS_KEY|PRIVATE_KEY|API_?KEY/,
  /^ACTIONS_.*TOKEN/,
  /^OTEL_EXPORTER_OTLP_.*HEADERS$/,
];
/** Names that hold a secret only if they do not say that they hold something else. */
const LIKELY_NAMES = [/^ANTHROPIC_/, /(?:^|_)TOKEN(?:_|$)/];
const HARMLESS =
  /_(?:URL|URI|MODEL|ID|NAME|VERSION|REGION|PATH|FILE|DIR|HOST|PORT|TYPE|TIMEOUT|LOG|LEVEL|BETAS?|TOKENS)$/;
const PUBLIC_NAMES = /(?:PUBLIC_KEY|COMMENT_KEY|API_KEY_ENV)$/;

const COMMON_WORDS = new Set(
  (
    'password changeme disabled enabled development production localhost undefined required optional anonymous ' +
    'placeholder redacted external internal username automatic standard optional staging testing default'
  ).split(' '),
);
const FILE_PATH = /^[/~.][\w./~-]*\/[\w.~-]*\.\w{1,5}$/;
const URL_PASSWORD = /:\/\/[^\s/?#@:]*:([^\s/?#@]+)@/;

/** All secret values: of the named variables, passwords inside addresses, and each line of values that have several. */
export function secretValues(sources: SecretSources): string[] {
  const named = sources.extra_names.map(globPattern);
  const found: string[] = (sources.values ?? []).filter((value) => isNamedSecret(value.trim()));
  for (const [name, value = ''] of Object.entries(sources.env)) {
    const password = URL_PASSWORD.exec(value)?.[1];
    if (password !== undefined && isSecret(password)) found.push(password);
    const trimmed = value.trim();
    const isNamed = named.some((pattern) => pattern.test(name)) && isNamedSecret(trimmed);
    if (isNamed || (isSecretName(name) && isSecret(trimmed) && !FILE_PATH.test(trimmed))) found.push(value);
  }
  return [...new Set(found.flatMap(withLines))];
}

function withLines(value: string): string[] {
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  if (lines.length === 1) return [value.trim()];
  return [value.trim(), ...lines.filter((line) => line.length >= SHORTEST_LINE && !isMarker(line))];
}

// The frame of a PEM block is no secret, and masking it would hide every other block's.
function isMarker(line: string): boolean {
  return line.startsWith('-----') && line.endsWith('-----');
}

function isSecretName(name: string): boolean {
  const plain = name.toUpperCase().replaceAll('-', '_');
  if (PUBLIC_NAMES.test(plain)) return false;
  if (SECRET_NAMES.some((pattern) => pattern.test(plain))) return true;
  return LIKELY_NAMES.some((pattern) => pattern.test(plain)) && !HARMLESS.test(plain);
}

function isSecret(value: string): boolean {
  return value.length >= SHORTEST && isNamedSecret(value) && !COMMON_WORDS.has(value.toLowerCase());
}

function isNamedSecret(value: string): boolean {
  if (value.length < SHORTEST_NAMED || /^(.)\1*$/s.test(value)) return false;
  return !['true', 'false', 'null', 'none'].includes(value.toLowerCase()) && !'[redacted]'.includes(value);
}

function globPattern(glob: string): RegExp {
  const source = glob
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 'is');
}

/** The forms of one value that are masked as they stand. */
export function spellings(value: string): string[] {
  const text = value.toWellFormed();
  const json = JSON.stringify(text).slice(1, -1);
  const encoded = encodeURIComponent(text);
  const strict = encoded.replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const urls = [encoded, strict, strict.replaceAll('%20', '+'), encodeURI(text)];
  const hex = Buffer.from(text, 'utf8').toString('hex');
  const texts = [
    ...jsonForms(text),
    ...jsonForms(json),
    ...jsonForms(json.replaceAll('/', String.raw`\/`)),
    ...urls,
    ...urls.map((url) => url.replaceAll(/%[0-9A-F]{2}/g, (escape) => escape.toLowerCase())),
    text.replaceAll(/[&<>"']/g, (character) => HTML[character] ?? character),
    hex,
    hex.toUpperCase(),
    Buffer.from(text, 'utf8').toString('latin1'), // streams of bytes are searched as Latin-1
  ];
  return [...new Set(texts)];
}

const HTML: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

// As it stands, and as JSON escapes it once more, with and without letters beyond ASCII.
function jsonForms(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1);
  const escape = (unit: string): string => String.raw`\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const ascii = json.replaceAll(/[^\0-\x7f]/g, escape);
  return [text, json, ascii, ascii.replaceAll(/\\u[0-9a-f]{4}/g, (unit) => `\\u${unit.slice(2).toUpperCase()}`)];
}

/** The parts of the value's base64 text that do not depend on what stands around it: one for each alignment and alphabet. */
export function base64Cores(value: string): string[] {
  const bytes = Buffer.from(value.toWellFormed(), 'utf8');
  const cores = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
  const safe = cores.map((core) => core.replaceAll('+', '-').replaceAll('/', '_'));
  return [...new Set([...cores, ...safe])].filter((core) => core.length >= SHORTEST_LINE);
}
