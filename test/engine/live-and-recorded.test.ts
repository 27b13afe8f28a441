import fc from 'fast-check'
import { from, lastValueFrom, toArray } from 'rxjs'
import { expect, test } from 'vitest'
import { loadCodec } from '../../codecs/index.ts'
import { asFront, type Framing, type FrontContext, silentHooks } from '../../src/contract/index.ts'
import { ClientLink } from '../../src/engine/client/client-link.ts'
import type { Exchange } from '../../src/engine/client/exchange.ts'
import { Outbox } from '../../src/engine/client/outbox.ts'
import { LiveView } from '../../src/engine/events/view.ts'
import { encode$ } from '../../src/engine/replay/observables.ts'
import { encodeFrame } from '../../src/framing/index.ts'
import { fault, type Loss, type TurnEvent } from '../../src/model/index.ts'
import { settingsOf } from '../kit/engine-parts.ts'

/** A client's request in one of these protocols. */
interface Request {
  protocol: string
  dialect: string
  context: Partial<FrontContext>
  input: Framing
  /** The framing of the answer. */
  answer: Framing
  body: string
}

const post = (path: string, accept: string): Partial<FrontContext> => ({
  transport: 'http',
  method: 'POST',
  path,
  headers: { 'content-type': 'application/json', accept },
})

const REQUESTS: Readonly<Record<string, Request>> = {
  'zene on stdio': {
    protocol: 'zene',
    dialect: 'host',
    context: {},
    input: 'ndjson',
    answer: 'ndjson',
    body: JSON.stringify({ request_id: 'r', session_id: 's', prompt: 'hi' }),
  },
  'native, streamed': {
    protocol: 'native',
    dialect: 'http',
    context: post('/v1/turns', 'application/x-ndjson'),
    input: 'body',
    answer: 'ndjson',
    body: JSON.stringify({ input: 'hi' }),
  },
  'openharness, streamed': {
    protocol: 'openharness',
    dialect: 'v1',
    context: post('/v1/openharness', 'text/event-stream'),
    input: 'body',
    answer: 'sse',
    body: JSON.stringify({
      protocol_version: '1.0.0',
      request_id: 'r',
      capabilities: { 'openharness.streaming': true },
      request: { context: { session_id: 's', user_intent: 'hi' } },
    }),
  },
}

const contextOf = (more: Partial<FrontContext>): FrontContext => ({
  transport: 'stdio',
  method: '',
  path: '',
  query: '',
  headers: {},
  argv: [],
  env: {},
  ...more,
})

/** What a gateway writes for these events, and what was lost on the way to its client. */
async function live({ protocol, dialect, context, input, body }: Request, events: readonly TurnEvent[]) {
  const codec = (await loadCodec(protocol))!
  let text = ''
  let exchange!: Exchange
  const sink = {
    head() {},
    write(more: string) {
      text += more
      return true
    },
    whenRead() {},
    warn() {},
    end() {},
    abort() {},
  }
  const client = new ClientLink(
    {
      listener: {
        command: (_client, _command, opened) => {
          exchange = opened!
        },
        delivered() {},
        broken(_client, error) {
          throw error
        },
      },
      outbox: new Outbox(
        () => {},
        () => {},
        () => {},
      ),
      hooks: silentHooks,
      settings: { current: settingsOf([]) },
      keepAliveMs: 1000,
      now: () => 0,
    },
    {
      front: { name: protocol, codec, dialect: asFront(codec.dialects[dialect]) },
      context: contextOf(context),
      input,
      sink,
      carrier: {},
      access: { tenant: 'local', role: 'user' },
    },
  )
  client.open()
  client.push(input === 'body' ? body : `${body}\n`)
  if (input === 'body') client.end('eof')
  const view = new LiveView({ turn: 't', session: 's', agent: 'agent', at: 0 })
  for (const event of events) {
    view.apply(event, 0)
    exchange.deliver(event, view)
  }
  await new Promise(setImmediate)
  client.disconnect()
  return { text: text.replaceAll(`${client.id}-`, ''), losses: exchange.losses }
}

/** What `encode$` gives for them. */
async function recorded({ protocol, dialect, context, answer, body }: Request, events: readonly TurnEvent[]) {
  const codec = (await loadCodec(protocol))!
  const losses: Loss[] = []
  const reading = {
    context: contextOf(context),
    request: [body],
    agent: 'agent',
    loss: (loss: Loss) => losses.push(loss),
  }
  const frames = encode$(asFront(codec.dialects[dialect]), from(events), reading)
  const text = (await lastValueFrom(frames.pipe(toArray()))).map((frame) => encodeFrame(answer, frame)).join('')
  return { text, losses }
}

const piece: fc.Arbitrary<TurnEvent> = fc.oneof(
  fc.string().map((text): TurnEvent => ({ type: 'text-delta', turn: 't', message: 'm', text })),
  fc.string().map((text): TurnEvent => ({ type: 'reasoning-delta', turn: 't', message: 'm', text })),
  fc.constant<TurnEvent>({ type: 'step-start', turn: 't', step: 1 }),
  fc.constant<TurnEvent>({ type: 'plan', turn: 't', json: '[]' }),
  fc.constant<TurnEvent>({ type: 'tool-start', turn: 't', tool: 'c', name: 'read', executor: 'agent' }),
  fc.constant<TurnEvent>({ type: 'notice', turn: 't', severity: 'info', code: 'c', text: 'n' }),
)

const end = fc.constantFrom<TurnEvent>(
  { type: 'turn-end', turn: 't', outcome: 'completed', stop: 'end' },
  { type: 'turn-end', turn: 't', outcome: 'failed', stop: 'error', fault: fault('timeout', 'late') },
  { type: 'turn-end', turn: 't', outcome: 'cancelled' },
)

test.each(Object.entries(REQUESTS))('law: a gateway writes what encode$ gives: %s', async (_name, request) => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), end, async (pieces, last) => {
      const events: TurnEvent[] = [
        { type: 'turn-accepted', turn: 't', how: 'new', session: 's' },
        { type: 'turn-started', turn: 't' },
        { type: 'message-start', turn: 't', message: 'm', role: 'assistant' },
        ...pieces,
        { type: 'message-end', turn: 't', message: 'm' },
        last,
      ]
      const written = await live(request, events)
      const given = await recorded(request, events)
      expect(written.text).not.toBe('')
      expect(written.text).toBe(given.text)
      const sum = (losses: readonly Loss[]): number => losses.reduce((all, { count }) => all + count, 0)
      expect(sum(written.losses)).toBe(sum(given.losses))
    }),
  )
})
