import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadCodec } from '../../codecs/index.ts'
import { callIdOf } from '../../src/codec-kit/index.ts'
import { asFront, framesOf } from '../../src/contract/index.ts'
import { FrontHost } from '../../src/engine/client/front-host.ts'
import type { Exchange } from '../../src/engine/client/index.ts'
import { acceptedTurn, LiveView } from '../../src/engine/events/index.ts'
import { encodeFrame, encodeRun } from '../../src/framing/index.ts'
import { type EventOf, LossLedger, TextRun, type TurnEvent } from '../../src/model/index.ts'

type TextDelta = EventOf<'text-delta'>

/** The messages of a request with the result of a call of a parked turn. */
const CALL = callIdOf('toolu_', { continuation: 't.token', at: 1 })
const ANSWERED = [
  { role: 'user', content: 'go' },
  { role: 'assistant', content: [{ type: 'tool_use', id: CALL, name: 'look', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: CALL, content: 'seen' }] },
]

/** A line that starts a turn of Zene. */
const RUN = { protocol_version: 1, type: 'run', request_id: 'r1', session_id: 's', prompt: 'go' }

/** The requests that streamed answers are asked for with, over HTTP or by a program that was started with `argv`. */
const REQUESTS: readonly [
  protocol: string,
  dialect: string | undefined,
  body: object,
  headers?: object,
  argv?: readonly string[],
][] = [
  ['native', undefined, { type: 'turn-start', input: 'go' }, {}, []],
  ['native', undefined, { type: 'turn-start', turn: 'mine', input: 'go' }, {}, []],
  ['zot', undefined, { type: 'prompt', message: 'go' }, {}, ['rpc']],
  ['zene', undefined, RUN, {}, ['host', '--protocol', 'v1', '--single-request', 'false']],
  ['zene', undefined, { ...RUN, stream: false }, {}, ['host', '--protocol', 'v1', '--single-request', 'false']],
  ['agentproc', '0.4', { type: 'turn', message: 'go', protocol_version: '0.4' }, {}, []],
  ['agentproc', '0.3', { type: 'turn', message: 'go', protocol_version: '0.3' }, {}, []],
  ['native', 'http', { input: 'go' }],
  ['native', 'http', { input: 'go' }, { accept: 'application/x-ndjson' }],
  [
    'openharness',
    undefined,
    {
      protocol_version: '1.0.0',
      request_id: 'r1',
      capabilities: { 'openharness.streaming': true },
      request: { context: { user_intent: 'go' } },
    },
  ],
  ['openai', undefined, { model: 'm', stream: true, messages: [{ role: 'user', content: 'go' }] }],
  ['openai', 'responses', { model: 'm', stream: true, input: 'go' }],
  ['anthropic', undefined, { model: 'm', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'go' }] }],
  ['anthropic', undefined, { model: 'm', max_tokens: 9, stream: true, messages: ANSWERED }],
]

async function client([protocol, dialect, body, headers, argv]: (typeof REQUESTS)[number]) {
  const codec = (await loadCodec(protocol))!
  const of = asFront(codec.dialects[dialect ?? Object.keys(codec.dialects)[0]!]!)
  const path = protocol === 'anthropic' ? '/v1/messages' : protocol === 'native' ? '/v1/turns' : '/'
  const common = { 'content-type': 'application/json', accept: 'text/event-stream', 'anthropic-version': '2023-06-01' }
  return () => {
    let written = ''
    let exchange: Exchange | undefined
    const losses = new LossLedger()
    const host: FrontHost = new FrontHost(
      {
        dialect: of,
        context: {
          transport: argv ? 'stdio' : 'http',
          method: 'POST',
          path,
          query: '',
          headers: argv ? {} : { ...common, ...headers },
          argv: argv ?? [],
          env: {},
        },
        idPrefix: 'L-',
        now: () => 0,
        warn() {},
        statusOf: () => 500,
      },
      {
        command: (_command, opened) => {
          exchange = opened ?? exchange
          if (exchange) exchange.onLoss = (loss) => losses.add(loss)
        },
        send: (frame) => {
          written += encodeFrame(host.framingOf(frame), frame)
        },
        sendRun: (run) => {
          written += encodeRun(host.framingOf({ data: '' }), run)
        },
        fault: (found) => expect.unreachable(found.message),
        ended() {},
        inputEnded() {},
      },
    )
    host.open()
    host.decode(JSON.stringify(body))
    const view = new LiveView({ turn: 't', session: 's', agent: 'a', at: 0 })
    const one = (event: TurnEvent): void => {
      view.apply(event, 1)
      exchange!.deliver(event, view)
    }
    return {
      one,
      run(run: TextRun): void {
        view.applyTexts(run, 1)
        if (exchange!.takesTexts) exchange!.deliverTexts(run, view)
        else expect.unreachable('the front takes no texts')
      },
      view,
      losses,
      text: () => written,
    }
  }
}

