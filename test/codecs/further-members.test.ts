/**
 * Members that no codec knows, at every place of a request: a server of the same API gets them where they were, and
 * towards any other server they are a loss.
 */
import { describe, expect, test } from 'vitest'
import { codec as anthropic } from '../../codecs/anthropic/index.ts'
import { codec as openai } from '../../codecs/openai/index.ts'
import { callIdOf } from '../../src/codec-kit/index.ts'
import type { AgentEvent, Command, CommandOf, Loss, TurnEvent, TurnStart } from '../../src/model/index.ts'
import { driveBack, driveFront } from '../kit/drive.ts'

type Api = 'chat' | 'responses' | 'messages'
type Path = readonly (string | number)[]

/** Digits that a parsed number would lose. */
const VALUE = '{"n":1.0,"big":12345678901234567890}'
const MEMBER = `"x_further":${VALUE}`
const PLACEHOLDER = '"x_further":"?"'

/** The id of a call that a turn waits for. */
const ID = callIdOf('call_', { continuation: 't1.secret', at: 0 })
const PIXEL = 'iVBORw0KGgo='
const SCHEMA = { type: 'object', properties: { p: { type: 'string' } } }

/** A request of each API that has something at every place that is read. */
const REQUESTS: Readonly<Record<Api, object>> = {
  chat: {
    model: 'coder',
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be kind.' }] },
      { role: 'developer', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
          { type: 'input_audio', input_audio: { data: PIXEL, format: 'wav' } },
          { type: 'file', file: { file_data: `data:application/pdf;base64,${PIXEL}`, filename: 'a.pdf' } },
          { type: 'video_url', video_url: { url: 'https://v.example/' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'I see' },
          { type: 'refusal', refusal: 'No.' },
        ],
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'ls', arguments: '{}' } },
          { id: 'c2', type: 'custom', custom: { name: 'sh', input: 'pwd' } },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'a.txt' }] },
      { role: 'tool', tool_call_id: 'c2', content: '/' },
      { role: 'system', content: 'now' },
      { role: 'assistant', content: 'Done.' },
      { role: 'user', content: 'go' },
      { role: 'user', content: [{ type: 'text', text: 'on' }] },
    ],
    tools: [
      { type: 'function', function: { name: 'ls', description: 'lists', parameters: SCHEMA, strict: true } },
      {
        type: 'custom',
        custom: { name: 'sh', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'a' } } },
      },
      { type: 'web_search', web_search: { size: 'low' } },
    ],
    tool_choice: { type: 'function', function: { name: 'ls' } },
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA } },
    stream_options: { include_usage: true },
  },
  responses: {
    model: 'coder',
    instructions: 'Be kind.',
    input: [
      { role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'look' },
          { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` },
          { type: 'input_audio', input_audio: { data: PIXEL, format: 'wav' } },
          { type: 'input_file', file_data: `data:application/pdf;base64,${PIXEL}`, filename: 'a.pdf' },
          { type: 'input_video', url: 'https://v.example/' },
        ],
      },
      {
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'I see', annotations: [] },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'seal' },
      { type: 'function_call', call_id: 'c1', name: 'ls', arguments: '{}' },
      { type: 'custom_tool_call', call_id: 'c2', name: 'sh', input: 'pwd' },
      { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_text', text: 'a.txt' }] },
      { type: 'custom_tool_call_output', call_id: 'c2', output: '/' },
      { type: 'mcp_call', id: 'mcp_1', name: 'read', arguments: '{}', output: 'b', server_label: 'agent' },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Done.', annotations: [] }] },
      { role: 'user', content: 'go' },
      { role: 'user', content: [{ type: 'input_text', text: 'on' }] },
    ],
    tools: [
      { type: 'function', name: 'ls', description: 'lists', parameters: SCHEMA, strict: false },
      { type: 'custom', name: 'sh', format: { type: 'grammar', syntax: 'lark', definition: 'a' } },
      {
        type: 'namespace',
        name: 'fs',
        description: 'files',
        tools: [{ type: 'function', name: 'read', parameters: SCHEMA, strict: false }],
      },
      { type: 'web_search', filters: { allowed: ['a.example'] } },
    ],
    tool_choice: { type: 'function', name: 'ls' },
    text: { format: { type: 'json_schema', name: 'answer', schema: SCHEMA } },
    reasoning: { effort: 'low' },
    stream_options: { include_obfuscation: false },
  },
  messages: {
    model: 'coder',
    max_tokens: 100,
    system: [{ type: 'text', text: 'Be kind.' }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PIXEL }, title: 'a' },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'b' } },
          { type: 'search_result', source: 's', title: 't', content: [{ type: 'text', text: 'c' }] },
          { type: 'video', url: 'https://v.example/' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: 'seal' },
          { type: 'redacted_thinking', data: 'hidden' },
          { type: 'text', text: 'I see' },
          { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } },
          { type: 'web_search_tool_result', tool_use_id: 's1', content: [{ type: 'web_search_result', url: 'u' }] },
          { type: 'tool_use', id: 'c1', name: 'ls', input: { p: 'a' } },
        ],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'a.txt' }] }],
      },
      { role: 'assistant', content: 'Done.' },
      { role: 'system', content: 'now' },
      { role: 'user', content: 'go' },
      { role: 'user', content: [{ type: 'text', text: 'on' }] },
    ],
    tools: [
      { name: 'ls', description: 'lists', input_schema: SCHEMA, strict: true },
      { type: 'bash_20250124', name: 'bash' },
      { type: 'web_search_20250305', name: 'web_search', user_location: { type: 'approximate' } },
    ],
    tool_choice: { type: 'tool', name: 'ls' },
    output_config: { effort: 'low', format: { type: 'json_schema', schema: SCHEMA } },
    metadata: { user_id: 'ann' },
  },
}

const CLIENTS = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' } as const
const codecOf = (api: Api) => (api === 'messages' ? anthropic : openai) as typeof openai

/** What a server of one API gets of a request of another one, and what is lost. */
function sent(from: Api, to: Api, body: string): { body: string; losses: string[] } {
  const front = driveFront(codecOf(from), { dialect: from, transport: 'http', method: 'POST', path: CLIENTS[from] })
  front.feed(body)
  expect(front.faults, body).toEqual([])
  const back = driveBack(codecOf(to), { dialect: to })
  back.link.encode(front.commands[0] as Command & TurnStart)
  const said = ({ kind, item, field, count }: Loss) => `${kind} ${item} ${field} ${count}`
  return { body: (back.calls[0] as { body: string }).body, losses: back.losses.map(said).sort() }
}

/** The places of all objects in a value. */
function placesIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.entries(value).flatMap(([key, held]) =>
    placesIn(held, [...path, Array.isArray(value) ? Number(key) : key]),
  )
  return Array.isArray(value) ? inner : [path, ...inner]
}

/** A request with the member at a place. */
function extended(request: object, path: Path): string {
  const copy = structuredClone(request)
  let at = copy as Record<string | number, unknown>
  for (const key of path) at = at[key] as typeof at
  at['x_further'] = '?'
  return JSON.stringify(copy).replace(PLACEHOLDER, MEMBER)
}

/** The object of a body that has the member, without it. */
function ownerIn(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (Object.hasOwn(value, 'x_further')) {
    const { x_further: _, ...owner } = value as Record<string, unknown>
    return owner
  }
  return Object.values(value).map(ownerIn).find(Boolean)
}

/** Texts of a request that take another form on the way: a content its parts, a newer name the older one. */
const FREE: ReadonlySet<string> = new Set(['content', 'role', 'id', 'instructions'])

/** What tells an object apart: its texts. A call that an agent has run becomes one that a server may have made. */
function marksOf(owner: Record<string, unknown>): Record<string, unknown> {
  const isMark = ([key, held]: [string, unknown]) =>
    typeof held === 'string' && !FREE.has(key) && !(key === 'type' && held === 'mcp_call')
  return Object.fromEntries(
    Object.entries(owner)
      .filter(isMark)
      .filter(([key]) => key !== 'server_label' && key !== 'output'),
  )
}

/** The loss of a member at a place that has a loss without it too: all of that place, or a field which is told by protocol. */
const TOLD: Readonly<Record<string, Readonly<Record<string, RegExp>>>> = {
  chat: {
    responses: /^$/,
    messages: /^(messages\.[01]|messages\.3\.content\.1|response_format|stream_options|tool_choice|tools\.[12])?(\.|$)/,
  },
  responses: {
    chat: /^(input\.2\.content\.1|input\.[39]|tools\.[23])(\.|$)/,
    messages: /^(input\.0|input\.2\.content\.1|input\.3|reasoning|stream_options|text|tool_choice|tools\.[123])?(\.|$)/,
  },
  messages: {
    chat: /^(messages\.0\.content\.[34]|messages\.1|messages\.1\.content\.[0134]|tools\.[12])(\.\D|$)/,
    responses: /^(messages\.0\.content\.[34]|messages\.1\.content\.[34]|tools\.[12])(\.|$)/,
  },
}

const APIS = Object.keys(REQUESTS) as Api[]
const PLACES = APIS.flatMap((api) => placesIn(REQUESTS[api]).map((path) => [api, path.join('.'), path] as const))

describe('a further member of a request', () => {
  test.each(PLACES)('of %s at "%s" reaches a server of the same API where it was', (api, _name, path) => {
    const asked = extended(REQUESTS[api], path)
    const plain = sent(api, api, JSON.stringify(REQUESTS[api]))
    const { body, losses } = sent(api, api, asked)
    expect(body.split(MEMBER), body).toHaveLength(2)
    expect(losses).toEqual(plain.losses)
    expect(ownerIn(JSON.parse(body))).toMatchObject(marksOf(ownerIn(JSON.parse(asked))!))
  })

  describe.each(APIS)('towards a server of %s', (to) => {
    const others = PLACES.filter(([from]) => from !== to)
    test.each(others)('of %s at "%s" is told as lost, or arrives', (from, name, path) => {
      const plain = sent(from, to, JSON.stringify(REQUESTS[from]))
      const { body, losses } = sent(from, to, extended(REQUESTS[from], path))
      const isTold = losses.join() !== plain.losses.join() || TOLD[from]![to]!.test(name)
      expect(body.includes('x_further') || isTold, losses.join()).toBe(true)
    })
  })
})

/** A call, as a server of each API makes it in one piece, and its result for the park that it led to. */
const ROUNDS: Readonly<Record<Api, { answer: object; results: object }>> = {
  chat: {
    answer: {
      choices: [
        {
          message: { tool_calls: [{ id: 'c1', type: 'function', function: { name: 'ls', arguments: '{}' } }] },
          finish_reason: 'tool_calls',
        },
      ],
    },
    results: { messages: [{ role: 'tool', tool_call_id: ID, content: [{ type: 'text', text: 'a.txt' }] }] },
  },
  responses: {
    answer: {
      object: 'response',
      status: 'completed',
      output: [{ type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'ls', arguments: '{}' }],
    },
    results: {
      input: [{ type: 'function_call_output', call_id: ID, output: [{ type: 'input_text', text: 'a.txt' }] }],
    },
  },
  messages: {
    answer: {
      type: 'message',
      content: [{ type: 'tool_use', id: 'c1', name: 'ls', input: {} }],
      stop_reason: 'tool_use',
    },
    results: {
      max_tokens: 9,
      messages: [
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: ID, content: [{ type: 'text', text: 'a.txt' }] }],
        },
      ],
    },
  },
}

describe('a further member of the result of a call that a turn waits for', () => {
  const places = APIS.flatMap((api) =>
    placesIn(ROUNDS[api].results)
      .filter((path) => path.length > 0)
      .map((path) => [api, path.join('.'), path] as const),
  )

  test.each(places)('of %s at "%s" reaches its server', (api, _name, path) => {
    const front = driveFront(codecOf(api), { dialect: api, transport: 'http', method: 'POST', path: CLIENTS[api] })
    front.feed(extended(ROUNDS[api].results, path))
    const [{ reply }] = front.commands as [CommandOf<'ask-reply'>]
    const back = driveBack(codecOf(api), { dialect: api })
    back.start('hi', { clientTools: [{ name: 'ls' }] })
    back.feed(JSON.stringify(ROUNDS[api].answer))
    back.link.decodeEnd?.({ call: back.calls[0]!.call, why: 'closed' })
    back.link.encode({ exchange: 'x2', type: 'ask-reply', target: { turn: 't1' }, ask: 'c1', reply })
    const { body } = back.calls[1] as { body: string }
    // The message around the blocks of this API belongs to its own results.
    expect(body.split(MEMBER), body).toHaveLength(2)
    expect(back.losses).toEqual([])
  })
})

test.each(APIS)('fields of another protocol in the result of a call are a loss for a server of %s', (api) => {
  const back = driveBack(codecOf(api), { dialect: api })
  back.start('hi', { clientTools: [{ name: 'ls' }] })
  back.feed(JSON.stringify(ROUNDS[api].answer))
  back.link.decodeEnd?.({ call: back.calls[0]!.call, why: 'closed' })
  const ext = { protocol: 'strange', json: '{"k":1}' } as const
  const reply = { kind: 'tool', status: 'ok', parts: [{ type: 'text', text: 'a', ext }], ext } as const
  back.link.encode({ exchange: 'x2', type: 'ask-reply', target: { turn: 't1' }, ask: 'c1', reply })
  expect(back.losses.map(({ item, field }) => [item, field])).toEqual(Array(2).fill(['part.ext', 'strange']))
})

describe('an item of Responses that is for the gateway', () => {
  const USER = { role: 'user', content: 'hi' }
  const APPROVAL = 'mcpr_t1_dsecret_n0_oa_ob'
  const answered = { type: 'mcp_approval_response', approval_request_id: APPROVAL, approve: true, reason: 'ok' }
  const question = { type: 'mcp_approval_request', id: APPROVAL, name: 'rm', arguments: '{}', server_label: 'agent' }
  const read = (...input: object[]) => {
    const front = driveFront(openai, {
      dialect: 'responses',
      method: 'POST',
      path: CLIENTS.responses,
      transport: 'http',
    })
    front.feed(JSON.stringify({ input }))
    return front
  }
  const lossesOf = (...input: object[]) => {
    const front = read(...input)
    expect(front.faults).toEqual([])
    return front.losses.map(({ kind, item, field }) => `${kind} ${item} ${field}`)
  }

  test.each([
    ['further tools', [{ type: 'additional_tools', id: 'at_1', role: 'developer', tools: [] }, USER]],
    ['a reference', [{ type: 'item_reference', id: 'msg_t1_i0' }, USER]],
    ['a question of the agent', [USER, question, USER]],
    ['the answer to one', [answered]],
  ])('loses its further members by their names: %s', (_what, [item, ...more]) => {
    const [before, at] = item === USER ? [[USER], more[0]!] : [[], item!]
    const after = item === USER ? more.slice(1) : more
    expect(lossesOf(...before, at, ...after)).toEqual([])
    expect(lossesOf(...before, { ...at, x_further: 1, x_null: null }, ...after)).toEqual(['dropped ext x_further'])
  })

  test.each([
    [{ type: 'mcp_list_tools', id: 'mcpl_1', server_label: 'docs', tools: [{ name: 'search' }] }],
    [{ type: 'mcp_approval_request', id: 'mcpr_theirs', name: 'rm', arguments: '{}', server_label: 'docs' }],
    [{ type: 'mcp_approval_request' }],
  ])('and is of another server is lost by its type: %j', (item) => {
    expect(lossesOf(USER, item, item, USER)).toEqual(Array(2).fill(`dropped foreign ${item.type}`))
  })

  test('and answers the approval of another server is refused with what to do', () => {
    const id = 'mcpr_0123abc'
    const { fault } = read(USER, { ...answered, approval_request_id: id }).faults[0]!
    expect(fault.message).toBe(
      'input[1].approval_request_id is the id of an approval request of another server, and answers to such do not ' +
        'pass the gateway; answer it at that server, or leave out the answer.',
    )
  })
})

test('a mark for the cache that both APIs know reaches either', () => {
  const mark = { prompt_cache_breakpoint: { mode: 'explicit' } }
  const chat = { messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', ...mark }] }] }
  const responses = { input: [{ role: 'user', content: [{ type: 'input_text', text: 'hi', ...mark }] }] }
  for (const to of ['chat', 'responses'] as const) {
    for (const { body, losses } of [
      sent('chat', to, JSON.stringify(chat)),
      sent('responses', to, JSON.stringify(responses)),
    ]) {
      expect(body).toContain(JSON.stringify(mark).slice(1, -1))
      expect(losses).toEqual([])
    }
  }
})

describe('the Messages API', () => {
  const back = (messages: object[]) => sent('messages', 'messages', JSON.stringify({ max_tokens: 9, messages }))

  test('keeps a block whose members have names that the gateway uses itself', () => {
    const content = ['block', 'message'].map((name) => ({ type: 'text', text: name, [name]: { n: 1 } }))
    expect(JSON.parse(back([{ role: 'user', content }]).body)).toMatchObject({ messages: [{ role: 'user', content }] })
  })

  test('tells what came with a text that it refuses', () => {
    expect(
      back([
        { role: 'user', content: ' ', name: 'ann' },
        { role: 'user', content: 'hi' },
      ]).losses,
    ).toEqual(['dropped part.ext anthropic 1'])
  })

  test('has the older member for the form of an answer at its newer place', () => {
    const output_format = { type: 'json_schema', schema: SCHEMA, name: 'n' }
    const asked = { max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], output_format }
    const body = JSON.parse(sent('messages', 'messages', JSON.stringify(asked)).body) as object
    expect(body).toMatchObject({ output_config: { format: output_format } })
    expect(body).not.toHaveProperty('output_format')
  })
})

/** Answers of servers of Chat Completions with members that no codec knows: whole, or in pieces. */
describe('a further member of an answer', () => {
  const call = { id: 'c1', type: 'function', function: { name: 'ls', arguments: '{}', deep: 1 }, extra: { seal: 'x' } }
  const CHUNKS = [
    [{ role: 'assistant', content: 'Hi', details: [{ n: 1 }], said: 'a', mark: 1, refusal: null, function_call: null }],
    [{ details: [{ n: 2 }], said: 'b', mark: 2 }],
    [{ tool_calls: [{ index: 0, ...call }] }],
    [{}, 'tool_calls'],
  ] as const
  const FURTHER = { details: [{ n: 1 }, { n: 2 }], said: 'ab', mark: 2 }

  const served = (...frames: object[]) => {
    const back = driveBack(openai, { dialect: 'chat' })
    back.start('hi', { clientTools: [{ name: 'ls' }] })
    for (const frame of frames) back.feed({ data: JSON.stringify(frame) })
    back.link.decodeEnd?.({ call: back.calls[0]!.call, why: 'closed' })
    return back
  }
  const chunk = ([delta, finish_reason = null]: readonly [object, (string | null)?]) => ({
    choices: [{ index: 0, delta, finish_reason }],
  })
  const whole = (message: object, more: object = {}) => ({ choices: [{ message, finish_reason: 'stop', ...more }] })
  const shown = (api: Api, stream: boolean, events: readonly AgentEvent[]) => {
    const front = driveFront(codecOf(api), { dialect: api, transport: 'http', method: 'POST', path: CLIENTS[api] })
    front.feed(JSON.stringify({ ...REQUESTS[api], stream }))
    front.play(events as TurnEvent[])
    return front
  }

  test('goes back to its server with the next request', () => {
    const back = served(...CHUNKS.map(chunk))
    const reply = { kind: 'tool', status: 'ok', parts: [] } as const
    back.link.encode({ exchange: 'x2', type: 'ask-reply', target: { turn: 't1' }, ask: 'c1', reply })
    expect(JSON.parse((back.calls[1] as { body: string }).body)).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', content: 'Hi', ...FURTHER, tool_calls: [call] },
        { role: 'tool' },
      ],
    })
    expect(back.losses).toEqual([])
  })

  test('reaches a client of the same API, whole or in a stream', () => {
    const { events } = served(whole({ content: 'Hi', x_further: { n: 1 } }))
    expect(shown('chat', false, events).sent.map(String).join()).toContain('"x_further":{"n":1}')
    const chunks = shown('chat', true, events).sent.map((frame) => (frame as { data: string }).data)
    expect(chunks.join()).toContain('"delta":{"x_further":{"n":1}}')
  })

  test('comes with the call of a client that waits for its result', () => {
    const { events } = served(...CHUNKS.map(chunk))
    const asked = events.find((event) => event.type === 'ask')!
    const parked = {
      type: 'turn-parked',
      turn: 't1',
      asks: [{ ask: 'c1', question: asked.question }],
      continuation: 't1.secret',
      deadline: 0,
    } as const
    for (const stream of [false, true]) {
      const { sent } = shown('chat', stream, [...events.filter(({ type }) => type !== 'ask'), parked])
      const text = sent.map((frame) => (typeof frame === 'string' ? frame : frame.data)).join()
      expect(text).toContain('"deep":1')
      expect(text).toContain('"extra":{"seal":"x"}')
      expect(text).toContain('"details":[{"n":1},{"n":2}]')
    }
  })

  test('makes no second call for a client of Messages, which is asked once', () => {
    const { events } = served(...CHUNKS.map(chunk))
    const asks = [{ ask: 'c1', question: { kind: 'tool', tool: 'c1' } }] as const
    const parked = { type: 'turn-parked', turn: 't1', asks, continuation: 't1.secret', deadline: 0 } as const
    for (const stream of [false, true]) {
      const { sent } = shown('messages', stream, [...events.filter(({ type }) => type !== 'ask'), parked])
      const text = sent.map((frame) => (typeof frame === 'string' ? frame : frame.data)).join()
      expect(text.match(/"type":"\w*tool_use","id"/g)).toEqual(['"type":"tool_use","id"'])
    }
  })

  test('may be all that there is', () => {
    const { events } = served(whole({ x_further: 1 }))
    expect(shown('chat', false, events).sent.map(String).join()).toContain('"x_further":1')
  })

  test.each(['responses', 'messages'] as const)('is a loss for a client of %s', (api) => {
    const { events } = served(whole({ content: 'Hi', x_further: 1 }))
    const lost = shown(api, true, events).losses.map(({ kind, item, field }) => [kind, item, field])
    expect(lost).toContainEqual(['dropped', 'part.ext', 'openai'])
  })

  test('around it is a loss that is told once, with the end', () => {
    const told = (finish_reason: string | null) => ({
      id: 'a',
      provider: 'p',
      warning: null,
      choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason, native: 's' }],
    })
    const back = served(told(null), told(null), told('stop'))
    expect(back.losses.map(({ item, field }) => [item, field])).toEqual([
      ['ext', 'native'],
      ['ext', 'provider'],
    ])
  })

  test('is no call in the older form, which is a loss', () => {
    const back = served(whole({ content: 'Hi', function_call: { name: 'rm', arguments: '{}' } }))
    expect(back.losses.map(({ item, field }) => [item, field])).toEqual([['tool-call', 'function_call']])
  })
})

describe('what else an answer has', () => {
  const lossesOf = (api: Api, ...frames: object[]) => {
    const back = driveBack(codecOf(api), { dialect: api })
    back.start('hi', { clientTools: [{ name: 'ls' }] })
    for (const frame of frames) back.feed({ data: JSON.stringify(frame) })
    return back.losses.map(({ kind, item, field }) => `${kind} ${item} ${field}`)
  }

  test('of a response is a loss by its name', () => {
    const output = [
      {
        type: 'message',
        id: 'm',
        content: [{ type: 'output_text', text: 'Hi', annotations: [], in_part: 1 }],
        in_item: 1,
      },
      { type: 'reasoning', id: 'r', summary: [{ type: 'summary_text', text: 'hm', in_summary: 1 }] },
      { type: 'web_search_call', id: 'w', status: 'completed', action: {}, queries: ['q'] },
      { type: 'later', id: 'l', whole: 1 },
    ]
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2, output_tokens_details: { audio: 3, images: 0 } }
    const response = { id: 'x', object: 'response', status: 'completed', store: false, output, usage, in_body: 1 }
    expect(lossesOf('responses', response)).toEqual([
      'dropped usage audio',
      'dropped ext in_body',
      'dropped ext in_item',
      'dropped ext in_part',
      'dropped ext in_summary',
      'dropped ext queries',
    ])
  })

  test('of a message is a loss by its name', () => {
    const content = [
      { type: 'text', text: 'Hi', in_text: 1 },
      { type: 'thinking', thinking: 'hm', signature: 's', in_thinking: 1 },
    ]
    const usage = { input_tokens: 1, output_tokens: 1, service_tier: 'standard', server_tool_use: { searches: 2 } }
    const whole = { type: 'message', id: 'm', role: 'assistant', model: 'x', content, stop_reason: 'end_turn', usage }
    expect(lossesOf('messages', { ...whole, in_message: 1, container: null })).toEqual([
      'dropped ext in_message',
      'dropped ext in_text',
      'dropped ext in_thinking',
      'dropped usage server_tool_use',
    ])
    expect(
      lossesOf(
        'messages',
        { type: 'message_start', message: { id: 'm', in_start: 1 } },
        { type: 'message_delta', delta: { stop_reason: 'end_turn', in_delta: 1 }, in_event: 1 },
      ),
    ).toEqual(['dropped ext in_start', 'dropped ext in_delta', 'dropped ext in_event'])
  })

  test('of a call reaches a client of Messages that runs it', () => {
    const use = { type: 'tool_use', id: 'c1', name: 'ls', input: {}, caller: { type: 'direct' } }
    const back = driveBack(anthropic, {})
    back.start('hi', { clientTools: [{ name: 'ls' }] })
    back.feed(JSON.stringify({ type: 'message', content: [use], stop_reason: 'tool_use' }))
    back.link.decodeEnd?.({ call: back.calls[0]!.call, why: 'closed' })
    const asks = [{ ask: 'c1', question: { kind: 'tool', tool: 'c1' } }] as const
    const parked = { type: 'turn-parked', turn: 't1', asks, continuation: 't1.secret', deadline: 0 } as const
    for (const stream of [false, true]) {
      const front = driveFront(anthropic, { transport: 'http', method: 'POST', path: CLIENTS.messages })
      front.feed(JSON.stringify({ ...REQUESTS.messages, stream }))
      front.play([...(back.events.filter(({ type }) => type !== 'ask') as TurnEvent[]), parked])
      const text = front.sent.map((frame) => (typeof frame === 'string' ? frame : frame.data)).join()
      expect(text).toContain('"caller":{"type":"direct"}')
    }
  })
})
