/**
 * An agent may say at the end of a message that its text is another one than it streamed. Every front shows that text, or
 * tells that it could not.
 */
import { expect, test } from 'vitest'
import { loadCodec } from '../../codecs/index.ts'
import { frameText } from '../../src/contract/index.ts'
import type { Loss, TurnEvent } from '../../src/model/index.ts'
import { driveFront } from '../kit/drive.ts'
import { PROMPTS, prompted } from './prompts.ts'

const turn = 't1'
const REVISED: readonly TurnEvent[] = [
  { type: 'turn-accepted', turn, how: 'new', session: 's1' },
  { type: 'turn-started', turn },
  { type: 'message-start', turn, message: 'm1', role: 'assistant' },
  { type: 'text-delta', turn, message: 'm1', text: 'A draft' },
  { type: 'reasoning-delta', turn, message: 'm1', text: 'Hm.' },
  { type: 'text-delta', turn, message: 'm1', text: ', and more.' },
  { type: 'message-end', turn, message: 'm1', parts: [{ type: 'text', text: 'The answer.' }], revised: true },
  { type: 'turn-end', turn, outcome: 'completed', stop: 'end' },
]
const TOLD: Loss = { kind: 'weakened', item: 'message-end', field: 'text', why: 'policy', count: 1 }

/** The fronts that can only report the loss. Those of models end what they have shown: see their own tests. */
const REPORTING = ['agentproc', 'qwen, chunks']

test.each(PROMPTS.filter(([, { codec }]) => codec !== 'openai' && codec !== 'anthropic'))('%s', async (name, front) => {
  const drive = await prompted(front)
  drive.play(REVISED)
  const shown = drive.sent.map(frameText).some((frame) => frame.includes('"The answer."'))
  const told = drive.losses.filter(({ item }) => item === 'message-end')
  expect([shown, told]).toEqual(REPORTING.includes(name) ? [false, [TOLD]] : [true, []])
})

test.each([
  ['behind a question', [{ type: 'ask', turn, ask: 'a', question: { kind: 'input', message: 'Which?' } }]],
  ['behind a thought', [{ type: 'reasoning-delta', turn, message: 'm1', text: 'Hm.' }]],
] as [string, TurnEvent[]][])('qwen-code, %s: a line of its own', async (_name, between) => {
  const argv = ['--input-format', 'stream-json', '--output-format', 'stream-json']
  const drive = driveFront((await loadCodec('qwen-code'))!, { argv })
  drive.feed(JSON.stringify({ type: 'user', message: { role: 'user', content: 'hi' } }))
  drive.play([
    { type: 'turn-started', turn },
    { type: 'message-start', turn, message: 'm1', role: 'assistant' },
    { type: 'text-delta', turn, message: 'm1', text: 'A draft' },
    ...between,
    { type: 'message-end', turn, message: 'm1', parts: [{ type: 'text', text: 'The answer.' }], revised: true },
    { type: 'turn-end', turn, outcome: 'completed', stop: 'end' },
  ])
  const lines = drive.sent.map((frame) => JSON.parse(frameText(frame)) as { message?: { content: object[] } })
  const texts = lines.flatMap(({ message }) => message?.content ?? []).filter((block) => 'text' in block)
  expect(texts).toEqual([
    { type: 'text', text: 'A draft' },
    { type: 'text', text: 'The answer.' },
  ])
})
