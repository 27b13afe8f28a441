import * as v from 'valibot'
import { flag, number, text } from '../../src/codec-kit/index.ts'
import {
  type Ask,
  ERROR_CODES,
  type ErrorCode,
  EXECUTORS,
  type Ext,
  type Fault,
  ITEMS,
  isRetryable,
  LOSS_KINDS,
  LOSS_REASONS,
  type Loss,
  object,
  type Part,
  type Question,
  quote,
  ROLES,
  STOPS,
  TOOL_STATUSES,
  type Usage,
} from '../../src/model/index.ts'
import { PROTOCOL } from './wire.ts'

/** Schemas of the values that messages are made of. JSON texts were sliced out before: they are strings here. */

/** Any JSON, as text. */
export const raw = v.string('must be there')
/** An amount of time or of money; whatever waits for it, sums it up or says it in a header can take it. */
export const amount = v.pipe(
  number,
  v.check((n) => n >= 0 && n <= Number.MAX_SAFE_INTEGER, `must be from 0 to ${Number.MAX_SAFE_INTEGER}`),
)
/** A count of things, such as tokens or bytes. */
export const count = v.pipe(amount, v.integer('must be a whole number'))
/** Strings. */
export const texts = v.array(text, 'must be an array')

/** The messages of one type, also where several types share a shape. */
export type OfType<M, K> = M extends { type: infer T } ? (K extends T ? M : never) : never
/** The schema of the members of a message, with the names that it knows. */
export type MessageSchema<T> = v.GenericSchema<unknown, T> & { readonly entries: Readonly<Record<string, unknown>> }

/** One of a closed list of words. */
export function oneOf<const T extends readonly string[]>(words: T): v.PicklistSchema<T, string> {
  return v.picklist(words, `must be one of: ${words.join(', ')}`)
}

/** A member that may be absent. */
export function maybe<const S extends v.GenericSchema>(schema: S): v.OptionalSchema<S, undefined> {
  return v.optional(schema)
}

/** An object; members that are not named are left out of what is made of it. */
export function record<const E extends v.ObjectEntries>(entries: E): v.ObjectSchema<E, string> {
  return v.object(entries, 'must be an object')
}

/** A list. */
export function list<const S extends v.GenericSchema>(schema: S): v.ArraySchema<S, string> {
  return v.array(schema, 'must be an array')
}

/** Fields of another protocol that the model has no place for. */
export const ext: v.GenericSchema<unknown, Ext> = record({
  protocol: text,
  json: v.pipe(raw, v.startsWith('{', 'must be an object')),
})

/** The outcome of a tool's run. */
export const status = oneOf(TOOL_STATUSES)
/** The party that runs a tool. */
export const executor = oneOf(EXECUTORS)
/** The author of a message. */
export const role = oneOf(ROLES)
/** The reason why a turn or a step stopped. */
export const stop = oneOf(STOPS)
/** Members of every part. */
const more = { ext: maybe(ext) }

const blob = {
  mime: maybe(text),
  name: maybe(text),
  url: maybe(text),
  ref: maybe(text),
  base64: maybe(text),
  bytes: maybe(count),
}

/** Members of a source of a text. */
export const cited = {
  title: maybe(text),
  url: maybe(text),
  ref: maybe(text),
  quote: maybe(text),
  start: maybe(count),
  end: maybe(count),
}

/** A source of a text. */
export const citation = record({ ...cited, ...more })

/** Opaque data of a provider about its reasoning. */
export const seal = record({ provider: text, kind: maybe(oneOf(['encrypted', 'redacted'])), data: text })

/** The result of a tool as a piece of content, which holds others. */
export const toolReply = v.object({
  type: v.literal('tool-reply'),
  tool: text,
  status,
  parts: v.lazy((): v.GenericSchema<unknown, Part[]> => parts),
  ...more,
})

