import * as v from 'valibot'
import { looseObject } from '../../../../src/codec-kit/index.ts'
import { type JsonText, member, parseObject, quote } from '../../../../src/model/index.ts'

const maybe = <const S extends v.GenericSchema>(schema: S) => v.nullish(schema)

/** A member of an item, whose other types may have one of that name with another meaning: then it is none. */
const own = <const S extends v.GenericSchema>(schema: S) => v.fallback(v.nullish(schema), undefined)
const texts = v.array(
  looseObject({
    text: maybe(v.string()),
    refusal: maybe(v.string()),
    annotations: v.optional(v.unknown()),
    logprobs: v.optional(v.unknown()),
  }),
)

/** An output item, as far as its type says how to read it. */
const Item = looseObject({
  type: v.string(),
  id: own(v.string()),
  call_id: own(v.string()),
  name: own(v.string()),
  namespace: own(v.string()),
  arguments: own(v.string()),
  input: own(v.string()),
  phase: own(v.string()),
  content: own(texts),
  summary: own(texts),
  encrypted_content: own(v.string()),
  error: v.optional(v.unknown()),
})

/** An output item of an answer. */
export type Item = v.InferOutput<typeof Item>

const Body = looseObject({
  status: maybe(v.string()),
  output: maybe(v.array(Item)),
  usage: maybe(looseObject({})),
  incomplete_details: maybe(looseObject({ reason: maybe(v.string()) })),
})

/** A whole response. */
export type Body = v.InferOutput<typeof Body>

const Event = looseObject({
  type: v.string(),
  output_index: maybe(v.number()),
  delta: maybe(v.string()),
  summary_index: maybe(v.number()),
  content_index: maybe(v.number()),
  item: maybe(Item),
  response: maybe(Body),
})

/** An event of a stream; a whole answer is read as the event that ends one. */
export interface ServerEvent {
  type: string
  /** The place of the output item that it is about. */
  at: number
  delta: string
  summary: number
  /** The part of the item's content that it is about. */
  part: number
  item: Item | undefined
  body: Body | undefined
  /** The whole event, or the whole answer. */
  json: JsonText
}

/**
 * Begins events whose content also comes with another event or with the end of an item. Nothing of them is read: they are
 * not parsed.
 */
const REPEATED =
  /^\{"type": ?"response\.(?:created|queued|in_progress|content_part\.(?:added|done)|reasoning_summary_part\.(?:added|done)|[a-z_]+_call\.(?:in_progress|completed|failed|searching|interpreting|generating)|mcp_call_arguments\.(?:delta|done)|(?:output_text|refusal|reasoning_text|reasoning_summary_text|function_call_arguments|custom_tool_call_input)\.done)"/

/** Reads an event of a stream, or a whole answer; `repeated` when nothing of it is read, undefined for what is neither. */
export function readEvent(data: string): ServerEvent | 'repeated' | undefined {
  if (REPEATED.test(data)) return 'repeated'
  const value = parseObject(data)
  if (!value) return undefined
  if (value['object'] === 'response') return wholeAnswer(data, value)
  const { type: named } = value
  if (typeof named === 'string' && REPEATED.test(`{"type":${quote(named)}`)) return 'repeated'
  const checked = v.safeParse(Event, value)
  if (!checked.success) return undefined
  const {
    type,
    output_index: at,
    delta,
    summary_index: summary,
    content_index: part,
    item,
    response: body,
  } = checked.output
  return {
    type,
    at: at ?? 0,
    delta: delta ?? '',
    summary: summary ?? 0,
    part: part ?? 0,
    item: item ?? undefined,
    body: body ?? undefined,
    json: data,
  }
}

/** The response of an event, as it came. */
export function bodyJson({ json }: Pick<ServerEvent, 'json'>): JsonText {
  return member(json, 'object') === '"response"' ? json : (member(json, 'response') ?? '{}')
}

function wholeAnswer(json: JsonText, value: object): ServerEvent | undefined {
  const checked = v.safeParse(Body, value)
  if (!checked.success) return undefined
  const body = checked.output
  const type = `response.${body.status ?? 'completed'}`
  return {
    type,
    at: 0,
    delta: '',
    summary: 0,
    part: 0,
    item: undefined,
    body,
    json,
  }
}
