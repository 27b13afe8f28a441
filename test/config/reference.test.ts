import { expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { formatDuration } from '../../src/config/duration.ts'
import { DEFAULT_LIMITS } from '../../src/config/limits.ts'
import { fileSchema } from '../../src/config/schema.ts'
import { rows } from './rows.ts'

/** What a schema is made of, as far as it is read here. */
interface Schema {
  _zod: {
    def: {
      type: string
      shape?: Record<string, Schema>
      innerType?: Schema
      element?: Schema
      valueType?: Schema
      in?: Schema
      defaultValue?: unknown
    }
  }
}

/** Every key of a schema with its default; keys of objects that are not objects themselves only. */
function* keysOf(schema: Schema, path: string, byDefault?: unknown): Generator<[path: string, byDefault: unknown]> {
  const { type, shape, innerType, element, valueType, defaultValue, in: input } = schema._zod.def
  if (type === 'object') {
    for (const [name, inner] of Object.entries(shape!)) yield* keysOf(inner, path === '' ? name : `${path}.${name}`)
  } else if (type === 'default' || type === 'prefault') yield* keysOf(innerType!, path, defaultValue)
  else if (type === 'optional') yield* keysOf(innerType!, path, byDefault)
  else if (type === 'array' && element!._zod.def.type === 'object') {
    yield [path, byDefault]
    yield* keysOf(element!, `${path}[]`)
  } else if (type === 'record' && valueType!._zod.def.type === 'object') yield* keysOf(valueType!, `${path}.NAME`)
  else if (type === 'pipe' && input!._zod.def.type === 'object') yield* keysOf(input!, path, byDefault)
  else yield [path, byDefault]
}

const LIMITED = /^(?:agents\.NAME|routes\[\])\.limits/

test('docs/configuration.md has every key of the schema, and no other', () => {
  const keys = [...keysOf(fileSchema as unknown as Schema, '')].map(([path]) =>
    path.replace(/(\.limits)\.\w+$/, (all, short) => (LIMITED.test(path) ? short : all)),
  )
  const written = rows
    .map(([, key]) => key!)
    .filter((key) => /^(?:server|agents|routes|limits|store|cluster|telemetry|log|default)\b/.test(key))
  expect(written.toSorted()).toEqual([...new Set(keys)].toSorted())
})

test('docs/configuration.md has every default', () => {
  const defaults = new Map<string, unknown>([
    ...keysOf(fileSchema as unknown as Schema, ''),
    ...Object.entries(DEFAULT_LIMITS).map(([name, limit]) => [`limits.${name}`, limit] as const),
  ])
  const wrong = rows.flatMap(([, key, value, written]) => {
    const byDefault = defaults.get(key!)
    if (!defaults.has(key!) || (byDefault === undefined && !/^\d/.test(written!))) return []
    const shown =
      value!.startsWith('time') && typeof byDefault === 'number'
        ? formatDuration(byDefault)
        : typeof byDefault === 'string'
          ? byDefault
          : value === 'size'
            ? `${Number(byDefault) / 1024 / 1024}MiB`
            : JSON.stringify(byDefault)
    return shown === written ? [] : [`${key}: ${written} should be ${shown}`]
  })
  expect(wrong).toEqual([])
})

test('docs/configuration.md has every key of the protocols', async () => {
  const codecs = await loadCodecs()
  const keys = Object.values(codecs).flatMap(({ name, options }) => options.keys.map((key) => `${name}.${key}`))
  const written = rows.filter(([, protocol]) => protocol! in codecs).map(([, protocol, key]) => `${protocol}.${key}`)
  expect(new Set(written)).toEqual(new Set(keys.filter((key) => !key.startsWith('qwen-code.'))))
})
