import { beforeAll, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import type { AnyCodec } from '../../src/contract/index.ts'
import type { Command, TurnEvent, TurnStart } from '../../src/model/index.ts'
import { type RecordedTurn, reencode } from '../../src/translate/index.ts'

let codecs: AnyCodec[]
beforeAll(async () => {
  codecs = Object.values(await loadCodecs())
})

const COMMAND: Command & TurnStart = {
  exchange: 'x',
  session: { id: 's' },
  type: 'turn-start',
  turn: 't',
  task: 'prompt',
  input: [{ type: 'text', text: 'please' }],
  options: {},
}

function turnOf(...events: TurnEvent[]): RecordedTurn {
  return { command: COMMAND, events: events.map((event, at) => ({ seq: at + 1, event })) }
}

const SAID = turnOf(
  { type: 'turn-accepted', turn: 't', how: 'new', session: 's' },
  { type: 'message-start', turn: 't', message: 'm', role: 'assistant' },
  { type: 'text-delta', turn: 't', message: 'm', text: 'done' },
  { type: 'message-end', turn: 't', message: 'm' },
  { type: 'turn-end', turn: 't', outcome: 'completed', stop: 'end' },
)

test('a turn is written as both halves of a protocol would, with the numbers of its events', () => {
  const { protocol, frames } = reencode(SAID, 'native', codecs)
  expect(protocol).toBe('native')
  expect(frames.map(({ of, seq }) => [of, seq])).toEqual([
    ['answered', 1],
    ['asked', 1],
    ['answered', 1],
    ['answered', 2],
    ['answered', 3],
    ['answered', 4],
    ['answered', 5],
  ])
  expect(JSON.parse(frames[0]!.text)).toEqual({ type: 'agent-ready', turn: null })
  expect(JSON.parse(frames[1]!.text)).toMatchObject({ type: 'turn-start', input: [{ type: 'text', text: 'please' }] })
  expect(JSON.parse(frames[4]!.text)).toMatchObject({ type: 'text-delta', text: 'done' })
})

test.each([
  ['native@http', 'native'],
  ['openai@responses', 'openai@responses'],
  ['openai@chat', 'openai'],
  ['claude-code', 'model'],
  ['nothing', 'model'],
  ['zot@nothing', 'zot'],
])('%s is written as %s', (named, written) => {
  const { protocol, frames } = reencode(SAID, named, codecs)
  const textOf = (side: string) =>
    frames
      .filter(({ of }) => of === side)
      .map(({ text }) => text)
      .join('\n')
  expect(protocol).toBe(written)
  expect([textOf('asked').includes('please'), textOf('answered').includes('done')]).toEqual([true, true])
})

test('a request that the protocol cannot express is written as a plain one, and its answer all the same', () => {
  const command = { ...COMMAND, task: 'compact', input: [] } as const
  const { protocol, frames } = reencode({ ...SAID, command }, 'zene', codecs)
  expect([protocol, frames.some(({ text }) => text.includes('(not recorded)'))]).toEqual(['zene', true])
})

test('what is written again is bounded', () => {
  const delta = { type: 'text-delta', turn: 't', message: 'm', text: 'x'.repeat(300_000) } as const
  const start = { type: 'message-start', turn: 't', message: 'm', role: 'assistant' } as const
  for (const named of ['native', 'nothing']) {
    const { frames } = reencode(turnOf(start, delta, delta, delta, delta, delta), named, codecs)
    expect(frames.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThanOrEqual(1_048_576)
    expect(frames.map(({ cut }) => cut === true)).toEqual([...Array(frames.length - 1).fill(false), true])
  }
})
