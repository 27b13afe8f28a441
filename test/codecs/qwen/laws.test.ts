import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TurnEvent } from '../../../src/model/index.ts'
import { driveBack, type FrontDrive } from '../../kit/drive.ts'
import {
  CHUNK_ARGS,
  chat,
  codec,
  completed,
  endsOf,
  feed,
  front,
  http,
  JSON_ARGS,
  play,
  runningBack,
  withoutTurn,
} from './kit.ts'

const text = fc.string({ unit: 'grapheme', minLength: 1 })
const json = fc.jsonValue()

/** Something that looks like a line of the wire, more or less. */
const odd = fc.oneof(
  json,
  fc.record(
    {
      type: fc.constantFrom(
        'x-qwen-thought',
        'x-qwen-terminal',
        'x-qwen-tool-display',
        'x-qwen-session-event',
        'result/command',
        'result/command_hint',
        'result/heartbeat',
        'result/cancel',
        'control_request',
        'control_response',
        'control/cancel',
        'command_hint_request',
        'heartbeat_request',
      ),
      object: fc.constantFrom('chat.completion', 'chat.completion.chunk'),
      choices: fc.array(
        fc.record(
          {
            delta: fc.oneof(json, fc.record({ content: text, role: fc.constant('assistant'), tool_calls: json })),
            message: fc.oneof(json, fc.record({ content: text, tool_calls: json, annotations: json })),
            finish_reason: fc.constantFrom(null, 'stop', 'tool_calls', 'error', 'x'),
          },
          { requiredKeys: [] },
        ),
      ),
      event: fc.constantFrom('Finished', 'USER_CANCELLED', 'Other', 7),
      result: json,
      metadata: json,
      annotations: json,
      tool_call_id: fc.constantFrom('c', 'd'),
      status: fc.constantFrom('Success', 'ok', 'noop', 1),
      request_id: fc.oneof(text, fc.constant(1)),
      subtype: fc.constantFrom('can_use_tool', 'mcp_message'),
      payload: json,
      response: json,
      input: fc.oneof(
        json,
        fc.record({ parts: json, command: json, origin: fc.constantFrom('user', 'tool_response') }),
      ),
      messages: fc.oneof(
        json,
        fc.array(fc.record({ role: fc.constantFrom('user', 'assistant', 'system'), content: json })),
      ),
      usage: json,
      error: json,
    },
    { requiredKeys: [] },
  ),
)
const lines = fc.array(
  fc.oneof(
    odd.map((value) => JSON.stringify(value)),
    text,
  ),
  { maxLength: 12 },
)

describe('an agent that says anything', () => {
  test('never breaks the link, and every turn ends once', () => {
    fc.assert(
      fc.property(lines, fc.constantFrom('session', 'turn'), fc.boolean(), (wire, lifetime, cancelled) => {
        const drive = driveBack(codec, { options: { lifetime } })
        drive.link.open?.()
        drive.start('hi')
        drive.feed(...wire)
        if (cancelled) drive.link.encode({ type: 'turn-cancel', exchange: 'x', target: { turn: 't1' } })
        drive.feed(...wire)
        drive.link.decodeEnd({ why: 'closed', exitCode: 0 })
        expect(endsOf(drive.events)).toHaveLength(1)
        drive.start('more', { turn: 't2' })
        drive.feed(...wire)
        drive.link.decodeEnd({ why: 'closed', exitCode: 1 })
        expect(endsOf(drive.events).map(({ turn }) => turn)).toEqual(['t1', 't2'])
      }),
      { numRuns: 300 },
    )
  })
})

describe('a client that says anything', () => {
  /** Ends all that the front has started, until nothing new comes. */
  const serve = (drive: FrontDrive): void => {
    for (let at = 0; at < drive.commands.length; at += 1) {
      const { type, exchange } = drive.commands[at]!
      if (type === 'turn-start') play(drive, [{ type: 'turn-accepted', how: 'new', session: 's' }, completed], exchange)
      else drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange })
    }
  }

  test('never breaks the link, and the wire closes when all is answered', () => {
    const fronts = [() => front(JSON_ARGS), () => front(CHUNK_ARGS), () => front([]), () => http()]
    fc.assert(
      fc.property(lines, fc.constantFrom(...fronts), (wire, open) => {
        const drive = open()
        drive.feed(...wire)
        serve(drive)
        drive.link.decodeEnd!('eof')
        serve(drive)
        expect(drive.exitCode).toBeTypeOf('number')
        if (drive.answers.size > 0 && [...drive.answers.values()].every(({ framing }) => framing === 'ndjson')) {
          for (const frame of drive.sent) expect(JSON.parse(String(frame))).toBeTypeOf('object')
        }
      }),
      { numRuns: 300 },
    )
  })
})

