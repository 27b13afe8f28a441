/**
 * A member that no codec knows, in every object of every line of an answer: it is in an event or is a loss, and clients
 * of the protocol get it or it is a loss for them.
 */
import { expect, test } from 'vitest'
import { codec as agentproc } from '../../codecs/agentproc/index.ts'
import { codec as openharness } from '../../codecs/openharness/index.ts'
import { codec as qwen } from '../../codecs/qwen/index.ts'
import { codec as zene } from '../../codecs/zene/index.ts'
import { codec as zot } from '../../codecs/zot/index.ts'
import { type AnyCodec, type FrontContext, frameText } from '../../src/contract/index.ts'
import { isRecord, type TurnEvent } from '../../src/model/index.ts'
import { driveBack, driveFront } from '../kit/drive.ts'
import { answer } from './zot/kit.ts'

/** The objects of one answer as their agent writes them, and clients of the protocol with what they ask. */
interface Wire {
  codec: AnyCodec
  dialect?: string
  options?: object
  lines: readonly object[]
  clients: readonly (Partial<FrontContext> & { dialect?: string; asks: object })[]
}

const RUN = { protocol_version: 1, request_id: 't1', session_id: 's1', ts_ms: 1 }
const HOST = ['host', '--protocol', 'v1']
const STREAM = [...HOST, '--single-request', 'false']
const asksZene = { type: 'run', ...RUN, idempotency_key: 'k', prompt: 'hi' }
const zeneClients = [HOST, STREAM, []].map((argv) => ({ argv, asks: asksZene }))
const ZENE = [
  { type: 'ack', ...RUN, status: 'ACCEPTED', request_ts_ms: 1 },
  { type: 'event', ...RUN, event_type: 'REQUEST_ACCEPTED', seq: 1, payload: {} },
  { type: 'event', ...RUN, event_type: 'RUN_STARTED', seq: 2, payload: {} },
  { type: 'event', ...RUN, event_type: 'TEXT_DELTA', seq: 3, payload: { delta: 'Hi' } },
  { type: 'event', ...RUN, event_type: 'RUN_FINISHED', seq: 4, payload: { status: 'OK' } },
]
const ENDED = { ...RUN, text: 'Hi', usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }
const zeneError = { code: 'INTERNAL', message: 'no', retryable: false }
const zeneWire = (...lines: object[]): Wire => ({ codec: zene, lines, clients: zeneClients })

const time = '2026-01-01T00:00:00Z'
const said = [{ type: 'text', text: 'Hi' }]
const ZOT = [
  { type: 'user_message', content: said, time },
  { type: 'turn_start', step: 1 },
  { type: 'assistant_start' },
  { type: 'text_delta', delta: 'Hi' },
  { type: 'assistant_message', content: [...said, { type: 'tool_call', id: 'c1', name: 'ls', args: {} }], time },
  { type: 'tool_call', id: 'c1', name: 'ls', args: {} },
  { type: 'turn_end', stop: 'tool_use' },
  { type: 'tool_progress', id: 'c1', text: 'out' },
  { type: 'tool_result', id: 'c1', is_error: false, content: said },
  { type: 'ext_notify', extension: 'e', level: 'info', message: 'm' },
  { type: 'ext_display', extension: 'e', text: 'm' },
  { type: 'done' },
]

