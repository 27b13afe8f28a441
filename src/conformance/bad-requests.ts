import { BAD_BYTE, DEEP_JSON, MIB, ODD_JSON, splitCharacters, withBadBytes, withMember } from './bytes.ts'
import type { Behaviour, Demand, HostileFacts, JsonRecord, ScenarioStep } from './kit/index.ts'

/** A good request of a client, as the basis of bad ones. */
export interface GoodRequest {
  /** As JSON, without its line end; empty when the request is in the environment. */
  readonly json: string
  readonly end: string
  /** The same request with another id. */
  named(id: unknown): string
  /** Commands outside of turns, if the protocol has them. */
  readonly cancel: string | undefined
  readonly unknown: string | undefined
}

/** One misbehaviour of a client. */
export interface BadRequest {
  /** Its description, after "the client". */
  readonly does: string
  readonly demand: Demand
  /** The text of the request. */
  readonly prompt?: string
  /** The steps that replace the request. */
  readonly steps: (request: GoodRequest) => readonly ScenarioStep[]
  /** True for an answerable request in an odd form. */
  readonly isRequest: boolean
  /** The input ends after it. */
  readonly isLast?: true
  /** True when it applies to a protocol. */
  readonly applies?: (facts: HostileFacts) => boolean
}

/** Long enough for a program to start: input that is written before it reads arrives in one piece. */
const START_MS = 1_500

const written = (text: string): readonly ScenarioStep[] => (text === '' ? [] : [{ write: text }])
const isJson = ({ turns }: HostileFacts): boolean => turns.request !== undefined
const isLines = (facts: HostileFacts): boolean => facts.form !== 'body' && isJson(facts)

/** The request in another form. */
const odd = (does: string, demand: Demand, change: (request: GoodRequest) => string): BadRequest => ({
  does,
  demand,
  isRequest: true,
  steps: (request) => written(change(request)),
  applies: isJson,
})

/** The request with another text. */
const says = (does: string, demand: Demand, prompt: string, more: Partial<BadRequest> = {}): BadRequest => ({
  does,
  demand,
  prompt,
  isRequest: true,
  steps: ({ json, end }) => written(json + end),
  applies: isJson,
  ...more,
})

/** Input that is not a request. */
const wrong = (does: string, demand: Demand, change: (request: GoodRequest) => string): BadRequest => ({
  does,
  demand,
  isRequest: false,
  steps: (request) => written(change(request)),
})

/** The request with an invalid id. */
const named = (does: string, ...ids: readonly unknown[]): BadRequest => ({
  ...wrong(does, 'honest', (request) => ids.map((id) => request.named(id) + request.end).join('')),
  applies: ({ turns }) => turns.ids !== undefined,
})

const member =
  (name: string, value: string) =>
  ({ json, end }: GoodRequest) =>
    withMember(json, name, value) + end

/** The misbehaviours of clients. A new row needs its name in `BEHAVIOURS`. */
export const BAD_REQUESTS: Readonly<Partial<Record<Behaviour, BadRequest>>> = {
  'answers-well': { ...odd('asks as it should', 'answer', ({ json, end }) => json + end), applies: () => true },
  'says-nothing': { ...wrong('ends its input without a word', 'honest', () => ''), isLast: true, applies: isLines },
  'garbage-line': wrong('writes a line of garbage', 'honest', () => 'garbage {{{ ]\n'),
  'lines-that-are-no-objects': wrong('writes JSON that is no object', 'honest', () => 'null\n7\n"text"\n[1]\n'),
  'raw-nul': wrong('writes a NUL', 'honest', () => '\0\n'),
  'blank-lines-and-crlf': odd(
    'writes blank lines, and CR before every LF',
    'advised',
    ({ json }) => `\r\n\n${json}\r\n`,
  ),
  'byte-order-mark': odd(
    'writes a byte order mark before its request',
    'honest',
    ({ json, end }) => `\ufeff${json}${end}`,
  ),
  'nul-in-text': says('says NUL, as JSON has it', 'advised', 'Reply with the word ok.\0'),
  'invalid-utf-8': says('says a byte that is no UTF-8', 'honest', `Reply with the word ok.${BAD_BYTE}`, {
    steps: ({ json, end }) => [withBadBytes(json + end)],
  }),
  'split-characters': says('writes characters of several bytes in several writes', 'answer', 'Reply with ok: €ä😀.', {
    steps: ({ json, end }) => [{ pause: START_MS }, ...splitCharacters(json + end)],
  }),
  'raw-separators': says(
    'says U+2028, U+2029 and U+0085, which end no line',
    'answer',
    'Reply\u2028with\u2029ok.\u0085',
  ),
  'lone-surrogate': says('says half of a surrogate pair, as JSON has it', 'honest', 'Reply with ok. \ud83d'),
  'prompt-of-1-mib': says('asks 1 MiB at once', 'advised', 'Reply with the word ok. '.padEnd(MIB / 3, '€')),
  'no-newline-at-the-end': {
    ...odd('ends its input without the LF of its request', 'advised', ({ json }) => json),
    isLast: true,
    applies: isLines,
  },
  'half-a-line-then-ends': {
    ...wrong('ends its input in the middle of its request', 'honest', ({ json }) => json.slice(0, json.length / 2)),
    isLast: true,
    applies: isJson,
  },
  'odd-numbers-and-keys': odd(
    'has members with equal keys, `__proto__` and numbers that no double holds',
    'advised',
    member('x-odd', ODD_JSON),
  ),
  'deep-json': odd('has a member that is 10 000 lists deep', 'honest', member('x-deep', DEEP_JSON)),
  'duplicate-keys': odd('has a member twice', 'honest', ({ json, end }) => {
    const [[name, value] = ['x', 0]] = Object.entries(JSON.parse(json) as JsonRecord)
    return withMember(json, name, JSON.stringify(value)) + end
  }),
  'unknown-messages-and-fields': odd(
    'has unknown members and commands',
    'advised',
    ({ json, end, unknown }) =>
      (unknown === undefined ? '' : unknown + end) + withMember(json, 'x-new', '{"a":[1]}') + end,
  ),
  'ids-are-0': named('gives its turn the id 0', 0),
  'ids-are-empty': named('gives its turn an empty id', ''),
  'ids-are-equal': named('gives two turns the same id', 'same', 'same'),
  'cancels-nothing': {
    ...wrong('cancels a turn that does not exist', 'answer', ({ cancel, end }) => cancel! + end),
    applies: ({ turns }) => turns.cancel !== undefined,
  },
}
