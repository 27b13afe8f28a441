/**
 * An agent that leaves with exit code 0, or an HTTP status of 200, and has not answered: every back of every protocol,
 * by what was said instead of an answer. It is a success only where the protocol's text says so.
 */
import { describe, expect, test } from 'vitest'
import { loadCodec } from '../../codecs/index.ts'
import type { AgentEvent, ErrorCode } from '../../src/model/index.ts'
import { type BackDrive, driveBack } from '../kit/drive.ts'

const json = (value: object): string => JSON.stringify(value)

/** Lines that are no messages of any protocol: words, JSON of other shapes, an object without sense. */
const UNREADABLE = ['[info] working', '42', '["text"]', '{"x-unknown":1}', 'bye']

interface Back {
  codec: string
  dialect?: string
  options?: object
  /** What the agent says first, so that the turn is under way; given what was sent to it. */
  greeting?(sent: readonly string[]): string[]
  /** Something for people, which is no answer. */
  notice?: readonly string[]
  /** The beginning of an answer. */
  begun: readonly string[]
  /** How the turn ends when nothing, only unreadable lines, only notices, or only a beginning was said. */
  ends: Readonly<Record<Silence, 'completed' | ErrorCode>>
}

type Silence = 'nothing' | 'unreadable' | 'notices' | 'begun'

const CRASHED = {
  nothing: 'agent-crashed',
  unreadable: 'agent-crashed',
  notices: 'agent-crashed',
  begun: 'agent-crashed',
} as const
const VIOLATED = {
  nothing: 'protocol-violation',
  unreadable: 'protocol-violation',
  notices: 'protocol-violation',
  begun: 'protocol-violation',
} as const

/** The id of the newest line that was sent and holds this word. */
function idOf(sent: readonly string[], word: string): unknown {
  const line = JSON.parse(sent.findLast((one) => one.includes(`"${word}"`))!) as Record<string, unknown>
  return line['id'] ?? line['request_id']
}

/** What an agent of ACP answers until it has its prompt: our requests are counted from 1. */
const ACP_GREETING = [json({ id: 1, result: { protocolVersion: 1 } }), json({ id: 2, result: { sessionId: 'S' } })]
const acpUpdate = (sessionUpdate: string, more: object) =>
  json({ method: 'session/update', params: { sessionId: 'S', update: { sessionUpdate, ...more } } })

