/** Reads the offers of agents, which may be of any shape. */
import * as v from 'valibot'
import type { ModelInfo, Offers } from '../../../src/model/index.ts'

const maybe = <S extends v.GenericSchema>(schema: S) => v.optional(v.fallback(v.optional(schema), undefined))

/** A list of what can be read of it; undefined for anything but a list. */
const list = <S extends v.GenericSchema>(schema: S) =>
  maybe(
    v.pipe(
      v.array(v.unknown()),
      v.transform((items) =>
        items.flatMap((item) => {
          const { success, output } = v.safeParse(schema, item)
          return success ? [output] : []
        }),
      ),
    ),
  )

const text = maybe(v.string())
const named = { name: text, description: text }
const Option = v.variant('type', [
  v.object({
    ...named,
    id: v.string(),
    category: text,
    type: v.literal('select'),
    value: v.string(),
    choices: v.array(v.object({ ...named, value: v.string(), group: text })),
  }),
  v.object({ ...named, id: v.string(), category: text, type: v.literal('boolean'), value: v.boolean() }),
])

const Offered = v.object({
  title: text,
  mode: text,
  modes: list(v.object({ ...named, id: v.string() })),
  options: list(Option),
  commands: list(v.object({ name: v.string(), description: text, hint: text })),
})

/** The offers that can be read; members that are absent or cannot be read are not there. */
export function readOffers(value: unknown): Offers {
  const { success, output } = v.safeParse(Offered, value)
  return success ? withoutAbsent(output) : {}
}

/** The ids of models in a list of an agent. */
export function readModels(value: unknown): readonly string[] {
  const Models = v.object({ models: list(v.object({ id: v.string() })) })
  const { success, output } = v.safeParse(Models, value)
  return success ? (output.models ?? []).map(({ id }: Pick<ModelInfo, 'id'>) => id) : []
}

function withoutAbsent(fields: object): Offers {
  return Object.fromEntries(Object.entries(fields).filter(([, field]) => field !== undefined))
}
