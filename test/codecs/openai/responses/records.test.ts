import { describe, expect, test } from 'vitest'
import { codec } from '../../../../codecs/openai/index.ts'
import { fault, type GivenResult, type InputReply, type Message } from '../../../../src/model/index.ts'
import { driveFront, type FrontDrive } from '../../../kit/drive.ts'
import { CALL_ID } from './front-kit.ts'

/** A client of `DELETE` of a response, or of its input items. */
function request(method: 'GET' | 'DELETE', id: string, query = ''): FrontDrive {
  const path = `/openai/v1/responses/:response${method === 'GET' ? '/input_items' : ''}`
  const context = { transport: 'http', method, path, query, params: { response: id } } as const
  const drive = driveFront(codec, { dialect: 'responses', ...context })
  drive.feed('')
  return drive
}

const reply = (drive: FrontDrive, more: { data?: string; fault?: ReturnType<typeof fault> } = {}): void =>
  drive.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'f1', ...more })
const last = (drive: FrontDrive): Record<string, unknown> => JSON.parse(String(drive.sent.at(-1)))
const errorOf = (drive: FrontDrive): unknown => (last(drive) as { error: unknown }).error

describe('a response that its client deletes', () => {
  test('is forgotten with its turn', () => {
    for (const id of ['resp_t1', 'resp_t1_dsecret']) {
      const drive = request('DELETE', id)
      expect(drive.commands).toEqual([{ exchange: 'f1', type: 'turn-delete', id: 't1' }])
      drive.link.encodeLink!({ turn: null, type: 'session-bound', agentSession: 'x' })
      reply(drive)
      expect(drive.sent).toEqual([`{"id":"${id}","object":"response","deleted":true}`])
    }
  })

  test('that there is not, or that still runs, is an error', () => {
    for (const id of ['respn_t1', 'other']) {
      const drive = request('DELETE', id)
      expect([drive.commands, errorOf(drive)]).toMatchObject([[], { message: `There is no response "${id}" here.` }])
    }
    const gone = request('DELETE', 'resp_t1')
    reply(gone, { fault: fault('session-not-found', 'no turn') })
    expect(errorOf(gone)).toMatchObject({ message: 'There is no response "resp_t1" here.' })
    const busy = request('DELETE', 'resp_t1')
    reply(busy, { fault: fault('session-busy', 'It runs.') })
    expect(errorOf(busy)).toMatchObject({ message: 'It runs.', code: 'session_busy' })
  })
})

const said = (role: Message['role'], ...parts: Message['parts']): Message => ({ role, parts })
const text = (words: string) => ({ type: 'text', text: words }) as const

