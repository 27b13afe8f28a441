import { describe, expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import { type AnyCodec, asBack, type Frame } from '../../src/contract/index.ts'
import { viewOf } from '../../src/engine/events/view.ts'
import { RecordedAgent } from '../../src/engine/replay/observables.ts'
import { type Loss, type TurnEvent, textOf } from '../../src/model/index.ts'
import { optionsOf } from '../kit/mirror.ts'

/**
 * Whatever an agent gives its tool calls and questions for ids (the same one twice, numbers, empty ones, null, none),
 * each call has its own name, arguments and result, each question its own answer, and none is dropped.
 */

const codecs = await loadCodecs()

/** An id as it stands in a line: raw JSON, or undefined for a member that is not there. */
type Raw = string | undefined

/** The kinds of ids, for a first and a second thing. */
const KINDS: Readonly<Record<string, readonly [Raw, Raw]>> = {
  'of their own': ['"a"', '"b"'],
  repeated: ['"a"', '"a"'],
  numbers: ['1', '2'],
  'repeated numbers': ['7', '7'],
  'a number and its digits': ['7', '"7"'],
  empty: ['""', '""'],
  null: ['null', 'null'],
  absent: [undefined, undefined],
  'one that a repeated one might get': ['"a#2"', '"a"'],
}

/** A JSON object of these members, without those that have no value. */
function line(members: Readonly<Record<string, Raw>>): string {
  const there = Object.entries(members).filter(([, value]) => value !== undefined)
  return `{${there.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`
}

/** How an agent of a dialect calls a tool and has its result; one whose results need an id that is there says so. */
interface Speaks {
  call(id: Raw, name: string): Frame[]
  result(id: Raw, text: string): Frame[]
  begin?: Frame[]
  end: Frame[]
}

const text = (said: string): string => JSON.stringify(said)
const args = (name: string): string => `{"of":${text(name)}}`
const event = (name: string, members: Readonly<Record<string, Raw>>): Frame => ({ event: name, data: line(members) })

const AGENTS: Readonly<Record<string, Speaks>> = {
  zot: {
    begin: [line({ type: '"turn_start"', step: '1' })],
    call: (id, name) => [line({ type: '"tool_call"', id, name: text(name), args: args(name) })],
    result: (id, said) => [
      line({ type: '"tool_result"', id, is_error: 'false', content: `[{"type":"text","text":${text(said)}}]` }),
    ],
    end: [line({ type: '"turn_end"', stop: '"end"' }), line({ type: '"done"' })],
  },
  'zot in pieces': {
    begin: [line({ type: '"turn_start"', step: '1' })],
    call: (id, name) => [
      line({ type: '"tool_use_start"', id, name: text(name) }),
      line({ type: '"tool_use_args"', id, delta: text(args(name)) }),
      line({ type: '"tool_use_end"', id }),
      line({ type: '"tool_call"', id, name: text(name), args: args(name) }),
    ],
    result: (id, said) => [line({ type: '"tool_result"', id, content: `[{"type":"text","text":${text(said)}}]` })],
    end: [line({ type: '"turn_end"', stop: '"end"' }), line({ type: '"done"' })],
  },
  'qwen-code': {
    call: (id, name) => [
      line({
        type: '"assistant"',
        message: line({
          id: '"m"',
          role: '"assistant"',
          content: `[${line({ type: '"tool_use"', id, name: text(name), input: args(name) })}]`,
        }),
      }),
    ],
    result: (id, said) => [
      line({
        type: '"user"',
        message: line({
          role: '"user"',
          content: `[${line({ type: '"tool_result"', tool_use_id: id, content: text(said) })}]`,
        }),
      }),
    ],
    end: [line({ type: '"result"', subtype: '"success"', is_error: 'false', result: '"ok"' })],
  },
  qwen: {
    call: (id, name) => [
      line({
        object: '"chat.completion"',
        choices: `[${line({
          index: '0',
          message: line({
            role: '"assistant"',
            content: '""',
            tool_calls: `[${line({ id, type: '"function"', function: line({ name: text(name), arguments: text(args(name)) }) })}]`,
          }),
          finish_reason: '"tool_calls"',
        })}]`,
      }),
    ],
    result: (id, said) => [
      line({
        type: '"x-qwen-tool-display"',
        tool_call_id: id,
        status: '"success"',
        result_display: text(said),
      }),
    ],
    end: [
      line({
        object: '"chat.completion"',
        choices: `[${line({ index: '0', message: line({ role: '"assistant"', content: '"ok"' }), finish_reason: '"stop"' })}]`,
      }),
      line({ type: '"x-qwen-session-event"', event: '"Finished"' }),
    ],
  },
  openharness: {
    call: (id, name) => [event('tool_call', { tool: id, name: text(name), args: args(name), executor: '"agent"' })],
    result: (id, said) => [
      event('tool_end', { tool: id, status: '"ok"', parts: `[{"type":"text","text":${text(said)}}]` }),
    ],
    end: [
      {
        event: 'response',
        data: '{"protocol_version":"1.0.0","response":{"status":"success","action_directives":[]}}',
      },
    ],
  },
  native: {
    call: (id, name) => [
      line({ type: '"tool-call"', turn: '"t"', tool: id, name: text(name), args: args(name), executor: '"agent"' }),
    ],
    result: (id, said) => [
      line({
        type: '"tool-end"',
        turn: '"t"',
        tool: id,
        status: '"ok"',
        parts: `[{"type":"text","text":${text(said)}}]`,
      }),
    ],
    end: [line({ type: '"turn-end"', turn: '"t"', outcome: '"completed"' })],
  },
}

interface Heard {
  events: TurnEvent[]
  losses: Loss[]
  sent: string[]
  agent: RecordedAgent
}

/** An agent that is given a turn, and what it says. */
function hear(codec: AnyCodec, frames: readonly Frame[], named = Object.keys(codec.dialects)[0]!): Heard {
  const dialect = asBack(codec.dialects[named])
  const heard: Heard = { events: [], losses: [], sent: [], agent: undefined! }
  const process = { command: 'agent', args: [], env: {}, cwd: '/' }
  const context = { options: optionsOf(codec), agent: 'agent', env: {}, folder: '/', process }
  heard.agent = new RecordedAgent(
    dialect,
    { ...context, recorded: 'agent' },
    {
      event: (event) => heard.events.push(event),
      loss: (loss) => heard.losses.push(loss),
    },
    { send: (frame) => heard.sent.push(typeof frame === 'string' ? frame : frame.data) },
  )
  heard.agent.open()
  const input = [{ type: 'text', text: 'hi' }] as const
  heard.agent.start({ exchange: 'x', type: 'turn-start', turn: 't', task: 'prompt', input, options: {} })
  if (codec.name === 'openharness') {
    heard.agent.head({ status: 200, headers: { 'content-type': 'text/event-stream' } })
  }
  heard.sent.length = 0
  for (const frame of frames) heard.agent.decode(frame)
  return heard
}

describe.each(Object.entries(AGENTS))('calls of %s', (name, speaks) => {
  const codec = codecs[name.split(' ')[0]!]!

  test.each(Object.entries(KINDS))('with ids that are %s, one after the other', (_kind, [one, two]) => {
    const { call, result, begin = [], end } = speaks
    const frames = [
      ...begin,
      ...call(one, 'bash'),
      ...result(one, 'files'),
      ...call(two, 'read'),
      ...result(two, 'content'),
      ...end,
    ]
    expectTwo(hear(codec, frames))
  })

  test.each(Object.entries(KINDS))('with ids that are %s, at once', (_kind, [one, two]) => {
    const { call, result, begin = [], end } = speaks
    const frames = [
      ...begin,
      ...call(one, 'bash'),
      ...call(two, 'read'),
      ...result(one, 'files'),
      ...result(two, 'content'),
      ...end,
    ]
    expectTwo(hear(codec, frames))
  })
})

function expectTwo({ events, losses }: Heard): void {
  const { tools } = viewOf({ turn: 't', session: 's', agent: 'a', startedAt: 0 }, events)
  expect(tools.map(({ name, args, status, parts }) => [name, args, status, textOf(parts)])).toEqual([
    ['bash', '{"of":"bash"}', 'ok', 'files'],
    ['read', '{"of":"read"}', 'ok', 'content'],
  ])
  expect(new Set(tools.map(({ id }) => id)).size).toBe(2)
  expect(losses).toEqual([])
  expect(events.at(-1)).toMatchObject({ type: 'turn-end', outcome: 'completed' })
}

test.each([
  ['openharness', 'null'],
  ['openharness', '7'],
  ['native', 'null'],
  ['native', '7'],
])('a message of %s whose id is %s is read', (name, id) => {
  const { end } = AGENTS[name]!
  const said: Frame[] =
    name === 'native'
      ? [line({ type: '"text-delta"', turn: '"t"', message: id, text: '"Hi"' })]
      : [
          event('message_start', { message: id, role: '"assistant"' }),
          event('text_delta', { message: id, text: '"Hi"' }),
          event('message_end', { message: id }),
        ]
  const { events, losses } = hear(codecs[name]!, [...said, ...end])
  const { messages } = viewOf({ turn: 't', session: 's', agent: 'a', startedAt: 0 }, events)
  expect(messages.map(({ text }) => text)).toEqual(['Hi'])
  expect(losses).toEqual([])
})

/** How an agent of a dialect asks for consent, and the id and the word of each answer that it was sent. */
const ASKING: Readonly<Record<string, { ask(id: Raw): Frame; begin?: Frame[]; answers(sent: string[]): unknown[] }>> = {
  'qwen-code': {
    ask: (request_id) =>
      line({
        type: '"control_request"',
        request_id,
        request: line({ subtype: '"can_use_tool"', tool_name: '"bash"', input: '{}' }),
      }),
    answers: (sent) =>
      sent.map((said) => {
        const { response } = JSON.parse(said) as { response: { request_id: unknown; response: { behavior: string } } }
        return [response.request_id, response.response.behavior]
      }),
  },
  qwen: {
    ask: (request_id) =>
      line({ type: '"control_request"', request_id, subtype: '"can_use_tool"', tool: '{"name":"bash"}' }),
    answers: (sent) =>
      sent.map((said) => {
        const { request_id, response } = JSON.parse(said) as {
          request_id: unknown
          response: { result: { behavior: string } }
        }
        return [request_id, response.result.behavior.replace('approve', 'allow')]
      }),
  },
  agentproc: {
    ask: (request_id) => line({ type: '"permission_request"', request_id, tool_name: '"bash"', input: '{}' }),
    answers: (sent) =>
      sent.map((said) => {
        const { request_id, behavior } = JSON.parse(said) as { request_id: unknown; behavior: string }
        return [request_id, behavior]
      }),
  },
}

describe.each(Object.entries(ASKING))('questions of %s', (name, { ask, answers }) => {
  const codec = codecs[name]!
  const dialect = name === 'agentproc' ? '0.4' : undefined

  test.each<readonly [kind: string, one: string, two: string]>([
    ['of their own', '"a"', '"b"'],
    ['repeated', '"a"', '"a"'],
    // Wire 0.4 of AgentProc has strings alone, and says that other requests are left unanswered.
    ...(name === 'agentproc' ? [] : [['numbers', '1', '2'] as const, ['a number and its digits', '7', '"7"'] as const]),
  ])('with ids that are %s each get their own answer', (_kind, one, two) => {
    const heard = hear(codec, [ask(one), ask(two)], dialect)
    const asks = heard.events.flatMap((event) => (event.type === 'ask' ? [event.ask] : []))
    expect(new Set(asks).size).toBe(2)
    for (const [at, option] of ['allow', 'deny'].entries()) {
      const question = heard.events.find((event) => event.type === 'ask' && event.ask === asks[at])
      if (question?.type !== 'ask' || question.question.kind !== 'approval') throw new Error('no approval')
      const chosen = question.question.options.find(({ kind }) => kind === option)!
      const reply = { kind: 'approval', option: chosen.id } as const
      heard.agent.send({ exchange: 'y', type: 'ask-reply', target: { turn: 't' }, ask: asks[at]!, reply })
    }
    expect(answers(heard.sent)).toEqual([
      [JSON.parse(one), 'allow'],
      [JSON.parse(two), 'deny'],
    ])
    expect(heard.losses).toEqual([])
  })
})