/** One piece of content. */
export const part: v.GenericSchema<unknown, Part> = v.variant(
  'type',
  [
    v.object({ type: v.literal('text'), text, citations: maybe(list(citation)), ...more }),
    v.object({ type: v.literal('image'), ...blob, ...more }),
    v.object({ type: v.literal('audio'), ...blob, ...more }),
    v.object({ type: v.literal('file'), ...blob, ...more }),
    v.object({ type: v.literal('data'), json: raw, mime: maybe(text), ...more }),
    v.object({
      type: v.literal('reasoning'),
      text,
      seal: maybe(seal),
      ...more,
    }),
    v.object({ type: v.literal('tool-call'), tool: text, name: text, args: raw, ...more }),
    toolReply,
    v.object({ type: v.literal('diff'), path: text, before: v.nullable(text), after: text, ...more }),
  ],
  'must be a part of a known type',
)
/** Content in order. */
export const parts = list(part)

/** Tokens, by kind. A number that is no count is a loss of its own, not of its event (`readCounts`). */
export const usage: v.GenericSchema<unknown, Usage> = record({
  input: maybe(number),
  output: maybe(number),
  reasoning: maybe(number),
  cacheRead: maybe(number),
  cacheWrite: maybe(number),
  total: maybe(number),
  costUsd: maybe(number),
})

const CODES: ReadonlySet<string> = new Set(ERROR_CODES)

function isErrorCode(code: string): code is ErrorCode {
  return CODES.has(code)
}

const FAULT = {
  code: text,
  message: text,
  retryable: maybe(flag),
  retry: maybe(v.literal('fresh-session', 'must be "fresh-session"')),
  retryAfterMs: maybe(amount),
  ext: maybe(ext),
}
const readFault = v.object(FAULT)

function toFault({ code, message, retryable, ...rarer }: v.InferOutput<typeof readFault>): Fault {
  if (isErrorCode(code)) return { code, message, retryable: retryable ?? isRetryable(code), ...rarer }
  const own = { protocol: PROTOCOL, json: object({ code: quote(code) }) }
  return { code: 'internal', message, retryable: retryable ?? false, ext: own, ...rarer }
}

/** An error. A code that is not in the list is `internal`; its own name is kept in `ext`. */
export const fault: v.GenericSchema<unknown, Fault> = v.pipe(record(FAULT), v.transform(toFault))

/** An error that no turn owns, and whether it is the end of its wire. */
export const linkFault: v.GenericSchema<unknown, { fault: Fault; fatal: boolean }> = v.pipe(
  record({ ...FAULT, fatal: maybe(v.literal(true, 'must be true')) }),
  v.transform(({ fatal = false, ...given }) => ({ fault: toFault(given), fatal })),
)

/** An option of an approval. */
export const askOption = record({
  id: text,
  kind: oneOf(['allow', 'deny']),
  scope: oneOf(['once', 'session', 'always']),
  label: maybe(text),
})

/** A question of an agent. */
export const question: v.GenericSchema<unknown, Question> = v.variant(
  'kind',
  [
    v.object({
      kind: v.literal('approval'),
      tool: maybe(text),
      name: text,
      args: raw,
      description: maybe(text),
      options: list(askOption),
      editable: maybe(v.literal(true, 'must be true')),
    }),
    v.object({ kind: v.literal('input'), tool: maybe(text), message: text, schema: maybe(raw) }),
    v.object({ kind: v.literal('client'), method: text, params: raw }),
    v.object({ kind: v.literal('tool'), tool: text }),
  ],
  'must be a question of a known kind',
)

/** A question of an agent, with its id. */
export const askFields = { ask: text, question, deadline: maybe(number) }
/** An open question. */
export const ask: v.GenericSchema<unknown, Ask> = record(askFields)

/** A loss on the way to or from another gateway. */
export const loss: v.GenericSchema<unknown, Loss> = record({
  kind: oneOf(LOSS_KINDS),
  item: oneOf(ITEMS),
  field: maybe(text),
  why: oneOf(LOSS_REASONS),
  count,
})