describe('the input items of a response', () => {
  const MESSAGES: Message[] = [
    said('user', text('one')),
    said('assistant', text('two'), { type: 'tool-call', tool: 'c1', name: 'ls', args: '{}' }),
    said('tool', { type: 'tool-reply', tool: 'c1', status: 'ok', parts: [text('a.txt')] }),
    said('assistant', {
      type: 'data',
      json: '{"id":"x_1","type":"odd"}',
      ext: { protocol: 'openai', json: '{"item":true}' },
    }),
    said('user', text('three'), { type: 'image', url: 'https://a/b.png' }),
  ]
  const ITEMS = [
    { id: 'msg_t1_u0', type: 'message', status: 'completed', role: 'user', content: [{ text: 'one' }] },
    { id: 'msg_t1_u1', type: 'message', status: 'completed', role: 'assistant', content: [{ text: 'two' }] },
    { id: 'fc_t1_u2', type: 'function_call', status: 'completed', call_id: 'c1', name: 'ls', arguments: '{}' },
    { id: 'item_t1_u3', type: 'function_call_output', status: 'completed', call_id: 'c1', output: 'a.txt' },
    { id: 'x_1', type: 'odd' },
    {
      id: 'msg_t1_u5',
      type: 'message',
      role: 'user',
      content: [
        { type: 'input_text', text: 'three' },
        { type: 'input_image', image_url: 'https://a/b.png' },
      ],
    },
  ]
  const list = (query: string, data: InputReply = { messages: MESSAGES }, id = 'resp_t1'): FrontDrive => {
    const drive = request('GET', id, query)
    reply(drive, { data: JSON.stringify(data) })
    return drive
  }

  test('are what its client said, the newest first unless it wants them in order', () => {
    const drive = list('order=asc')
    expect(drive.commands).toEqual([{ exchange: 'f1', type: 'query', what: 'input', args: '{"turn":"t1"}' }])
    expect(last(drive)).toMatchObject({ object: 'list', first_id: 'msg_t1_u0', last_id: 'msg_t1_u5', has_more: false })
    expect(last(drive)['data']).toMatchObject(ITEMS)
    expect(last(list(''))['data']).toMatchObject(ITEMS.toReversed())
    expect(last(list('', { messages: [] }))).toEqual({
      object: 'list',
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
    })
  })

  test('come in pages', () => {
    const ids = (query: string): unknown[] => {
      const { data, has_more: more } = last(list(query)) as { data: { id: string }[]; has_more: boolean }
      return [...data.map(({ id }) => id), more]
    }
    expect(ids('limit=2')).toEqual(['msg_t1_u5', 'x_1', true])
    expect(ids('limit=2&after=x_1')).toEqual(['item_t1_u3', 'fc_t1_u2', true])
    expect(ids('order=asc&limit=100&after=item_t1_u3')).toEqual(['x_1', 'msg_t1_u5', false])
    expect(ids('after=msg_t1_u0')).toEqual([false])
  })

  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=two', 'limit'],
    ['order=up', 'order'],
  ])('are not listed by a query of %s', (query, param) => {
    const drive = request('GET', 'resp_t1', query)
    expect([drive.commands, errorOf(drive)]).toMatchObject([[], { param, code: 'invalid_request' }])
  })

  test('do not begin after an item that is not among them', () => {
    expect(errorOf(list('after=msg_t1_i0'))).toMatchObject({ param: 'after', code: 'invalid_request' })
  })

  test('of a response that goes on with results are those', () => {
    const results: GivenResult[] = [
      { at: 0, status: 'ok', parts: [text('7')] },
      { at: 1, status: 'error', parts: [] },
    ]
    const drive = list('order=asc', { messages: [], results }, 'resp_t1_dsecret')
    expect(drive.commands).toMatchObject([{ args: '{"turn":"t1","continuation":"t1.secret"}' }])
    expect(last(drive)['data']).toMatchObject([
      { id: 'item_t1_dsecret_u0', type: 'function_call_output', call_id: CALL_ID, output: '7' },
      { type: 'function_call_output', output: 'The tool call ended with the status: error.' },
    ])
  })

  test('are all that it was asked with: the system messages before them, and the answers to approvals', () => {
    const ext = (input: object[]) => ({ protocol: 'openai', json: JSON.stringify({ input }) })
    const system = { role: 'developer', content: 'Be short.' }
    const asked = list('order=asc&include[]=message.input_image.image_url', { messages: MESSAGES, ext: ext([system]) })
    expect((last(asked)['data'] as unknown[]).slice(0, 2)).toMatchObject([
      { id: 'msg_t1_u0', type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be short.' }] },
      { id: 'msg_t1_u1', role: 'user' },
    ])
    const approval = { type: 'mcp_approval_response', approval_request_id: 'mcpr_x', approve: true, id: 'a_1' }
    const output = { type: 'custom_tool_call_output', call_id: CALL_ID }
    const input = [output, approval, { type: 'message', role: 'user', content: 'And now?' }]
    const results: GivenResult[] = [{ at: 0, status: 'ok', parts: [text('7')] }]
    expect(last(list('', { messages: [] }, 'resp_t1_dsecret'))['data']).toEqual([])
    const given = list('order=asc', { messages: [], results, ext: ext(input) }, 'resp_t1_dsecret')
    expect(last(given)['data']).toEqual([
      { id: 'item_t1_dsecret_u0', ...output, status: 'completed', output: '7' },
      approval,
      {
        id: 'msg_t1_dsecret_u2',
        type: 'message',
        status: 'completed',
        role: 'user',
        content: [{ type: 'input_text', text: 'And now?' }],
      },
    ])
  })

  test('tell what has no place among them', () => {
    const drive = list('', { messages: [said('user', { type: 'diff', path: 'a', before: null, after: 'b' })] })
    expect(drive.losses).toMatchObject([{ kind: 'dropped', item: 'part.diff' }])
  })

  test('of a response that there is not are an error', () => {
    for (const id of ['respn_t1', 'other']) {
      expect(errorOf(request('GET', id))).toMatchObject({ message: `There is no response "${id}" here.` })
    }
    const gone = request('GET', 'resp_t1')
    gone.link.encodeLink!({ turn: null, type: 'session-bound', agentSession: 'x' })
    reply(gone, { fault: fault('session-not-found', 'no turn') })
    expect(errorOf(gone)).toMatchObject({ message: 'There is no response "resp_t1" here.' })
    const busy = request('GET', 'resp_t1')
    reply(busy, { fault: fault('session-busy', 'It runs.') })
    expect(errorOf(busy)).toMatchObject({ code: 'session_busy' })
  })

  test('show no events of turns', () => {
    for (const method of ['GET', 'DELETE'] as const) {
      const drive = request(method, 'resp_t1')
      drive.play([{ type: 'turn-started', turn: 't1' }])
      expect(drive.sent).toEqual([])
    }
  })
})
