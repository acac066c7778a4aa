// What tokens look like when their value is not known to us. A shape is tried where one of its prefixes stands;
// patterns are sticky, look to the left only, and are bounded until they match, so that a stream can decide on them.

export interface TokenShape {
  name: string;
  /** Texts of at least three characters that a match starts with; in lower case when `ignore_case`. */
  prefixes: string[];
  ignore_case?: true;
  /** What must stand to the left. */
  boundary?: RegExp;
  /** What is kept, from the prefix on; absent: the prefix belongs to the secret. */
  lead?: RegExp;
  /** What is replaced. */
  body: RegExp;
  /** What still belongs to the secret when a match is cut by the end of a chunk. */
  rest: RegExp;
  /** Characters from the prefix on that must be known before a failed `body` counts, where that is more than usual. */
  needs?: number;
}

/** No match needs more characters than this to be recognised, unless its shape says so. */
export const SHAPE_REACH = 1280;

// No word before, but the letter of an escape (`\n`) and the end of a terminal colour are none.
const NO_WORD_BEFORE = /(?<![A-Za-z0-9_-])|(?<=\\[nrtbf])|(?<=\[[\d;]{0,12}m)/y;
const WORD = /[A-Za-z0-9_-]*/y;
const VALUE = /[A-Za-z0-9._~+/=-]*/y;
// Ends with what follows it, so it is never cut.
const NOTHING = /(?:)/y;
const PEM_REACH = 16_384;

export const TOKEN_SHAPES: readonly TokenShape[] = [
  { name: 'GitHub token', prefixes: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], body: /gh[pousr]_[A-Za-z0-9_]{20,}/y, rest: WORD },
  { name: 'GitHub fine-grained token', prefixes: ['github_pat_'], body: /github_pat_[A-Za-z0-9_]{20,}/y, rest: WORD },
  { name: 'GitLab token', prefixes: ['glpat-', 'gldt-', 'glrt-', 'glptt-', 'glcbt-', 'glsoat-', 'glagent-'], body: /gl(?:pat|dt|rt|ptt|cbt|soat|agent)-[A-Za-z0-9_.-]{16,}/y, rest: VALUE },
  { name: 'Anthropic key', prefixes: ['sk-ant-'], body: /sk-ant-[A-Za-z0-9_-]{8,}/y, rest: WORD },
  { name: 'key with the sk prefix', prefixes: ['sk-'], boundary: NO_WORD_BEFORE, body: /sk-(?=[A-Za-z0-9_-]{0,200}\d)[A-Za-z0-9_-]{16,}/y, rest: WORD },
  { name: 'Stripe key', prefixes: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'], body: /[sr]k_(?:live|test)_[A-Za-z0-9]{16,}/y, rest: WORD },
  { name: 'AWS key id', prefixes: ['AKIA', 'ASIA'], body: /A[KS]IA[A-Z0-9]{16,}/y, rest: WORD },
  { name: 'AWS secret key', prefixes: ['aws_secret_access_key'], ignore_case: true, lead: /aws_secret_access_key[\\"'\s:=]{1,12}/iy, body: /[A-Za-z0-9/+=]{20,}/y, rest: VALUE },
  { name: 'Slack token', prefixes: ['xoxa-', 'xoxb-', 'xoxe-', 'xoxe.', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-', 'xapp-'], body: /(?:xox[abeoprs]|xapp)[-.][A-Za-z0-9.-]{10,}/y, rest: VALUE },
  { name: 'Slack webhook', prefixes: ['hooks.slack.com/'], lead: /hooks\.slack\.com\/(?:services|workflows|triggers)\//y, body: /[A-Za-z0-9/_-]{10,}/y, rest: VALUE },
  { name: 'Discord webhook', prefixes: ['/api/webhooks/'], lead: /\/api\/webhooks\//y, body: /\d{10,25}\/[A-Za-z0-9_-]{20,}/y, rest: WORD },
  { name: 'npm token', prefixes: ['npm_'], body: /npm_[A-Za-z0-9]{36,}/y, rest: WORD },
  { name: 'PyPI token', prefixes: ['pypi-'], body: /pypi-[A-Za-z0-9_-]{40,}/y, rest: WORD },
  { name: 'Google API key', prefixes: ['AIza'], body: /AIza[A-Za-z0-9_-]{30,}/y, rest: WORD },
  { name: 'Google OAuth token', prefixes: ['ya29.', 'GOCSPX-'], body: /(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,}/y, rest: WORD },
  { name: 'Hugging Face token', prefixes: ['hf_'], boundary: NO_WORD_BEFORE, body: /hf_[A-Za-z0-9]{30,}/y, rest: WORD },
  { name: 'SendGrid key', prefixes: ['SG.'], boundary: NO_WORD_BEFORE, body: /SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}/y, rest: WORD },
  { name: 'DigitalOcean token', prefixes: ['dop_v1_', 'doo_v1_', 'dor_v1_'], body: /do[por]_v1_[a-f0-9]{32,}/y, rest: WORD },
  { name: 'Azure account key', prefixes: ['AccountKey='], lead: /AccountKey=/y, body: /[A-Za-z0-9+/=]{40,}/y, rest: VALUE },
  { name: 'JSON Web Token', prefixes: ['eyJ'], boundary: NO_WORD_BEFORE, body: /eyJ[A-Za-z0-9_-]{8,600}\.eyJ[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)*/y, rest: VALUE },
  { name: 'password in a URL', prefixes: ['://'], lead: /:\/\/[^\s/?#"'@:\\[\]<>{}$]{0,200}:/y, body: /[^\s/?#"'@\\[\]<>{}$]{1,500}(?=@)/y, rest: VALUE },
  { name: 'Authorization header', prefixes: ['authorization'], ignore_case: true, lead: /authorization[\\"'\s:=,[\]]{1,12}(?:bearer|basic|token|digest|negotiate|apikey|bot)[\\"'\s:,]{1,6}/iy, body: /(?=[a-z._~-]{0,200}[0-9A-Z+/=])[A-Za-z0-9._~+/=-]{8,}/y, rest: VALUE },
  { name: 'Authorization header without a scheme', prefixes: ['authorization'], ignore_case: true, lead: /authorization[\\"'\s:=,[\]]{1,12}/iy, body: /(?=[A-Za-z._~+/=-]{0,200}\d)[A-Za-z0-9._~+/=-]{16,}/y, rest: VALUE },
  { name: 'bearer token', prefixes: ['bearer'], ignore_case: true, boundary: NO_WORD_BEFORE, lead: /bearer\s{1,4}/iy, body: /(?=[A-Za-z._~+/=-]{0,200}\d)[A-Za-z0-9._~+/=-]{20,}/y, rest: VALUE },
  { name: 'API key header', prefixes: ['api-key', 'api_key', 'apikey'], ignore_case: true, lead: /api[-_]?key[\\"'\s:=,[\]]{1,12}/iy, body: /(?=[A-Za-z._~+/=-]{0,200}\d)[A-Za-z0-9._~+/=-]{16,}/y, rest: VALUE },
  { name: 'token in a query or a form', prefixes: ['access_token', 'refresh_token', 'private_token', 'client_secret'], ignore_case: true, lead: /(?:(?:access|refresh|private)_token|client_secret)[\\"'\s:=]{1,12}/iy, body: /(?=[A-Za-z._~+/=-]{0,200}\d)[A-Za-z0-9._~+/=-]{16,}/y, rest: VALUE },
  { name: 'private key', prefixes: ['-----BEGIN'], lead: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y, body: /(?:(?!-----BEGIN)[\s\S]){1,16000}?(?=-----END)/y, rest: NOTHING, needs: PEM_REACH },
  { name: 'private key that is cut', prefixes: ['-----BEGIN'], lead: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y, body: /(?:[A-Za-z0-9+/=\s]|\\+[rn])+/y, rest: /(?:[A-Za-z0-9+/=\s]|\\+[rn])*/y, needs: PEM_REACH },
]; // prettier-ignore
