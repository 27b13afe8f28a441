/**
 * The output for clients of a turn: every dialect's front half in each of its forms, in memory and on a stopped clock.
 */
import type { AnyCodec, Dialect, Frame, FrontContext } from '../../src/contract/index.ts'
import { asFront, frameText } from '../../src/contract/index.ts'
import { type Exchange, RecordedClient } from '../../src/engine/replay/observables.ts'
import { namedDialects } from '../../src/matrix/index.ts'
import { type Command, type Loss, LossLedger, type TurnEvent, type TurnStart } from '../../src/model/index.ts'
import { Mirror, optionsOf } from './mirror.ts'

/** A client, in one form of its answers. */
export interface Form {
  readonly name: string
  readonly dialect: Dialect
  /** Shows it a turn; `events` are what is between the turn's start and its end. */
  show(events: readonly TurnEvent[]): Shown
}

/** All that a client has read of a turn, and what it was not shown. */
export interface Shown {
  /** Without the losses that some answers list. */
  readonly text: string
  readonly losses: readonly Loss[]
}

/** The request for a form that a client's own back half does not request. */
interface Asking {
  readonly protocol: string
  readonly dialect: string
  readonly context: Partial<FrontContext>
  readonly frames: readonly string[]
}

const post = (path: string, headers: Record<string, string> = {}): Partial<FrontContext> => ({
  transport: 'http',
  method: 'POST',
  path,
  headers,
})
const json = (value: object): string => JSON.stringify(value)

const ASKING: Readonly<Record<string, Asking>> = {
  'native over HTTP': {
    protocol: 'native',
    dialect: 'http',
    context: post('/v1/turns'),
    frames: [json({ input: 'hi' })],
  },
  'native over HTTP, streamed': {
    protocol: 'native',
    dialect: 'http',
    context: post('/v1/turns', { accept: 'application/x-ndjson' }),
    frames: [json({ input: 'hi', options: { streaming: true } })],
  },
  'native, followed': {
    protocol: 'native',
    dialect: 'resource',
    context: { transport: 'http', method: 'GET', path: '/v1/turns/:turn/events', params: { turn: 't' } },
    frames: [''],
  },
  clawrun: {
    protocol: 'zene',
    dialect: 'clawrun',
    context: post('/v1/respond', { 'content-type': 'application/json' }),
    frames: [json({ agent: 'agent', prompt: 'hi', channel_id: 'c', session_id: 's' })],
  },
  'zene over HTTP': {
    protocol: 'zene',
    dialect: 'host',
    context: post('/v1/zene', { 'content-type': 'application/json' }),
    frames: [json({ request_id: 'r', session_id: 's', prompt: 'hi' })],
  },
  'agentproc over HTTP': {
    protocol: 'agentproc',
    dialect: '0.1',
    context: post('/v1/agentproc', { 'content-type': 'application/json' }),
    frames: [json({ AGENT_MESSAGE: 'hi', AGENT_SESSION_ID: '', AGENT_PROTOCOL_VERSION: '0.1' })],
  },
  'openharness, streamed': {
    protocol: 'openharness',
    dialect: 'v1',
    context: post('/v1/openharness', { accept: 'text/event-stream', 'content-type': 'application/json' }),
    frames: [
      json({
        protocol_version: '1.0.0',
        request_id: 'r',
        capabilities: { 'openharness.streaming': true },
        request: { context: { session_id: 's', user_intent: 'hi' } },
      }),
    ],
  },
  'qwen-code without pieces': {
    protocol: 'qwen',
    dialect: 'code',
    context: { argv: ['--input-format', 'stream-json', '--output-format', 'stream-json'] },
    frames: [
      json({ type: 'control_request', request_id: 'i', request: { subtype: 'initialize' } }),
      json({ type: 'user', message: { role: 'user', content: 'hi' } }),
    ],
  },
}

