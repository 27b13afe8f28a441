/** A failure of its model provider that an agent hands on: every back of every protocol, by the one table. */
import { describe, expect, test } from 'vitest'
import { loadCodec } from '../../codecs/index.ts'
import { type AgentEvent, type ErrorCode, isRetryable } from '../../src/model/index.ts'
import { OWN_TEXTS, PROVIDER_TEXTS } from '../codec-kit/provider-texts.ts'
import { type BackDrive, driveBack } from '../kit/drive.ts'

const json = (value: object): string => JSON.stringify(value)

interface Back {
  codec: string
  dialect?: string
  options?: object
  /** HTTP status of the answer. */
  status?: number
  /** The frames of a turn that ends with this text; given what was sent to the agent. */
  failing(text: string, sent: readonly string[]): string[]
  exitCode?: number
  /** The code of a failure that is not the provider's. */
  own: ErrorCode
}

/** The id of the newest line that was sent and holds this word. */
function idOf(sent: readonly string[], word: string): unknown {
  const line = JSON.parse(sent.findLast((one) => one.includes(`"${word}"`))!) as Record<string, unknown>
  return line['id'] ?? line['request_id']
}

const BACKS: Readonly<Record<string, Back>> = {
  agentproc: {
    codec: 'agentproc',
    failing: (text) => [`AGENT_ERROR:${JSON.stringify(text)}`],
    exitCode: 1,
    own: 'agent-crashed',
  },
  'agentproc@0.4': {
    codec: 'agentproc',
    dialect: '0.4',
    failing: (message) => [json({ type: 'error', message })],
    exitCode: 1,
    own: 'agent-crashed',
  },
  zene: {
    codec: 'zene',
    failing: (error_message) => [
      json({ ok: false, request_id: 't1', session_id: 's1', text: '', error_code: 'INTERNAL', error_message }),
    ],
    own: 'internal',
  },
  'zene, of a code that it does not name': {
    codec: 'zene',
    failing: (error_message) => [
      json({ ok: false, request_id: 't1', session_id: 's1', text: '', error_code: 'LLM_FAILED', error_message }),
    ],
    own: 'internal',
  },
  'zene, a plan that was halted': {
    codec: 'zene',
    failing: (text) => [
      json({ ok: true, request_id: 't1', session_id: 's1', text: `Execution halted due to task failure: ${text}` }),
    ],
    own: 'internal',
  },
  zot: {
    codec: 'zot',
    failing: (message, sent) => [
      json({
        type: 'response',
        id: idOf(sent, 'hello'),
        command: 'hello',
        success: true,
        data: { protocol_version: 1 },
      }),
      json({ type: 'turn_start', step: 1 }),
      json({ type: 'turn_end', stop: 'error', error: message }),
      json({ type: 'error', message }),
      json({ type: 'done' }),
    ],
    own: 'internal',
  },
  'zot, without an error event': {
    codec: 'zot',
    failing: (error, sent) => [
      json({
        type: 'response',
        id: idOf(sent, 'hello'),
        command: 'hello',
        success: true,
        data: { protocol_version: 1 },
      }),
      json({ type: 'turn_start', step: 1 }),
      json({ type: 'turn_end', stop: 'error', error }),
      json({ type: 'done' }),
    ],
    own: 'internal',
  },
  qwen: {
    codec: 'qwen',
    failing: (message) => [json({ error: { message, type: 'server_error', param: null, code: 'X_FAILED' } })],
    own: 'internal',
  },
  'qwen-code': {
    codec: 'qwen-code',
    failing: (message, sent) => [
      json({
        type: 'control_response',
        response: { subtype: 'success', request_id: idOf(sent, 'initialize'), response: {} },
      }),
      json({ type: 'result', subtype: 'error_during_execution', is_error: true, error: { message } }),
    ],
    own: 'internal',
  },
  acp: {
    codec: 'acp',
    failing: (message) => [
      json({ id: 1, result: { protocolVersion: 1 } }),
      json({ id: 2, result: { sessionId: 'S' } }),
      json({ id: 3, error: { code: -32603, message: 'Internal error', data: { details: message } } }),
    ],
    own: 'internal',
  },
  openharness: {
    codec: 'openharness',
    status: 502,
    failing: (message) => [
      json({
        protocol_version: '1.0.0',
        request_id: 't1',
        response: { status: 'error', error: { code: 'bridge_error', message, retryable: null } },
      }),
    ],
    own: 'agent-unavailable',
  },
}

const TEXTS: readonly (readonly [string, ErrorCode | undefined])[] = [
  ...PROVIDER_TEXTS,
  ...OWN_TEXTS.map((text) => [text, undefined] as const),
]

describe.each(Object.entries(BACKS))('%s', (_name, back) => {
  test.each(TEXTS)('%s: %s', async (text, code) => {
    const drive = driveBack((await loadCodec(back.codec))!, {
      ...(back.dialect !== undefined && { dialect: back.dialect }),
      options: back.options ?? {},
      process: { command: 'agent', args: [], env: {}, cwd: '/agents' },
    })
    drive.link.open?.()
    drive.start('hi')
    drive.link.decodeHead?.({ status: back.status ?? 200, headers: { 'content-type': 'application/json' } })
    drive.feed(...back.failing(text, drive.sent as string[]))
    drive.link.decodeEnd({ why: 'closed', exitCode: back.exitCode ?? 0 })
    const expected = code ?? back.own
    expect(endsOf(drive)).toEqual([[expected, isRetryable(expected)]])
    expect(drive.events.filter(({ type }) => type === 'text-delta')).toEqual([])
  })
})

function endsOf(drive: BackDrive): unknown[] {
  const isEnd = (event: AgentEvent) => event.type === 'turn-end'
  return drive.events.filter(isEnd).map((end) => [end.fault?.code, end.fault?.retryable])
}
