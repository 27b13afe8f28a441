import * as v from 'valibot'
import { parseObject } from '../../../src/model/index.ts'

const maybe = <const S extends v.GenericSchema>(schema: S) => v.nullish(schema)

const index = v.number()
const usage = maybe(v.looseObject({}))
const stopped = { stop_reason: maybe(v.string()) }

/** A block of an answer: whole, or as far as its beginning tells. */
const Block = v.looseObject({
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

const Delta = v.looseObject({
  type: v.string(),
  text: maybe(v.string()),
  thinking: maybe(v.string()),
  signature: maybe(v.string()),
  partial_json: maybe(v.string()),
})

/** A piece of a block. */
export type WireDelta = v.InferOutput<typeof Delta>

/** The events of a streamed answer that are read, and a whole answer, which is not part of a stream. */
const Known = v.variant('type', [
  v.looseObject({ type: v.literal('message_start'), message: v.looseObject({ usage }) }),
  v.looseObject({ type: v.literal('content_block_start'), index, content_block: Block }),
  v.looseObject({ type: v.literal('content_block_delta'), index, delta: Delta }),
  v.looseObject({ type: v.literal('content_block_stop'), index }),
  v.looseObject({ type: v.literal('message_delta'), delta: v.looseObject(stopped), usage }),
  v.looseObject({ type: v.literal('message_stop') }),
  v.looseObject({ type: v.literal('ping') }),
  v.looseObject({ type: v.literal('error') }),
  v.looseObject({ type: v.literal('message'), content: v.array(Block), ...stopped, usage }),
])
/** An event that is read. */
export type WireEvent = v.InferOutput<typeof Known>

const TYPES: ReadonlySet<unknown> = new Set(Known.options.map(({ entries }) => entries.type.literal))

/** The event that a text is; `unknown` for one of a later version, undefined for none. */
export function readEvent(data: string): WireEvent | 'unknown' | undefined {
  const value = parseObject(data)
  const type = value?.['type']
  if (typeof type !== 'string') return undefined
  if (!TYPES.has(type)) return 'unknown'
  const checked = v.safeParse(Known, value)
  return checked.success ? checked.output : undefined
}