const piece = fc.oneof(fc.string({ unit: 'binary', minLength: 1, maxLength: 6 }), fc.constant(' plain'))
const runs = fc.array(
  fc.tuple(fc.constantFrom('m', 'n', 'sub', 'no'), fc.array(piece, { minLength: 1, maxLength: 5 })),
  {
    minLength: 1,
    maxLength: 5,
  },
)

function delta(message: string, text: string): TextDelta {
  return { turn: 't', type: 'text-delta', message, text }
}

function runOf(message: string, texts: readonly string[]): TextRun {
  return new TextRun(delta(message, texts[0]!), [...texts])
}

describe.each(REQUESTS)('a client of %s %s', (...request) => {
  test('law: reads the same when pieces of text are written together', async () => {
    const open = await client(request)
    const begin = [acceptedTurn('t', 'new', 's', undefined), { type: 'turn-started', turn: 't' } as const]
    const refused = { message: 'no', phase: 'refusal' } as const
    const messages = [{ message: 'm' }, { message: 'n' }, { message: 'sub', lane: 'l' }, refused].map(
      (about) => ({ type: 'message-start', turn: 't', role: 'assistant', ...about }) as const,
    )
    const end: TurnEvent = { type: 'turn-end', turn: 't', outcome: 'completed', stop: 'end' }
    fc.assert(
      fc.property(runs, fc.nat(2), (pieces, begun) => {
        const [alone, together] = [open(), open()]
        for (const it of [alone, together]) {
          for (const event of begin.slice(0, begun)) it.one(event)
          for (const event of messages) it.one(event)
        }
        for (const [message, texts] of pieces) {
          for (const text of texts) alone.one(delta(message, text))
          together.run(runOf(message, texts))
        }
        for (const it of [alone, together]) it.one(end)
        expect(together.text()).toBe(alone.text())
        expect(together.view).toEqual(alone.view)
        expect(together.losses.list).toEqual(alone.losses.list)
      }),
      { numRuns: 60 },
    )
  })

  test('reads the same when nothing comes before the pieces', async () => {
    const open = await client(request)
    const [alone, together] = [open(), open()]
    for (const text of ['a', 'b']) alone.one(delta('m', text))
    together.run(runOf('m', ['a', 'b']))
    expect(together.text()).toBe(alone.text())
  })
})

test('a run is the events that it was made of', () => {
  const run = runOf('m', ['a', '"', '\u2028'])
  expect(run.events).toEqual(['a', '"', '\u2028'].map((text) => delta('m', text)))
  expect([run.length, run.text, run.inner]).toEqual([3, 'a"\u2028', ['a', '\\"', '\\u2028']])
  expect(run.of('m')).toBe(run)
  expect(run.of('n').events[1]).toEqual(delta('n', '"'))
  const takes = (more: object): boolean => TextRun.takes({ ...delta('m', 'a'), ...more })
  expect([takes({}), takes({ text: '' }), takes({ lane: 'x' }), takes({ ext: { protocol: 'x', json: '{}' } })]).toEqual(
    [true, false, false, false],
  )
})

test.each(['sse', 'ndjson', 'body'] as const)('a run of frames is written as each of them: %s', (framing) => {
  for (const more of [{}, { event: 'e' }, { event: 'e', id: 9 }]) {
    const run = { before: '{"a":"', pieces: ['x', '', 'y'], after: '"}', ...more }
    const each = framesOf(run).map((frame) => encodeFrame(framing, frame))
    expect(encodeRun(framing, run)).toBe(each.join(''))
  }
})
