/**
 * Fields of a protocol that an agent does not speak, at every place of what an agent gets: each is a loss that names the
 * protocol, or the tool, whatever the agent's protocol is.
 */
import { expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { BackHost } from '../../src/engine/agent/back-host.ts'
import { namedDialects } from '../../src/matrix/index.ts'
import type { Command, Item, Loss, Part, TurnStart } from '../../src/model/index.ts'
import { optionsOf } from '../kit/mirror.ts'

const codecs = await loadCodecs()
const backs = namedDialects(Object.values(codecs)).filter(({ dialect }) => dialect.back)

const ext = { protocol: 'strange', json: '{"k":1}' } as const
const TEXT: Part = { type: 'text', text: 'a', ext }
const CALL: Part = { type: 'tool-call', tool: 'c1', name: 'ls', args: '{}' }
const RESULT: Part = { type: 'tool-reply', tool: 'c1', status: 'ok', parts: [{ type: 'text', text: 'b' }] }

type Said = Partial<Command & TurnStart>
const history = (call: Part, result: Part): Said => ({
  history: [
    { role: 'user', parts: [{ type: 'text', text: 'first' }] },
    { role: 'assistant', parts: [call] },
    { role: 'tool', parts: [result] },
  ],
})

/** Each place, and the item without which the agent gets nothing of it. */
const ASKED: readonly (readonly [place: string, item: Item, said: Said])[] = [
  ['the input', 'part.text', { input: [TEXT] }],
  ['a message before', 'start.history', { history: [{ role: 'user', parts: [TEXT] }] }],
  ['a call before', 'start.history', history({ ...CALL, ext }, RESULT)],
  ['a result before', 'start.history', history(CALL, { ...RESULT, ext })],
  ['a part of a result before', 'start.history', history(CALL, { ...RESULT, parts: [TEXT] })],
]
const LATER: readonly (readonly [place: string, item: Item, said: object])[] = [
  ['further input', 'turn-steer', { type: 'turn-steer', input: [TEXT] }],
  ['a result', 'ask.tool', { type: 'ask-reply', ask: 'c1', reply: { kind: 'tool', status: 'ok', parts: [], ext } }],
  [
    'a part of a result',
    'ask.tool',
    { type: 'ask-reply', ask: 'c1', reply: { kind: 'tool', status: 'ok', parts: [TEXT] } },
  ],
]

const START: Command & TurnStart = {
  exchange: 'x',
  type: 'turn-start',
  turn: 't',
  task: 'prompt',
  input: [{ type: 'text', text: 'hi' }],
  options: {},
}

type Named = (typeof backs)[number]

/** A host of an agent and its losses, as `item(field)`. */
function hosted({ name, dialect }: Named) {
  const losses: string[] = []
  const process = { command: 'agent', args: [], env: {}, cwd: '/' }
  const options = optionsOf(codecs[name.split('@')[0]!]!)
  const context = { options, agent: 'a', env: {}, folder: '/', process }
  const calls = { open() {}, send() {}, end() {} }
  const loss = ({ item, field }: Loss) => void losses.push(`${item}(${field})`)
  const listener = { link() {}, loss, fault() {}, idle() {} }
  const { wireVersion, framing, back } = dialect
  const host = new BackHost({ wireVersion, framing, back: back! }, context, calls, listener)
  return { host, losses, able: back!.capabilities }
}

const rows = <T extends readonly unknown[]>(places: readonly T[]) =>
  backs.flatMap((named) => places.map((place) => [named.name, ...place, named] as const))

test.each(rows(ASKED))('%s is not given those of %s silently', (_name, _place, item, said, named) => {
  const { host, losses, able } = hosted(named)
  host.run({ ...START, ...said }).subscribe()
  if (able['part.ext'] === 'full') expect(losses).toEqual([])
  else if (able[item] === 'none') expect(losses).toContain(`${item}(undefined)`)
  // One that keeps its own fields writes them when its process is there.
  else if (able['part.ext'] === 'none' || !host.persistent) expect(losses).toContain('part.ext(strange)')
})

test.each(rows(LATER))('%s is not given those of %s silently', (_name, _place, item, said, named) => {
  const { host, losses, able } = hosted(named)
  // A model's endpoint, which keeps its own fields, gets them with its next request.
  if (able[item] === 'none' || able['part.ext'] === 'partial') return
  host.run(START).subscribe()
  host.send({ exchange: 'x', target: { turn: 't' }, ...said } as Exclude<Command, TurnStart>)
  host.close()
  if (able['part.ext'] === 'full') expect(losses).toEqual([])
  else expect(losses).toContain('part.ext(strange)')
})
