import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expand } from '../../src/config/expand.ts'
import { linesOf, parse } from './codecs.ts'

const ENV = { A: 'alpha', EMPTY: '', DOLLAR: '$&$1', REF: `\${A}`, B_2: 'beta' }

describe('expand', () => {
  it.each([
    ['plain', 'plain'],
    [`\${A}`, 'alpha'],
    [`<\${A}|\${B_2}>`, '<alpha|beta>'],
    [`\${NONE:-x y}`, 'x y'],
    [`\${NONE:-}`, ''],
    [`\${EMPTY:-x}`, 'x'],
    [`\${A:-x}`, 'alpha'],
    [`\${EMPTY}`, ''],
    [`\${DOLLAR}`, '$&$1'],
    [`\${REF}`, `\${A}`],
    [`$\${A}`, `\${A}`],
    [`$$\${A}`, `$\${A}`],
    [`\${NONE:-$}{A}`, `$\{A}`],
    ['$A', '$A'],
    ['$', '$'],
    ['{A}', '{A}'],
  ])('makes of %j %j', (text, expanded) => {
    expect(expand(text, ENV)).toMatchObject({ text: expanded, unknown: [], malformed: false })
  })

  it('names what is unknown, each time, and does not look at what every object has', () => {
    expect(expand(`\${X}\${constructor}\${A}`, ENV)).toEqual({
      text: 'alpha',
      inserted: [{ name: 'A', value: 'alpha' }],
      unknown: ['X', 'constructor'],
      malformed: false,
    })
  })

  it.each([`\${`, `\${}`, `\${1A}`, `\${A`, `\${{ A }}`, `\${A:=x}`, `\${A-x}`])('calls %j malformed', (text) => {
    expect(expand(text, ENV)).toMatchObject({ text, malformed: true })
  })

  it('never reads again what it put in', () => {
    const value = fc.string({ unit: fc.constantFrom('$', '{', '}', 'A', 'B', ':', '-', '&', 'x') })
    fc.assert(
      fc.property(value, value, fc.string({ unit: fc.constantFrom('x', '{', '}', ' ') }), (A, B, between) => {
        expect(expand(`\${A}${between}\${B}`, { A, B }).text).toBe(A + between + B)
      }),
    )
  })

  it('leaves texts without a reference, and escapes to the text they came from', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('$', '{', '}', 'A', 'x') }), (text) => {
        // A dollar before the reference would be read as the beginning of the escape.
        fc.pre(!text.includes(`$\${`))
        expect(
          expand(
            text.replaceAll(`\${`, () => `$\${`),
            ENV,
          ).text,
        ).toBe(text)
      }),
    )
  })
})

describe('variables in a file', () => {
  const agent = (rest: string): string => `agents:\n  a: { protocol: zot, command: zot, ${rest} }\n`

  it('are put into text values, also in lists, and never into keys', () => {
    const config = parse(agent(`args: ["\${A}", "x-\${B}"], env: { "\${A}": "\${B}" }`), { A: 'one', B: 'two' })
    expect(config.agents.get('a')).toMatchObject({ args: ['one', 'x-two'], env: { [`\${A}`]: 'two' } })
  })

  it('are put in once where an alias repeats the value', () => {
    const text = `agents:\n  a: { protocol: zot, command: &c "\${A}", args: [*c] }\n`
    expect(parse(text, { A: `\${B}`, B: 'twice' }).agents.get('a')).toMatchObject({
      command: `\${B}`,
      args: [`\${B}`],
    })
  })

  it('cannot bring structure of their own', () => {
    const config = parse(agent(`cwd: "\${A}"`), { A: '/x\n  evil: { protocol: zot }' })
    expect([...config.agents.keys()]).toEqual(['a'])
  })

  it('may stand where a number or a switch is wanted', () => {
    const text = `server: { port: "\${PORT}" }\ntelemetry: { content: "\${C}", logs: "\${C}", sample: "\${S}" }\nlimits: { total: "\${T}", queue: "\${Q}" }\n`
    const config = parse(text, { PORT: '99', C: 'true', S: '0.25', T: '9s', Q: '3' })
    expect(config.server.port).toBe(99)
    expect(config.telemetry).toEqual({ content: true, metrics: true, logs: true, sample: 0.25 })
    expect([config.limits.total, config.limits.queue]).toEqual([9000, 3])
  })

  it('are named when they are not set, with their place', () => {
    expect(linesOf(agent(`args: [ok, "\${NOPE}"]`))).toEqual([
      `turnpike.yaml:2:48 agents.a.args[1]: the environment variable NOPE is not set; set it, or write \${NOPE:-default}`,
    ])
  })

  it('are refused when they are malformed', () => {
    expect(linesOf(agent(`cwd: "\${1}"`))).toEqual([
      `turnpike.yaml:2:42 agents.a.cwd: "\${" begins no variable; write \${NAME} or \${NAME:-default}, or "$\${" for the text`,
    ])
  })

  it('never show their values in a message', () => {
    const env = { S: 'sk-very-secret', T: 's3' }
    const texts = [
      `default: "\${S}"\n`,
      `server: { port: "\${S}" }\n`,
      `telemetry: { otlp: "\${S}" }\n`,
      `agents:\n  a: { protocol: "zot@\${S}", command: zot }\n`,
      `agents:\n  a: { protocol: "\${S}", command: zot }\n`,
      `agents:\n  a: { protocol: zot, command: zot, retries: "\${S}" }\n`,
      `agents:\n  a: { protocol: zot, command: zot, token: { env: x, "y": "\${S}" } }\n`,
      `agents:\n  a: { protocol: zot, command: zot, retries: "\${T}" }\n`,
      `routes: [{ agent: "\${S}" }]\n`,
      `routes: [{ agent: a, loss: "\${S}" }]\n`,
    ]
    for (const text of texts) {
      const message = linesOf(text, env).join('\n')
      expect(message).not.toContain(env.S)
      expect(message).not.toContain(env.T)
    }
    expect(linesOf(texts[5]!, env)).toEqual([
      `turnpike.yaml:2:46 agents.a.retries: Invalid type: Expected number but received another text`,
    ])
  })
})