const PLACE = { session_id: 's1', prompt_id: 's1########1' }
const USAGE = {
  ...{ prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  prompt_tokens_details: { cached_tokens: 1 },
  completion_tokens_details: { reasoning_tokens: 1 },
}
const choice = (key: 'message' | 'delta', message: object, finish_reason: string | null) => ({
  object: key === 'delta' ? 'chat.completion.chunk' : 'chat.completion',
  ...PLACE,
  choices: [{ index: 0, [key]: message, finish_reason }],
})
const whole = (message: object, finish: string | null, more: object = {}) => ({
  ...choice('message', { role: 'assistant', ...message }, finish),
  ...more,
})
const piece = (delta: object, finish: string | null = null) => choice('delta', delta, finish)
const argsPiece = (text: string, more: object = {}) =>
  piece({ tool_calls: [{ index: 0, ...more, function: { name: 'ls', arguments: text } }] })
const metadata = { protocol_version: '1.0', capabilities: {} }
const LS = { id: 'c1', type: 'function', function: { name: 'ls', arguments: '{}' } }
const annotated = { content: 'out', annotations: [{ type: 'x-qwen-terminal', source: 'tool', channel: 'stdout' }] }
const display = (status: string) => ({
  ...{ type: 'x-qwen-tool-display', ...PLACE, tool_call_id: 'c1', status },
  result_display: 'r',
})
const NOTES = [
  { type: 'x-qwen-thought', ...PLACE, subject: 'A', description: 'b' },
  { type: 'x-qwen-terminal', ...PLACE, source: 'tool', channel: 'stdout', text: 'out' },
  { type: 'x-qwen-session-event', ...PLACE, event: 'ChatCompressed', message: 'm', metrics: { original_tokens: 2 } },
]
const asked = { type: 'control_request', ...PLACE, subtype: 'can_use_tool' }
const ASKED = [
  { ...asked, request_id: 'q1', tool: { name: 'ls', arguments: {} }, metadata: { reason: 'r' } },
  { ...asked, request_id: 'q2', payload: { tool_name: 'ls', input: {}, reason: 'r' } },
  { ...asked, request_id: 'q3', subtype: 'hook_callback', payload: { a: 1 } },
]
const CUT = {
  type: 'x-qwen-session-event',
  ...PLACE,
  event: 'MAX_TOKENS',
  message: 'cut',
  metrics: { total_tokens: 3 },
}
const qwenError = { code: 'X', message: 'no', type: 'server_error', param: null }
const asksQwen = { ...PLACE, input: { origin: 'user', parts: [{ type: 'text', text: 'hi' }] } }
const formats = ['stream-json', 'stream-chunk-json'].map((format) => ['--output-format', format])
const qwenClients = formats.map((argv) => ({ argv: ['--input-format', 'stream-json', ...argv], asks: asksQwen }))
const qwenWire = (...lines: object[]): Wire => ({ codec: qwen, lines, clients: qwenClients })

const typed = (version: '0.3' | '0.4', ...lines: object[]): Wire => ({
  ...{ codec: agentproc, dialect: version, lines, options: { permission: true } },
  clients: [{ dialect: version, asks: { type: 'turn', message: 'hi', session_id: '', protocol_version: version } }],
})
const permission = { type: 'permission_request', request_id: 'p1', tool_name: 'ls', input: { a: 1 }, description: 'd' }
const counted = { input_tokens: 1, output_tokens: 1 }

const envelope = (response: object): Wire => ({
  codec: openharness,
  lines: [{ protocol_version: '1.0.0', request_id: 'r', response }],
  clients: [{ asks: { protocol_version: '1.0.0', request: { context: { user_intent: 'hi' } } } }],
})
const shows = { action_type: 'render_message', priority: 'low', risk_tier: 'safe', payload: { text: 'Hi' } }
const acts = { action_type: 'render_ui', payload: { component: 'c' }, extensions: { 'com.x': {} } }

const WIRES: Readonly<Record<string, Wire>> = {
  'zene, flat': zeneWire(...ZENE, { ok: true, ...ENDED, error_code: null, error_message: null }),
  'zene, final': zeneWire(...ZENE, { type: 'final', ...ENDED, status: 'OK', error: null }),
  'zene, failed': zeneWire({ type: 'final', ...ENDED, status: 'ERROR', error: zeneError }),
  'zene, refused': zeneWire({ type: 'error', ...RUN, error: zeneError }),
  zot: { codec: zot, lines: ZOT, clients: [{ asks: { id: '1', type: 'prompt', message: 'hi' } }] },
  'qwen, whole': qwenWire(
    whole({ content: '' }, null, { metadata }),
    ...NOTES,
    whole({ content: 'Hi', annotations: [{ type: 'note' }] }, null, { usage: USAGE }),
    whole(annotated, null),
    whole({ content: null, tool_calls: [LS] }, 'tool_calls'),
    display('Executing'),
    display('Success'),
    ...ASKED,
    whole({ content: 'Done' }, 'stop'),
    CUT,
  ),
  'qwen, in pieces': qwenWire(
    piece({ role: 'assistant' }),
    ...NOTES,
    piece({ content: 'Hi' }),
    piece({ content: ' you' }),
    piece(annotated),
    argsPiece('{"a"', { id: 'c1', type: 'function' }),
    argsPiece(''),
    argsPiece(':1}'),
    { ...piece({}, 'tool_calls'), usage: USAGE },
    display('Success'),
    { ...piece({}, 'stop'), usage: USAGE },
  ),
  'qwen, finished': qwenWire(piece({ content: 'Hi' }), { ...CUT, event: 'Finished', metrics: { a: 1 } }),
  'qwen, recovered': qwenWire(whole({ content: 'no' }, 'error', { metadata: { ...metadata, error: qwenError } })),
  'qwen, failed': qwenWire({ error: qwenError }),
  'agentproc 0.3': typed(
    '0.3',
    { type: 'session', id: 'a' },
    { type: 'partial', text: 'hm', role: 'thinking' },
    { type: 'partial', text: 'Hi' },
    permission,
    { type: 'text', text: 'Hi' },
  ),
  'agentproc 0.4': typed(
    '0.4',
    { type: 'partial', text: 'hm', role: 'thinking', session_id: 'a' },
    { type: 'partial', text: 'Hi' },
    permission,
    { type: 'result', text: 'Hi', usage: counted },
  ),
  'agentproc 0.4, failed': typed('0.4', { type: 'error', message: 'no', usage: counted }),
  openharness: envelope({ status: 'success', action_directives: [shows, acts], extensions: {} }),
  'openharness, failed': envelope({ status: 'error', error: { code: 'x', message: 'no', details: {} } }),
}

const FURTHER = 'x_further'

/** Copies of a value that each have the member in one of its objects. */
function* furthered(value: unknown, path = ''): Generator<[path: string, value: unknown]> {
  // What an agent is capable of is for the gateway alone.
  if (path.endsWith('/capabilities')) return
  if (isRecord(value)) yield [path, { ...value, [FURTHER]: '?' }]
  if (typeof value !== 'object') return
  for (const [key, inner] of Object.entries(value ?? {})) {
    for (const [at, changed] of furthered(inner, `${path}/${key}`)) {
      yield [
        at,
        Array.isArray(value) ? value.map((old, n) => (n === +key ? changed : old)) : { ...value, [key]: changed },
      ]
    }
  }
}

const ROWS = Object.entries(WIRES).flatMap(([name, wire]) =>
  [...furthered(wire.lines)].map(([path, lines]) => [name, path, wire, lines as object[]] as const),
)

test.each(ROWS)('%s: at %s', (_name, _path, { codec, dialect, options, clients }, lines) => {
  const process = { command: 'agent', args: [], env: {}, cwd: '/' }
  const back = driveBack(codec, { ...(dialect && { dialect }), ...(options && { options }), process })
  back.link.open?.()
  if (codec === zot) answer(back, 'hello', { data: { protocol_version: 1 } })
  back.start('hi', { request: 't1' })
  if (codec === zot) answer(back, 'prompt')
  back.feed(...lines.map((line) => JSON.stringify(line)))
  back.link.decodeEnd({ call: back.calls.at(-1)?.call, why: 'closed', exitCode: 0 })
  const events = back.events.filter((event): event is TurnEvent => event.turn !== null)
  expect(events.filter(({ type }) => type === 'turn-end')).toHaveLength(1)
  const reported = JSON.stringify(back.losses)
  const isLost = back.losses.some(({ item }) => ['ext', 'usage'].includes(item))
  expect(JSON.stringify(events).includes(FURTHER) || isLost, reported).toBe(true)
  if (isLost) return
  for (const { asks, ...context } of clients) {
    const front = driveFront(codec, context)
    front.feed(JSON.stringify(asks))
    front.play([{ type: 'turn-accepted', turn: 't1', how: 'new', session: 's1' } as TurnEvent, ...events])
    const shown = front.sent.map((frame) => frameText(frame)).join('\n')
    const lost = [...front.losses, ...front.dropped]
    expect(shown.includes(FURTHER) || lost.length > 0, `${shown}\n${JSON.stringify(events)}`).toBe(true)
  }
})
