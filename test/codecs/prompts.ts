/** Every front with a prompt of a client that is shown as much of a turn as the protocol has a place for. */

import { loadCodec } from '../../codecs/index.ts'
import { driveFront, type FrontDrive } from '../kit/drive.ts'

type Context = Parameters<typeof driveFront>[1]
const stdio = (codec: string, line: object, context: Context = {}) => ({ codec, line: JSON.stringify(line), context })
const QWEN = { session_id: 's', input: { origin: 'user', parts: [{ type: 'text', text: 'hi' }] } }
const qwen = (output: string) =>
  stdio('qwen', QWEN, { argv: ['--input-format', 'stream-json', '--output-format', output] })
const http = (codec: string, path: string, body: object, accept: string, dialect?: string) =>
  stdio(codec, body, { transport: 'http', method: 'POST', path, headers: { accept }, ...(dialect && { dialect }) })
const USER = { role: 'user', content: 'hi' }
const MODEL = { model: 'a', stream: true }
const ENVELOPE = { protocol_version: '1.0.0', request_id: 'r', request: { context: { user_intent: 'hi' } } }

/** The fronts, each with its client's prompt. */
export const PROMPTS = [
  ['native', stdio('native', { type: 'turn-start', input: 'hi' })],
  ['native over HTTP', http('native', '/v1/turns', { input: 'hi' }, 'text/event-stream', 'http')],
  ['zot', stdio('zot', { id: '1', type: 'prompt', message: 'hi' }, { argv: ['rpc'] })],
  ['zene', stdio('zene', { request_id: 'r', session_id: 's', prompt: 'hi' }, { argv: ['host'] })],
  [
    'zene, streamed',
    stdio('zene', { request_id: 'r', session_id: 's', prompt: 'hi' }, { argv: ['host', '--single-request', 'false'] }),
  ],
  [
    'openharness',
    http(
      'openharness',
      '/v1/openharness',
      { ...ENVELOPE, capabilities: { 'openharness.streaming': true } },
      'text/event-stream',
    ),
  ],
  ['agentproc@0.3', stdio('agentproc', { type: 'turn', message: 'hi', protocol_version: '0.3' }, { dialect: '0.3' })],
  ['agentproc@0.4', stdio('agentproc', { type: 'turn', message: 'hi' }, { dialect: '0.4' })],
  [
    'agentproc',
    { codec: 'agentproc', line: undefined, context: { env: { AGENT_MESSAGE: 'hi', AGENT_STREAMING: '1' } } },
  ],
  ['qwen, messages', qwen('stream-json')],
  ['qwen, chunks', qwen('stream-chunk-json')],
  [
    'qwen-code',
    stdio(
      'qwen-code',
      { type: 'user', message: { role: 'user', content: 'hi' } },
      { argv: ['--input-format', 'stream-json', '--output-format', 'stream-json', '--include-partial-messages'] },
    ),
  ],
  ['openai', http('openai', '/v1/chat/completions', { ...MODEL, messages: [USER] }, 'text/event-stream')],
  ['openai, responses', http('openai', '/v1/responses', { ...MODEL, input: 'hi' }, 'text/event-stream', 'responses')],
  ['anthropic', http('anthropic', '/v1/messages', { ...MODEL, max_tokens: 9, messages: [USER] }, 'text/event-stream')],
] as const

/** The link of a front whose client has prompted. */
export async function prompted({ codec, line, context }: (typeof PROMPTS)[number][1]): Promise<FrontDrive> {
  const drive = driveFront((await loadCodec(codec))!, context)
  if (line !== undefined) drive.feed(line)
  drive.link.decodeEnd?.('eof')
  return drive
}
