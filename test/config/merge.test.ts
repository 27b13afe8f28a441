import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { linesOf, parse } from './codecs.ts'

const BASE = `agents:
  one: &one { protocol: zot, command: zot, args: [rpc], retries: 1, pool: { max: 2 } }
  two: &two { protocol: zot, command: zot, cwd: /two, retries: 2 }
`

describe('merge keys', () => {
  test('give a table what it does not have itself, the first merged one before later ones', () => {
    const config = parse(`${BASE}  three: { <<: [*one, *two], args: [] }\n  four: { args: [x], <<: *two }\n`)
    expect(config.agents.get('three')).toMatchObject({
      command: 'zot',
      args: [],
      cwd: '/two',
      pool: { max: 2 },
      options: { retries: 1 },
    })
    expect(config.agents.get('four')).toMatchObject({ args: ['x'], cwd: '/two', options: { retries: 2 } })
  })

  test('merge in merged tables, and in every section', () => {
    const text = `${BASE}  three: &three { <<: *two, retries: 3 }
  four: { <<: *three }
limits: &limits { idle: 1m }
routes:
  - { agent: one, limits: { <<: *limits, total: 2m } }
`
    const config = parse(text)
    expect(config.agents.get('four')).toMatchObject({ cwd: '/two', options: { retries: 3 } })
    expect(config.routes[0]!.limits).toEqual({ idle: 60_000, total: 120_000 })
  })

  test('bring variables, which are read and hidden as elsewhere', () => {
    const text = `agents:
  one: &one { protocol: zot, command: zot, env: &env { KEY: "\${KEY}" }, retries: "\${R}" }
  two: { <<: *one, args: [] }
  three: { protocol: zot, command: zot, env: { <<: *env, MORE: x } }
`
    const config = parse(text, { KEY: 'secret-value', R: '4' })
    expect(config.agents.get('two')).toMatchObject({ env: { KEY: 'secret-value' }, options: { retries: 4 } })
    expect(config.agents.get('three')).toMatchObject({ env: { KEY: 'secret-value', MORE: 'x' } })
    expect(config.redact('a secret-value')).toBe(`a \${KEY}`)
  })

  test('show what is wrong where it is written', () => {
    const text = `agents:
  one: { protocol: zot, command: zot, limits: &limits { idle: soon } }
  two: { <<: { protocol: zot, comand: x }, command: zot }
  three: { protocol: zot, command: zot, limits: { <<: *limits } }
`
    const wrong = 'must be a time up to 24d, such as 500ms, 30s, 10m, 2h or a number of milliseconds, and not 0'
    expect(linesOf(text)).toEqual([
      `turnpike.yaml:2:63 agents.one.limits.idle: ${wrong}`,
      `turnpike.yaml:2:63 agents.three.limits.idle: ${wrong}`,
      'turnpike.yaml:3:31 agents.two.comand: unknown key; did you mean "command"?',
    ])
  })

  test('name a variable that is not set in a merged table', () => {
    expect(linesOf(`agents:\n  one: { <<: { protocol: "\${P}" }, command: zot }\n`)).toEqual([
      `turnpike.yaml:2:26 agents.one.<<.protocol: the environment variable P is not set; set it, or write \${P:-default}`,
    ])
  })

  test.each(['x', '[*one, x]', '3', 'null'])('cannot merge %s', (value) => {
    expect(linesOf(`${BASE}  three: { <<: ${value}, args: [] }\n`)).toEqual([
      'turnpike.yaml:4:12: "<<" merges tables: give it an alias of one, or a list of aliases',
    ])
  })

  test('are plain keys in quotes', () => {
    expect(linesOf(`agents:\n  one: { "<<": x, protocol: zot, command: zot }\n`)[0]).toMatch(
      /^turnpike.yaml:2:10 agents.one.<<: unknown key/,
    )
  })

  test('hide variables of an aliased table where a message is about it', () => {
    const text = `agents:
  one: { protocol: agentproc, command: x, env: &env { A: "\${A}" } }
  two: { protocol: agentproc, profile: p.yaml, env: *env }
`
    expect(linesOf(text, { A: 'sk-secret' }).join()).not.toContain('sk-secret')
  })

  test('say the same as the keys written out', () => {
    const keys = fc.uniqueArray(fc.constantFrom('idle', 'total', 'ask', 'start'), { maxLength: 4 })
    fc.assert(
      fc.property(keys, keys, keys, fc.boolean(), (own, first, second, before) => {
        const table = (names: string[], ms: number): Record<string, number> =>
          Object.fromEntries(names.map((name) => [name, ms]))
        const flow = (names: string[], ms: number): string => names.map((name) => `${name}: ${ms}`).join(', ')
        const parts = ['<<: [*first, *second]', flow(own, 3)].filter((part) => part !== '')
        if (!before) parts.reverse()
        const text = `agents:
  a: { protocol: zot, command: x, limits: &first { ${flow(first, 1)} } }
  b: { protocol: zot, command: x, limits: &second { ${flow(second, 2)} } }
routes: [{ agent: a, limits: { ${parts.join(', ')} } }]
`
        expect(parse(text).routes[0]!.limits).toEqual({ ...table(second, 2), ...table(first, 1), ...table(own, 3) })
      }),
    )
  })
})
