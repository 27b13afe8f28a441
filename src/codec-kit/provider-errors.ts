import { type ErrorCode, type Fault, isRecord, type JsonText, parse } from '../model/index.ts'

/**
 * The error code of a model provider's HTTP status. Other failing statuses mean that it refused the request:
 * `provider-error`.
 */
const BY_STATUS: ReadonlyMap<number, ErrorCode> = new Map([
  [401, 'provider-auth'],
  [402, 'provider-auth'],
  [403, 'provider-auth'],
  [407, 'provider-auth'],
  [408, 'provider-down'],
  [413, 'payload-too-large'],
  [429, 'provider-rate-limit'],
])

/**
 * Patterns of a failing status in an error text, the most reliable first: a named field or word, its reason phrase, the
 * beginning of the text or of what follows a colon or an opening bracket. A bare number elsewhere is not a status.
 */
const STATUSES: readonly RegExp[] = [
  /\bhttp(?:\/[\d.]+)?(?:[ _-]?(?:error|status|code))*["']?\s*(?:[:=]\s*)?["']?([45]\d\d)\b/i,
  /\b(?:status|statusCode|status_code|error[ _-]?code|api error|upstream|code)["']?\s*(?:[:=]\s*)?["'(]?([45]\d\d)\b/i,
  /\b([45]\d\d)\b[\s:,-]*(?:bad request|unauthori[sz]ed|payment required|forbidden|not found|request timeout|payload too large|unprocessable|too many requests|internal server error|bad gateway|service unavailable|gateway time-?out)/i,
  /(?:^|\n|: +|[[(]\s*)([45]\d\d)(?=[\s\]):,;.{-]|$)(?!\s*(?:ms|s|seconds|tokens|bytes|chars)\b)/,
]

/** Words of an error text whose status is not known, first match first. */
const WORDS: readonly (readonly [ErrorCode, RegExp])[] = [
  [
    'payload-too-large',
    /context[ _](?:length|window)|maximum context|context is too (?:large|long)|(?:prompt|input|request)(?: is)? too (?:large|long)|request_too_large|too many (?:input )?tokens/i,
  ],
  [
    'provider-rate-limit',
    /rate[ _-]?limit|too many requests|quota|resource[ _]?exhausted|throttl(?:ed|ing)|slow down please|tokens per min|requests per min/i,
  ],
  [
    'provider-auth',
    /\bauthentication\b|\bunauthori[sz]ed\b|\bunauthenticated\b|api[ _-]?key|access token|not logged in|\bcredentials?\b|credit balance|billing|permission_(?:error|denied)/i,
  ],
  [
    'provider-down',
    /overloaded|internal server error|server[ _]error|server had an error|service (?:is )?(?:temporarily )?unavailable|bad gateway|gateway time-?out|at capacity|provider error|llm connector error/i,
  ],
  [
    'provider-down',
    /connection (?:error|refused|reset|closed|aborted|lost|timed out)|\bE(?:CONN(?:REFUSED|RESET|ABORTED)|TIMEDOUT|NOTFOUND|AI_AGAIN|PIPE|HOSTUNREACH|NETUNREACH)\b|UND_ERR_|socket hang up|fetch failed|other side closed|network error|no such host|error sending request|i\/o timeout|(?:^|[\s:[])(?:Post|Get) "https?:/i,
  ],
  [
    'provider-down',
    /(?:^|[:[]\s*)terminated\b|(?:request|stream|connection|read|timeout error)[ :].{0,40}tim(?:ed out|e ?out)|^tim(?:ed out|eout)|unexpected EOF|model stream ended|stream (?:ended|closed|disconnected)|incomplete chunked/i,
  ],
]

/** Phrases of agents for an error of their provider, when its text does not say which error. */
const PROVIDER =
  /\bapi error\b|\bprovider(?:'s)? (?:returned|refused|rejected|failed)|(?:^|[\s:[(])(?:openai|anthropic|gemini|google|vertex|azure|bedrock|openrouter|deepseek|groq|mistral|cohere|xai|ollama|moonshot|kimi|qwen|dashscope|zhipu|together|fireworks)[\w-]*: /i

/** The part of a text that is searched, in UTF-16 units: errors name their cause early. */
const LOOKED_AT = 4000

/**
 * The words of an error as servers write it: an object with `error`, itself an object with a `message` or a text; with
 * `message`; with `detail`, a text or a list of mistakes, as servers in Python have it; or only a text. Empty for none.
 */
export function wordsOfError(json: JsonText): string {
  const given = parse(json)
  const body = isRecord(given) ? given : undefined
  const held = isRecord(body?.['error']) ? body['error'] : body
  return textOf(held?.['message']) ?? textOf(body?.['error'] ?? given) ?? detailOf(body?.['detail'])
}

function detailOf(detail: unknown): string {
  const all: readonly unknown[] = Array.isArray(detail) ? detail : [detail]
  return all.map((one) => textOf(isRecord(one) ? one['msg'] : one) ?? '').join('; ')
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The error that a model provider's failing HTTP status stands for. */
export function codeOfProviderStatus(status: number): ErrorCode {
  return BY_STATUS.get(status) ?? (status >= 500 ? 'provider-down' : 'provider-error')
}

/**
 * The code of an error that an agent passes on from its model provider, found by its text, with any text around it.
 * Undefined when nothing in the text points to a provider.
 */
export function codeOfProviderText(text: string): ErrorCode | undefined {
  const said = text.slice(0, LOOKED_AT)
  const status = statusOf(said)
  const byWords = WORDS.find(([, words]) => words.test(said))?.[0]
  if (status === undefined) return byWords ?? (PROVIDER.test(said) ? 'provider-error' : undefined)
  const byStatus = codeOfProviderStatus(status)
  // For a refused request the words say whether it was too large, rate-limited or not authenticated.
  return byStatus === 'provider-error' && byWords !== undefined && byWords !== 'provider-down' ? byWords : byStatus
}

/**
 * True when a failure of a model provider would be taken for another error on a wire that says its words alone. The
 * gateway's own failures say in their words what they are.
 */
export function losesCode(why: Fault | undefined): boolean {
  return why?.code.startsWith('provider-') === true && codeOfProviderText(why.message) !== why.code
}

function statusOf(text: string): number | undefined {
  for (const pattern of STATUSES) {
    const found = pattern.exec(text)?.[1]
    if (found !== undefined) return Number(found)
  }
  return undefined
}
