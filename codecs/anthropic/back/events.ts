import * as v from 'valibot'
import { looseObject } from '../../../src/codec-kit/index.ts'
import { parseObject } from '../../../src/model/index.ts'

const maybe = <const S extends v.GenericSchema>(schema: S) => v.nullish(schema)

const index = v.number()
const usage = maybe(looseObject({}))
const stopped = { stop_reason: maybe(v.string()) }

/** A block of an answer: whole, or as far as its beginning tells. */
const Block = looseObject({
  type: v.string(),
  id: maybe(v.string()),
  tool_use_id: maybe(v.string()),
  name: maybe(v.string()),
  text: maybe(v.string()),
  thinking: maybe(v.string()),
  signature: maybe(v.string()),
  data: maybe(v.string()),
  is_error: maybe(v.boolean()),
})
/** A block as it begins. */
export type WireBlock = v.InferOutput<typeof Block>

const Delta = looseObject({
  type: v.string(),
  text: maybe(v.string()),
  thinking: maybe(v.string()),
  signature: maybe(v.string()),
  partial_json: maybe(v.string()),
})

/** A piece of a block. */
export type WireDelta = v.InferOutput<typeof Delta>

/** The events of a streamed answer that are read, and a whole answer, which is not part of a stream. */
const SCHEMAS = {
  message_start: looseObject({ type: v.literal('message_start'), message: looseObject({ usage }) }),
  content_block_start: looseObject({ type: v.literal('content_block_start'), index, content_block: Block }),
  content_block_delta: looseObject({ type: v.literal('content_block_delta'), index, delta: Delta }),
  content_block_stop: looseObject({ type: v.literal('content_block_stop'), index }),
  message_delta: looseObject({ type: v.literal('message_delta'), delta: looseObject(stopped), usage }),
  message_stop: looseObject({ type: v.literal('message_stop') }),
  ping: looseObject({ type: v.literal('ping') }),
  error: looseObject({ type: v.literal('error') }),
  message: looseObject({ type: v.literal('message'), content: v.array(Block), ...stopped, usage }),
} as const
/** An event that is read. */
export type WireEvent = v.InferOutput<(typeof SCHEMAS)[keyof typeof SCHEMAS]>

/** The event that a text is; `unknown` for one of a later version, undefined for none. */
export function readEvent(data: string): WireEvent | 'unknown' | undefined {
  const value = parseObject(data)
  const type = value?.['type']
  if (typeof type !== 'string') return undefined
  if (!Object.hasOwn(SCHEMAS, type)) return 'unknown'
  const checked = v.safeParse(SCHEMAS[type as keyof typeof SCHEMAS], value)
  return checked.success ? checked.output : undefined
}