/** Every front of these codecs, in every form of its answers. */
export function formsOf(codecs: Readonly<Record<string, AnyCodec>>): Form[] {
  const named = namedDialects(Object.values(codecs))
  const asked = Object.entries(ASKING).map(([name, asking]) => {
    const dialect = codecs[asking.protocol]!.dialects[asking.dialect]!
    const { errors } = codecs[asking.protocol]!
    return { name, dialect, show: (events: readonly TurnEvent[]) => showAsked(dialect, errors, asking, events) }
  })
  const mirrored = named
    .filter(({ dialect }) => dialect.front && dialect.back)
    .flatMap(({ name, dialect }) => {
      const options = optionsOf(codecs[name.split('@')[0]!]!)
      const form = (streaming: boolean): Form => ({
        name: streaming ? `${name}, streamed` : name,
        dialect,
        show: (events) => showMirrored(dialect, options, streaming, events),
      })
      // If the request makes no difference, there is one form.
      const differ = form(true).show(PLAIN).text !== form(false).show(PLAIN).text
      return differ ? [form(false), form(true)] : [{ ...form(true), name }]
    })
  const forms = [...mirrored, ...asked]
  for (const { name, dialect } of named) {
    if (dialect.front && !forms.some((form) => form.dialect === dialect)) throw new Error(`${name} has no form here`)
  }
  return forms
}

const ACCEPTED = { type: 'turn-accepted', turn: 't', how: 'new', session: 's' } as const

const PLAIN: readonly TurnEvent[] = [
  ACCEPTED,
  { type: 'turn-started', turn: 't' },
  { type: 'message-start', turn: 't', message: 'm', role: 'assistant' },
  { type: 'text-delta', turn: 't', message: 'm', text: 'a' },
  { type: 'text-delta', turn: 't', message: 'm', text: 'b' },
  { type: 'message-end', turn: 't', message: 'm' },
  { type: 'turn-end', turn: 't', outcome: 'completed' },
]

function showMirrored(dialect: Dialect, options: unknown, streaming: boolean, events: readonly TurnEvent[]): Shown {
  const frames: Frame[] = []
  const ledger = new LossLedger()
  const mirror = new Mirror(dialect, options, {
    started() {},
    command() {},
    event() {},
    read: (frame) => frames.push(frame),
    shown: (loss) => ledger.add(loss),
  })
  mirror.open()
  const input = [{ type: 'text', text: 'hi' }] as const
  const start: Command & TurnStart = {
    exchange: 'x',
    session: { id: 's' },
    type: 'turn-start',
    turn: 't',
    task: 'prompt',
    input,
    options: { streaming },
  }
  mirror.start(start)
  for (const event of events) mirror.show(event)
  return seen(frames, ledger)
}

function showAsked(dialect: Dialect, errors: AnyCodec['errors'], asking: Asking, events: readonly TurnEvent[]): Shown {
  const frames: Frame[] = []
  const ledger = new LossLedger()
  let exchange: Exchange | undefined
  const none = { transport: 'stdio', method: '', path: '', query: '', headers: {}, argv: [], env: {} } as const
  const client = new RecordedClient(
    { dialect: asFront(dialect)!, context: { ...none, ...asking.context } },
    {
      command: (command, opened) => {
        if (command.type === 'turn-start' || command.type === 'turn-follow') exchange = opened
      },
      send: (frame) => frames.push(frame),
      loss: (loss, direction) => {
        if (direction === 'response') ledger.add(loss)
      },
    },
  )
  client.open()
  for (const frame of asking.frames) client.decode(frame)
  if (asking.context.transport === 'http') client.end()
  for (const event of events) client.deliver(event, exchange!)
  // The status of a whole answer is that of its failure.
  const end = events.at(-1)!
  const failure = end.type === 'turn-end' && end.outcome === 'failed' ? end.fault : undefined
  if (failure && exchange!.answer.form === 'whole') frames.push(`HTTP ${errors[failure.code].http}`)
  return seen(frames, ledger)
}

function seen(frames: readonly Frame[], { list }: LossLedger): Shown {
  const text = frames
    .map((frame) => (typeof frame === 'string' ? '' : `${frame.event} `) + frameText(frame))
    .join('\n')
    .replace(/,?"loss(?:es)?":\[[^\]]*\]/g, '')
  return { text, losses: list.filter(({ kind }) => kind !== 'invented') }
}