const BACKS: Readonly<Record<string, Back>> = {
  // Every line is text of the answer or has a sentinel, and the exit code alone says how it went.
  agentproc: {
    codec: 'agentproc',
    notice: ['AGENT_SESSION:s1'],
    begun: ['AGENT_PARTIAL:"One "'],
    ends: { nothing: 'completed', unreadable: 'completed', notices: 'completed', begun: 'completed' },
  },
  'agentproc@0.3': {
    codec: 'agentproc',
    dialect: '0.3',
    notice: [json({ type: 'session', id: 's1' })],
    begun: [json({ type: 'partial', text: 'One ' })],
    ends: { nothing: 'completed', unreadable: 'protocol-violation', notices: 'completed', begun: 'completed' },
  },
  // An empty output, and partials without a result, are answers by its text; what is no event at all is none.
  'agentproc@0.4': {
    codec: 'agentproc',
    dialect: '0.4',
    notice: [json({ type: 'partial', text: '', session_id: 's1' })],
    begun: [json({ type: 'partial', text: 'One ' })],
    ends: { nothing: 'completed', unreadable: 'protocol-violation', notices: 'completed', begun: 'completed' },
  },
  zene: {
    codec: 'zene',
    notice: [json({ type: 'event', request_id: 't1', seq: 1, event_type: 'NOTE', payload: {} })],
    begun: [json({ type: 'event', request_id: 't1', seq: 1, event_type: 'TEXT_DELTA', payload: { delta: 'One ' } })],
    ends: CRASHED,
  },
  'zene stream': {
    codec: 'zene',
    options: { mode: 'stream' },
    greeting: (sent) => [
      json({ type: 'ack', request_id: idOf(sent, 'ping'), status: 'PONG' }),
      json({ type: 'ack', request_id: 't1', status: 'ACCEPTED' }),
    ],
    notice: [json({ type: 'event', request_id: 't1', seq: 1, event_type: 'NOTE', payload: {} })],
    begun: [json({ type: 'event', request_id: 't1', seq: 1, event_type: 'TEXT_DELTA', payload: { delta: 'One ' } })],
    ends: CRASHED,
  },
  zot: {
    codec: 'zot',
    greeting: (sent) => [
      json({
        type: 'response',
        id: idOf(sent, 'hello'),
        command: 'hello',
        success: true,
        data: { protocol_version: 1 },
      }),
    ],
    notice: [json({ type: 'ext_notify', extension: 'x', level: 'info', message: 'note' })],
    begun: [json({ type: 'turn_start', step: 1 }), json({ type: 'text_delta', delta: 'One ' })],
    ends: CRASHED,
  },
  qwen: {
    codec: 'qwen',
    notice: [json({ type: 'x-qwen-terminal', stream: 'stderr', text: 'note' })],
    begun: [
      json({
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta: { content: 'One ' }, finish_reason: null }],
      }),
    ],
    ends: CRASHED,
  },
  'qwen, a process a turn': {
    codec: 'qwen',
    options: { lifetime: 'turn' },
    notice: [json({ type: 'x-qwen-terminal', stream: 'stderr', text: 'note' })],
    begun: [
      json({ object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: 'One ' } }] }),
    ],
    ends: CRASHED,
  },
  'qwen-code': {
    codec: 'qwen-code',
    greeting: (sent) => [
      json({
        type: 'control_response',
        response: { subtype: 'success', request_id: idOf(sent, 'initialize'), response: {} },
      }),
    ],
    notice: [json({ type: 'system', subtype: 'note', session_id: 's1' })],
    begun: [
      json({ type: 'system', subtype: 'init', session_id: 's1', model: 'm', qwen_code_version: '0.24.4' }),
      json({ type: 'assistant', message: { id: 'a1', role: 'assistant', content: [{ type: 'text', text: 'One ' }] } }),
    ],
    ends: CRASHED,
  },
  native: {
    codec: 'native',
    greeting: () => [json({ type: 'agent-ready', turn: null })],
    notice: [json({ type: 'notice', turn: 't1', severity: 'info', code: 'note', text: 'note' })],
    begun: [
      json({ type: 'message-start', turn: 't1', message: 'm1', role: 'assistant' }),
      json({ type: 'text-delta', turn: 't1', message: 'm1', text: 'One ' }),
    ],
    ends: CRASHED,
  },
  acp: {
    codec: 'acp',
    greeting: () => ACP_GREETING,
    notice: [acpUpdate('notice', { severity: 'info', title: 'note' })],
    begun: [acpUpdate('agent_message_chunk', { content: { type: 'text', text: 'One ' } })],
    ends: CRASHED,
  },
  openharness: {
    codec: 'openharness',
    begun: ['{"protocol_version":"1.0.0","request_id":"t1"}'],
    ends: VIOLATED,
  },
}

const SILENCES: readonly Silence[] = ['nothing', 'unreadable', 'notices', 'begun']

describe.each(Object.entries(BACKS))('%s', (_name, back) => {
  test.each(SILENCES.filter((silence) => silence !== 'notices' || back.notice))('%s', async (silence) => {
    const drive = driveBack((await loadCodec(back.codec))!, {
      ...(back.dialect !== undefined && { dialect: back.dialect }),
      options: back.options ?? {},
      process: { command: 'agent', args: [], env: {}, cwd: '/agents' },
    })
    drive.link.open?.()
    drive.start('hi')
    drive.link.decodeHead?.({ status: 200, headers: { 'content-type': 'application/json' } })
    const lines = { nothing: [], unreadable: UNREADABLE, notices: back.notice ?? [], begun: back.begun }[silence]
    drive.feed(...(back.greeting?.(drive.sent as string[]) ?? []), ...lines)
    drive.link.decodeEnd({ why: 'closed', exitCode: 0 })
    expect(endsOf(drive)).toEqual([back.ends[silence]])
  })
})

function endsOf(drive: BackDrive): (string | undefined)[] {
  const isEnd = (event: AgentEvent) => event.type === 'turn-end'
  return drive.events.filter(isEnd).map((end) => end.fault?.code ?? end.outcome)
}
