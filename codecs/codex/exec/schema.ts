import * as v from 'valibot'

/** An item of a turn, in `item.started`, `item.updated` and `item.completed`. */
export const Item = v.looseObject({
  id: v.string(),
  type: v.string(),
  text: v.optional(v.string()),
  message: v.optional(v.string()),
  status: v.optional(v.string()),
  items: v.optional(v.array(v.looseObject({ text: v.string(), completed: v.optional(v.boolean()) }))),
})

/** An item of a turn. */
export type Item = v.InferOutput<typeof Item>

/** One line of `codex exec --json`. */
export const Line = v.variant('type', [
  v.looseObject({ type: v.literal('thread.started'), thread_id: v.pipe(v.string(), v.nonEmpty()) }),
  v.looseObject({ type: v.literal('turn.started') }),
  v.looseObject({ type: v.picklist(['item.started', 'item.updated', 'item.completed']), item: Item }),
  v.looseObject({ type: v.literal('turn.completed'), usage: v.optional(v.unknown()) }),
  v.looseObject({ type: v.literal('turn.failed'), error: v.optional(v.looseObject({ message: v.string() })) }),
  v.looseObject({ type: v.literal('error'), message: v.string() }),
])

/** The types of the lines. */
export const TYPES: ReadonlySet<unknown> = new Set([
  'thread.started',
  'turn.started',
  'item.started',
  'item.updated',
  'item.completed',
  'turn.completed',
  'turn.failed',
  'error',
])