describe('the same protocol on both sides', () => {
  const step = fc.oneof(
    fc.record({ say: fc.array(text, { minLength: 1, maxLength: 3 }) }),
    fc.record({ think: text.filter((value) => !value.startsWith('**')) }),
    fc.record({ call: fc.constantFrom('{"n":1.10}', '{"__proto__":1}', '{}'), result: text }),
    fc.record({ warn: text }),
    fc.record({ out: text }),
  )
  type Step = { say?: string[]; think?: string; call?: string; result?: string; warn?: string; out?: string }

  const eventsOf = (steps: readonly Step[]): TurnEvent[] =>
    steps.flatMap((one, at): object[] => {
      const message = `m${at}`
      const start = { type: 'message-start', message, role: 'assistant' }
      const end = { type: 'message-end', message }
      if (one.say) return [start, ...one.say.map((piece) => ({ type: 'text-delta', message, text: piece })), end]
      if (one.think) return [start, { type: 'reasoning-delta', message, text: one.think }, end]
      if (one.warn) return [{ type: 'notice', severity: 'warning', code: 'some-code', text: one.warn }]
      if (one.out) return [{ type: 'terminal-output', stream: 'stderr', text: one.out }]
      const tool = `c${at}`
      return [
        { type: 'tool-call', tool, name: 'n', args: one.call, executor: 'agent' },
        { type: 'tool-end', tool, status: 'ok', parts: [{ type: 'text', text: one.result }] },
      ]
    }) as TurnEvent[]

  /** What matters of events: their words, however they were cut. */
  const gist = (events: readonly object[]): unknown[] => {
    const told: unknown[] = []
    let message: unknown
    for (const event of events as Record<string, unknown>[]) {
      const words =
        event['type'] === 'message-end' ? (event['parts'] as { text: string }[] | undefined)?.[0]?.text : event['text']
      if (event['type'] === 'tool-call') told.push([event['tool'], event['args']])
      else if (event['type'] === 'tool-end') told.push([event['tool'], event['parts']])
      else if (event['type'] === 'turn-end') told.push(event['outcome'])
      else if (words === undefined || event['type'] === 'tool-args-delta') continue
      else if (event['type'] === 'text-delta' && message === event['message']) {
        told.push(`${told.pop()}${words}`)
      } else told.push(words)
      message = event['type'] === 'text-delta' ? event['message'] : undefined
    }
    return told
  }

  test('loses nothing', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 6 }), fc.constantFrom(JSON_ARGS, CHUNK_ARGS), (steps, argv) => {
        const client = front(argv)
        client.feed(chat('hi'))
        const events = [...eventsOf(steps), { type: 'turn-end', outcome: 'completed', stop: 'end' } as TurnEvent]
        play(client, [{ type: 'turn-accepted', how: 'new', session: 's' }, ...events])
        expect(client.losses).toEqual([])
        const agent = runningBack({ request: 's########1' })
        agent.feed(...client.sent)
        expect(agent.losses).toEqual([])
        const read = withoutTurn(agent.events).filter((event) => !('code' in event && event.code === 'empty-answer'))
        expect(gist(read)).toEqual(gist(events))
      }),
      { numRuns: 200 },
    )
  })

  // A string and a part without a type are written as the text parts that they are.
  const nested = json.filter(
    (value) => typeof value !== 'string' && !(value !== null && typeof value === 'object' && 'text' in value),
  )

  test('a request goes through as it came', () => {
    fc.assert(
      fc.property(
        fc.record({
          parts: fc.array(fc.oneof(fc.record({ type: fc.constant('text'), text }), nested), { minLength: 1 }),
          extra: json,
        }),
        ({ parts, extra }) => {
          const line = JSON.stringify({
            prompt_id: 'p',
            input: { origin: 'user', parts },
            extra,
            options: { top_p: 1, extra },
          })
          const client = front()
          client.feed(line)
          const start = client.commands[0]
          if (start?.type !== 'turn-start' || start.invocation) return
          const agent = driveBack(codec)
          agent.link.encode(start)
          const sent = JSON.parse(String(agent.sent[0])) as {
            input: { parts: unknown }
            extra: unknown
            options: object
          }
          expect(sent.input.parts).toEqual(JSON.parse(JSON.stringify(parts)))
          expect(sent.extra).toEqual(JSON.parse(JSON.stringify(extra)))
          expect(sent.options).toEqual({ top_p: 1, extra: sent.extra })
        },
      ),
    )
  })

  test('questions and their answers', () => {
    const agent = runningBack()
    const line =
      '{"type":"control_request","request_id":"r","subtype":"can_use_tool","tool":{"name":"n","arguments":{"n":1.10}},"metadata":{"reason":"w"}}'
    feed(agent, [line])
    const client = front()
    client.feed(chat('x'))
    play(client, agent.events)
    expect(JSON.parse(String(client.sent.at(-1)))).toMatchObject(JSON.parse(line))
    client.feed(
      '{"type":"control_response","request_id":"r","response":{"subtype":"success","result":{"behavior":"approve"}}}',
    )
    const reply = client.commands.at(-1)!
    agent.link.encode(reply)
    expect(agent.sent).toEqual([
      '{"type":"control_response","request_id":"r","response":{"subtype":"success","result":{"behavior":"approve"}}}',
    ])
  })
})
