/**
 * An agent may say at the end of a message that its text is another one than it streamed. Every front shows that text, or
 * tells that it could not.
 */
import { expect, test } from 'vitest'
import { loadCodec } from '../../codecs/index.ts'
import { frameText } from '../../src/contract/index.ts'
import type { Loss, TurnEvent } from '../../src/model/index.ts'
import { driveFront } from '../kit/drive.ts'

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

type Context = Parameters<typeof driveFront>[1]
const stdio = (codec: string, line: object, context: Context = {}) => ({ codec, line: JSON.stringify(line), context })
const QWEN = { session_id: 's', input: { origin: 'user', parts: [{ type: 'text', text: 'hi' }] } }
const qwen = (output: string) =>
  stdio('qwen', QWEN, { argv: ['--input-format', 'stream-json', '--output-format', output] })
const http = (codec: string, path: string, body: object, accept: string, dialect?: string) =>
  stdio(codec, body, { transport: 'http', method: 'POST', path, headers: { accept }, ...(dialect && { dialect }) })
const ENVELOPE = { protocol_version: '1.0.0', request_id: 'r', request: { context: { user_intent: 'hi' } } }

test.each([
  ['native', stdio('native', { type: 'turn-start', input: 'hi' }), 'shown'],
  ['native over HTTP', http('native', '/v1/turns', { input: 'hi' }, 'text/event-stream', 'http'), 'shown'],
  ['zot', stdio('zot', { id: '1', type: 'prompt', message: 'hi' }, { argv: ['rpc'] }), 'shown'],
  ['zene', stdio('zene', { request_id: 'r', session_id: 's', prompt: 'hi' }, { argv: ['host'] }), 'shown'],
  [
    'zene, streamed',
    stdio('zene', { request_id: 'r', session_id: 's', prompt: 'hi' }, { argv: ['host', '--single-request', 'false'] }),
    'shown',
  ],
  [
    'openharness',
    http(
      'openharness',
      '/v1/openharness',
      { ...ENVELOPE, capabilities: { 'openharness.streaming': true } },
      'text/event-stream',
    ),
    'shown',
  ],
  [
    'agentproc@0.3',
    stdio('agentproc', { type: 'turn', message: 'hi', protocol_version: '0.3' }, { dialect: '0.3' }),
    'shown',
  ],
  ['agentproc@0.4', stdio('agentproc', { type: 'turn', message: 'hi' }, { dialect: '0.4' }), 'shown'],
  [
    'agentproc',
    { codec: 'agentproc', line: undefined, context: { env: { AGENT_MESSAGE: 'hi', AGENT_STREAMING: '1' } } },
    'told',
  ],
  ['qwen, messages', qwen('stream-json'), 'shown'],
  ['qwen, chunks', qwen('stream-chunk-json'), 'told'],
  [
    'qwen-code',
    stdio(
      'qwen-code',
      { type: 'user', message: { role: 'user', content: 'hi' } },
      { argv: ['--input-format', 'stream-json', '--output-format', 'stream-json', '--include-partial-messages'] },
    ),
    'shown',
  ],
] as const)('%s', async (_name, { codec, line, context }, expected) => {
  const drive = driveFront((await loadCodec(codec))!, context)
  if (line !== undefined) drive.feed(line)
  drive.link.decodeEnd?.('eof')
  drive.play(REVISED)
  const shown = drive.sent.map(frameText).some((frame) => frame.includes('"The answer."'))
  const told = drive.losses.filter(({ item }) => item === 'message-end')
  expect([shown, told]).toEqual(expected === 'shown' ? [true, []] : [false, [TOLD]])
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
