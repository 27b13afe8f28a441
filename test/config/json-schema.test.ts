import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { loadCodecs } from '../../codecs/index.ts'
import { configSchema, type ProtocolKeys } from '../../src/config/json-schema.ts'
import { jsonSchema } from '../../src/describe/index.ts'
import { ROOT } from '../kit/gateway.ts'
import { rows } from './rows.ts'

const FILE = join(ROOT, 'turnpike.schema.json')

/** What docs/configuration.md says of a key. */
function described(path: string): string | undefined {
  const short = path.replace(/^((?:agents\.NAME|routes\[\])\.limits)\.(\w+)$/, 'limits.$2')
  const row = rows.find(([, key]) => key === short)
  if (!row) return undefined
  const [, , value, byDefault, effect] = row
  return `${effect} Value: ${value}${byDefault ? `; default ${byDefault}` : ''}.`.trim()
}

async function protocols(): Promise<ProtocolKeys[]> {
  const codecs = Object.values(await loadCodecs()).filter(({ dialects }) =>
    Object.values(dialects).some(({ back }) => back),
  )
  return codecs.map(({ name, dialects, options }) => {
    const schema = jsonSchema(options.schema as never) as { properties?: Record<string, Record<string, unknown>> }
    const ofKey = (key: string): string | undefined => {
      const row = rows.find(([, protocol, named]) => protocol === name && named === key)
      return row && `${row[5]} Value: ${row[3]}${row[4] ? `; default ${row[4]}` : ''}.`
    }
    const keys = options.keys.map((key) => {
      const text = ofKey(key)
      return [key, { ...schema.properties?.[key], ...(text && { description: text }) }]
    })
    return {
      names: [name, ...Object.keys(dialects).map((dialect) => `${name}@${dialect}`)],
      keys: Object.fromEntries(keys),
    }
  })
}

let text: string
beforeAll(async () => {
  text = `${JSON.stringify(configSchema(await protocols(), described), undefined, 1)}\n`
  if (process.env['ACCEPT']) writeFileSync(FILE, text)
})

test('turnpike.schema.json is that of the configuration (ACCEPT=1 writes it)', () => {
  expect(readFileSync(FILE, 'utf8')).toBe(text)
})

test('has a description for every key', () => {
  const missing: string[] = []
  const look = (schema: Record<string, unknown>, path: string): void => {
    for (const [name, one] of Object.entries((schema['properties'] ?? {}) as Record<string, Record<string, unknown>>)) {
      const inner = [one, one['items'], one['additionalProperties']].filter(
        (held) => typeof held === 'object',
      ) as Record<string, unknown>[]
      if (!('description' in one) && !inner.some((held) => 'properties' in held)) missing.push(`${path}.${name}`)
      for (const held of inner) look(held, `${path}.${name}`)
    }
  }
  const schema = JSON.parse(text) as Record<string, Record<string, unknown>>
  look(schema, '')
  expect(missing.filter((key) => !isOfProtocol(key))).toEqual([])
})

/** Keys of protocols are described where their protocol is known. */
function isOfProtocol(key: string): boolean {
  const { allOf } = (
    JSON.parse(text) as {
      properties: { agents: { additionalProperties: { allOf: { then: { properties: object } }[] } } }
    }
  ).properties.agents.additionalProperties
  return allOf.some(
    ({ then }) => `.agents.${key.split('.').at(-1)}` === key && key.split('.').at(-1)! in then.properties,
  )
}

const good = [
  'server: { port: 0 }\nagents: { a: { protocol: zot, command: zot } }\n',
  'server: { port: "$' +
    '{PORT}", limits: { body: 2m } }\nagents: { a: { protocol: agentproc@0.4, command: x, stdin: message } }\n',
  'routes: [{ when: { front: zene }, agent: a, journal: wire, limits: { idle: 30s, queue: 3 } }]\nlimits: { line: 16MiB }\n',
]
const bad = [
  'server: { prot: 0 }\n',
  'server: { port: many }\n',
  'agents: { a: { protocol: zott, command: zot } }\n',
  'agents: { a: { protocol: zot, command: zot, comand: x } }\n',
  'routes: [{ agent: a, journal: all }]\n',
  'agents: { a: { protocol: agentproc, command: x, stdin: 3 } }\n',
]

test.each([...good.map((yaml) => [yaml, true] as const), ...bad.map((yaml) => [yaml, false] as const)])(
  '%j is valid: %s',
  (yaml, valid) => {
    const validate = new Ajv2020({ strict: false }).compile(JSON.parse(text) as object)
    expect({ valid: validate(parse(yaml)), errors: valid ? validate.errors : null }).toEqual({ valid, errors: null })
  },
)

test.each(['acp', 'default', 'models'])('the example %s is valid', (name) => {
  const validate = new Ajv2020({ strict: false }).compile(JSON.parse(text) as object)
  const example = parse(readFileSync(join(ROOT, `examples/${name}.yaml`), 'utf8'), { merge: true }) as unknown
  expect([validate(example), validate.errors]).toEqual([true, null])
})
