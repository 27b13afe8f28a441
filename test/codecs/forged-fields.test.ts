/**
 * Fields of a protocol that are none: a client or an agent of the native protocol may say an `ext` of any protocol, with
 * any JSON in it. Whatever the members that a codec looks for hold, it reads or leaves them, and never throws.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { BackHost } from '../../src/engine/agent/back-host.ts'
import { namedDialects } from '../../src/matrix/index.ts'
import type { Command, Ext, Fault, Part, TurnEvent, TurnStart } from '../../src/model/index.ts'
import { Mirror, optionsOf } from '../kit/mirror.ts'

const codecs = await loadCodecs()
const dialects = namedDialects(Object.values(codecs))

/** The names that a codec's sources have as texts: those of members are among them. */
function namesIn(codec: string): string[] {
  const folder = join(import.meta.dirname, '../../codecs', codec)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const text = files.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n')
  return [
    ...new Set(
      [...text.matchAll(/(?:ownMember|member|at)\([^\n]*?'(\w+)'|^ {2,}(\w+): (?:maybe|v\.)/gm)].map(
        ([, a, b]) => (a ?? b)!,
      ),
    ),
  ]
}

const VALUES = ['5', '"x"', 'null', '[1]', '[{}]', '{}'] as const

/** Each name alone with each value, then all of them with it, also within each other. */
function forgeries(protocol: string): Ext[] {
  const names = namesIn(protocol)
  const all = (value: string): string => `{${names.map((name) => `"${name}":${value}`).join(',')}}`
  const jsons = [
    ...names.flatMap((name) => VALUES.map((value) => `{"${name}":${value}}`)),
    ...VALUES.flatMap((value) => [all(value), all(all(value)), all(`[${all(value)}]`)]),
  ]
  return jsons.map((json) => ({ protocol, json }))
}

function partsWith(ext: Ext): Part[] {
  const seal = { provider: ext.protocol, data: 's' }
  return [
    { type: 'text', text: 'a', citations: [{ title: 't', start: 0, end: 1, ext }], ext },
    { type: 'image', base64: 'iVBORw0KGgo=', mime: 'image/png', ext },
    { type: 'file', url: 'https://f.example/a.pdf', mime: 'application/pdf', ext },
    { type: 'data', json: '{"a":1}', ext },
    { type: 'reasoning', text: 'hm', seal, ext },
    { type: 'tool-call', tool: 'c1', name: 'ls', args: '{}', ext },
    { type: 'tool-reply', tool: 'c1', status: 'ok', parts: [{ type: 'text', text: 'b', ext }], ext },
  ]
}

function startWith(ext: Ext): Command & TurnStart {
  const [text, image, file, data] = partsWith(ext) as [Part, Part, Part, Part]
  const said = partsWith(ext).filter(({ type }) => type !== 'tool-reply')
  const results = partsWith(ext).filter(({ type }) => type === 'tool-reply')
  return {
    exchange: 'x',
    type: 'turn-start',
    turn: 't',
    task: 'prompt',
    session: { id: 's' },
    input: [text, image, file, data],
    options: { effort: 'low', toolChoice: 'auto', systemPrompt: 'Be kind.', outputSchema: '{"type":"object"}' },
    clientTools: [
      { name: 'ls', ext },
      { name: 'sh', kind: 'custom', ext },
      { name: 'web', kind: 'hosted', namespace: 'n', ext },
    ],
    history: [
      { role: 'user', parts: [text] },
      { role: 'assistant', parts: said },
      { role: 'tool', parts: results },
    ],
    ext,
  }
}

const events = (ext: Ext): TurnEvent[] => {
  const turn = 't'
  return [
    { turn, type: 'turn-started', ext },
    { turn, type: 'message-start', message: 'm', role: 'assistant', ext },
    { turn, type: 'reasoning-delta', message: 'm', text: 'hm', ext },
    { turn, type: 'reasoning-end', message: 'm', seal: { provider: ext.protocol, data: 's' }, ext },
    { turn, type: 'text-delta', message: 'm', text: 'Hi', ext },
    { turn, type: 'citation', message: 'm', title: 't', ext },
    { turn, type: 'tool-start', tool: 'c1', message: 'm', name: 'ls', executor: 'agent', ext },
    { turn, type: 'tool-call', tool: 'c1', name: 'ls', args: '{}', executor: 'agent', ext },
    { turn, type: 'tool-progress', tool: 'c1', parts: partsWith(ext), ext },
    { turn, type: 'tool-end', tool: 'c1', status: 'ok', parts: partsWith(ext), ext },
    { turn, type: 'plan', json: '{}', ext },
    { turn, type: 'directive', action: 'a', json: '{}', ext },
    { turn, type: 'notice', severity: 'info', code: 'c', text: 'n', ext },
    { turn, type: 'usage', scope: 'turn', usage: { input: 1 }, ext },
    { turn, type: 'message-end', message: 'm', parts: partsWith(ext), ext },
    { turn, type: 'turn-end', outcome: 'completed', ext },
  ]
}
const failure = (ext: Ext): TurnEvent => ({
  turn: 't',
  type: 'turn-end',
  outcome: 'failed',
  fault: { code: 'internal', message: 'It broke.', retryable: false, ext },
  ext,
})

const backs = dialects.filter(({ dialect }) => dialect.back)
test.each(backs.map((named) => [named.name, named] as const))('an agent of %s is given them', (name, { dialect }) => {
  const codec = codecs[name.split('@')[0]!]!
  const wrong: unknown[] = []
  for (const ext of forgeries(codec.name)) {
    const process = { command: 'agent', args: [], env: {}, cwd: '/' }
    const context = { options: optionsOf(codec), agent: 'a', env: {}, folder: '/', process, recorded: 'both' } as const
    const listener = { link() {}, loss() {}, fault: (found: Fault) => wrong.push([ext.json, found.message]), idle() {} }
    const { wireVersion, framing, back } = dialect
    const host = new BackHost(
      { wireVersion, framing, back: back! },
      context,
      { open() {}, send() {}, end() {} },
      listener,
    )
    host.open()
    host.run(startWith(ext)).subscribe()
    host.send({ exchange: 'x', type: 'turn-steer', target: 'running', input: partsWith(ext), ext })
    host.close()
  }
  expect(wrong.slice(0, 5)).toEqual([])
})

const mirrored = dialects.filter(({ dialect }) => dialect.back && dialect.front)
test.each(mirrored.map((named) => [named.name, named] as const))(
  'a client of %s is shown them',
  (name, { dialect }) => {
    const codec = codecs[name.split('@')[0]!]!
    const wrong: unknown[] = []
    for (const ext of forgeries(codec.name)) {
      for (const shown of [events(ext), [failure(ext)]]) {
        const mirror = new Mirror(dialect, optionsOf(codec), { started() {}, command() {}, event() {} })
        try {
          mirror.open()
          mirror.start({ ...startWith(ext), input: [{ type: 'text', text: 'hi' }], history: [], clientTools: [] })
          if (mirror.exchange) for (const event of shown) mirror.show(event)
        } catch (error) {
          wrong.push([ext.json, String(error)])
        }
      }
    }
    expect(wrong.slice(0, 5)).toEqual([])
  },
)
