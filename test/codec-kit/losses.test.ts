import { expect, test } from 'vitest'
import { loadCodec } from '../../codecs/index.ts'
import { dropped, invented, nonTextLosses, unparsed, weakened, wellFormed } from '../../src/codec-kit/index.ts'
import type { TurnEvent } from '../../src/model/index.ts'
import { driveFront, type FrontDrive, plainTurn } from '../kit/drive.ts'

const turn = 't1'
const beside: TurnEvent[] = [
  { type: 'turn-accepted', turn, how: 'new', session: 's1' },
  { type: 'message-start', turn, message: 'm1', role: 'assistant' },
  { type: 'reasoning-delta', turn, message: 'm1', text: 'Well.' },
  { type: 'tool-call', turn, tool: 'c1', name: 'read', args: '{}', executor: 'agent' },
  { type: 'tool-end', turn, tool: 'c1', status: 'ok', parts: [] },
  { type: 'notice', turn, severity: 'info', code: 'empty-answer', text: 'The agent said nothing.' },
  { type: 'notice', turn, severity: 'info', code: 'slow', text: 'It takes its time.' },
  { type: 'text-delta', turn, message: 'm1', text: 'fine' },
  { type: 'message-end', turn, message: 'm1' },
  { type: 'usage', turn, scope: 'turn', usage: { input: 1 } },
  { type: 'turn-end', turn, outcome: 'completed', stop: 'end' },
]

const FRONTS: Readonly<Record<string, () => Promise<FrontDrive>>> = {
  async qwen() {
    const front = driveFront((await loadCodec('qwen'))!, { argv: ['--output-format', 'text'] })
    front.feed('hi')
    front.link.decodeEnd!('eof')
    return front
  },
  async 'qwen-code'() {
    const front = driveFront((await loadCodec('qwen-code'))!, { argv: ['-p', 'hi'] })
    front.link.decodeEnd!('eof')
    return front
  },
}

test.each(Object.keys(FRONTS))('an answer of %s that is text alone tells what was beside it', async (name) => {
  const front = await FRONTS[name]!()
  expect(front.answers.get(front.commands.at(-1)!.exchange)).toMatchObject({ form: 'whole' })
  front.play(beside)
  expect(front.sent).toEqual(['fine'])
  expect(front.losses).toEqual(
    ['reasoning-delta', 'tool-call', 'notice', 'usage'].map((item) => ({
      kind: 'dropped',
      item,
      why: 'no-place',
      count: 1,
    })),
  )
})

test.each(Object.keys(FRONTS))('an answer of %s that was text alone lost nothing', async (name) => {
  const front = await FRONTS[name]!()
  front.play(plainTurn('fine').filter(({ type }) => type !== 'usage'))
  expect([front.sent, front.losses]).toEqual([['fine'], []])
})

test('losses of one item say what became of it, and why', () => {
  expect(dropped('plan')).toEqual({ kind: 'dropped', item: 'plan', why: 'no-place', count: 1 })
  expect(dropped('ext', 'auth', 'policy')).toEqual({
    kind: 'dropped',
    item: 'ext',
    field: 'auth',
    why: 'policy',
    count: 1,
  })
  expect(weakened('ask')).toEqual({ kind: 'weakened', item: 'ask', why: 'no-place', count: 1 })
  expect(weakened('ask', 'options', 'too-narrow')).toMatchObject({ field: 'options', why: 'too-narrow' })
  expect(invented('usage.total', 'n')).toEqual({
    kind: 'invented',
    item: 'usage.total',
    field: 'n',
    why: 'required',
    count: 1,
  })
  expect(unparsed('foreign')).toEqual({ kind: 'unparsed', item: 'foreign', why: 'unknown', count: 1 })
})

test('a text with half a character is told once, and any other text is as it came', () => {
  const losses: unknown[] = []
  const report = (loss: unknown): void => void losses.push(loss)
  expect(wellFormed('a😀é', report, 'text')).toBe('a😀é')
  expect(losses).toEqual([])
  expect(wellFormed('a\ud83d and \ude00', report, 'text')).toBe('a\ufffd and \ufffd')
  expect(wellFormed('\ud83d', report)).toBe('\ufffd')
  const loss = { kind: 'weakened', item: 'part.text', why: 'too-narrow', count: 1 }
  expect(losses).toEqual([{ ...loss, field: 'text' }, loss])
})

test('what an answer of text alone leaves out is counted, without calls that the agent dropped', () => {
  const tool = (id: string, status?: string) => ({ id, name: 'read', args: '{}', called: true, status, parts: [] })
  const view = (more: object) => ({ messages: [], tools: [], notices: [], usage: undefined, ...more }) as never
  expect(nonTextLosses(view({}))).toEqual([])
  const counted = nonTextLosses(
    view({
      messages: [{ reasoning: 'a' }, { reasoning: '' }, { reasoning: 'b' }],
      tools: [tool('1', 'ok'), tool('2', 'error'), { ...tool('3', 'cancelled'), called: false, name: '' }],
      notices: [{ code: 'empty-answer' }, { code: 'slow' }],
      usage: {},
    }),
  )
  expect(counted.map(({ item, count }) => [item, count])).toEqual([
    ['reasoning-delta', 2],
    ['tool-call', 2],
    ['notice', 1],
    ['usage', 1],
  ])
})
