import { describe, expect, test } from 'vitest'
import { fault } from '../../../src/model/index.ts'
import { type FrontDrive, plainTurn } from '../../kit/drive.ts'
import { control, SESSION, say, sentObjects, settled, streamClient } from './kit.ts'

/** The response to one control request. */
function responded(request: unknown, front: FrontDrive = streamClient()): unknown {
  front.feed(control('q1', request))
  return sentObjects(front).findLast(({ type }) => type === 'control_response')?.['response']
}

const success = (response: unknown) => ({ subtype: 'success', request_id: 'q1', response })
const error = (text: string) => ({ subtype: 'error', request_id: 'q1', error: text })

describe('what is answered at once', () => {
  test('initialize', () => {
    expect(responded({ subtype: 'initialize', hooks: null })).toEqual(
      success({
        subtype: 'initialize',
        session_id: SESSION,
        capabilities: {
          can_handle_can_use_tool: true,
          can_handle_hook_callback: false,
          can_set_permission_mode: true,
          can_set_model: true,
          can_set_effort: true,
          can_get_context_usage: true,
          can_get_available_models: true,
          can_get_usage_info: true,
          can_handle_mcp_message: false,
        },
      }),
    )
  })

  test('what initialize brings for the agent alone is named, and lost with the next turn', () => {
    const front = streamClient()
    responded(
      { subtype: 'initialize', hooks: [], agents: [{}], sdkMcpServers: { lab: {} }, mcpServers: {}, effort: 'low' },
      front,
    )
    expect(front.warned).toEqual([
      'turnpike as qwen: sdkMcpServers of initialize has no effect: configure it where the agent runs.',
      'turnpike as qwen: agents of initialize has no effect: configure it where the agent runs.',
    ])
    front.feed(say('hi'))
    expect(front.commands[0]).toMatchObject({ options: { effort: 'low' } })
    expect(front.losses).toEqual([
      { kind: 'dropped', item: 'session-open', field: 'sdkMcpServers', why: 'no-place', count: 1 },
      { kind: 'dropped', item: 'session-open', field: 'agents', why: 'no-place', count: 1 },
    ])
    const wrong = streamClient()
    responded({ subtype: 'initialize', effort: 'zzz' }, wrong)
    wrong.feed(say('hi'))
    expect(wrong.commands[0]).toMatchObject({ options: { streaming: false } })
  })

  test.each([
    [{ subtype: 'interrupt' }, success({ subtype: 'interrupt' })],
    [{ subtype: 'set_model' }, error('Invalid model specified for set_model request')],
    [{ subtype: 'set_model', model: '' }, error('Invalid model specified for set_model request')],
    [{ subtype: 'set_effort', effort: 'zzz' }, error('Invalid effort value. Supported: low, medium, high, xhigh, max')],
    [{ subtype: 'set_effort' }, error('Invalid effort value. Supported: low, medium, high, xhigh, max')],
    [
      { subtype: 'set_permission_mode', mode: 'zzz' },
      error('Invalid permission mode: zzz. Valid values are: plan, default, auto-edit, auto, yolo'),
    ],
    [
      { subtype: 'continue_last_turn' },
      success({ subtype: 'continue_last_turn', accepted: false, interruption: 'none' }),
    ],
    [{ subtype: 'zzz' }, error('Unknown control request subtype: zzz')],
    [{}, error('Unknown control request subtype: undefined')],
    [null, error('Unknown control request subtype: undefined')],
  ])('%j', (request, response) => {
    const front = streamClient()
    expect(responded(request, front)).toEqual(response)
    expect(front.commands).toEqual([])
  })

  test('the model and the effort are those of the turns that follow', () => {
    const front = streamClient()
    front.feed(control('a', { subtype: 'set_model', model: 'big' }))
    settled(front)
    front.feed(control('b', { subtype: 'set_effort', effort: 'low' }))
    settled(front)
    front.feed(say('hi'))
    expect(front.commands.at(-1)).toMatchObject({ options: { model: 'big', effort: 'low' } })
    front.play(plainTurn('x'))
    expect(sentObjects(front).find(({ type }) => type === 'system')).toMatchObject({ model: 'big' })
  })

  test.each<[object, object, object, object]>([
    [
      { subtype: 'set_model', model: 'big' },
      { model: 'big' },
      success({ subtype: 'set_model', model: 'big' }),
      error('No.'),
    ],
    [
      { subtype: 'set_effort', effort: 'max' },
      { effort: 'max' },
      success({ subtype: 'set_effort', effort: 'max', applied: true, override: null }),
      error('No.'),
    ],
    [
      { subtype: 'set_permission_mode', mode: 'plan' },
      { mode: 'plan' },
      success({ status: 'updated', mode: 'plan' }),
      error('No.'),
    ],
    // What the agent asks is decided here.
    ...['default', 'auto-edit', 'auto', 'yolo'].map((mode) => {
      const done = success({ status: 'updated', mode })
      return [{ subtype: 'set_permission_mode', mode }, { mode }, done, done] as [object, object, object, object]
    }),
  ])('%j is set for the session, and answered when it is', (request, setting, done, refused) => {
    for (const [reason, answer] of [
      [undefined, done],
      [fault('invalid-request', 'No.'), refused],
    ] as const) {
      const front = streamClient()
      expect(responded(request, front)).toBeUndefined()
      front.feed(say('hi'))
      expect(front.commands).toEqual([
        { exchange: expect.any(String), session: { id: SESSION }, type: 'config-set', ...setting },
      ])
      settled(front, reason)
      expect(sentObjects(front)).toEqual([{ type: 'control_response', response: answer }])
      expect(front.commands[1]).toMatchObject({ type: 'turn-start' })
      const { options } = front.commands[1] as { options: object }
      const { mode: _, ...carried } = setting as { mode?: string }
      expect(options).toEqual({ streaming: false, ...(reason === undefined && carried) })
    }
  })

  test('a change that the gateway fails is refused, and what waits for it goes on', () => {
    const front = streamClient()
    front.feed(control('q1', { subtype: 'set_model', model: 'big' }), say('hi'))
    front.link.encodeFault!(fault('overloaded', 'Not now.'), front.commands[0]!.exchange, 'continues')
    expect(sentObjects(front)).toEqual([{ type: 'control_response', response: error('Not now.') }])
    expect(front.commands[1]).toMatchObject({ type: 'turn-start', options: { streaming: false } })
  })

  test('an interrupt cancels what runs, behind its answer; what waits goes on waiting', () => {
    const front = streamClient()
    front.feed(say('one'), say('two'))
    expect(responded({ subtype: 'interrupt' }, front)).toEqual(success({ subtype: 'interrupt' }))
    expect(front.commands.at(-1)).toEqual({
      exchange: 'f4',
      session: { id: SESSION },
      type: 'turn-cancel',
      target: { turn: 'f3' },
    })
    front.play([{ type: 'turn-end', turn: 't1', outcome: 'cancelled' }], 'f2')
    expect(front.commands.at(-1)!.type).toBe('turn-start')
  })
})

describe('what is handed on', () => {
  const last = (front: FrontDrive) => front.commands.at(-1)!
  const response = (front: FrontDrive) => sentObjects(front).at(-1)!['response']

  test('the models', () => {
    const front = streamClient()
    front.feed(control('q1', { subtype: 'get_available_models' }))
    expect(last(front)).toMatchObject({ type: 'query', what: 'models', session: { id: SESSION } })
    expect(front.answers.get(last(front).exchange)).toEqual({
      form: 'whole',
      framing: 'ndjson',
      onDisconnect: 'cancel',
      asks: 'never',
    })
    const data = '{"models":[{"id":"big","contextWindow":1.0}]}'
    front.link.encodeLink!({ turn: null, type: 'command-reply', exchange: last(front).exchange, data })
    expect(String(front.sent.at(-1))).toContain(
      '"response":{"subtype":"get_available_models","models":[{"id":"big","contextWindowSize":1.0}]}',
    )
  })

  test('of an agent of the same dialect in its own words', () => {
    const front = streamClient()
    front.feed(control('q1', { subtype: 'get_available_models' }))
    const ext = { protocol: 'qwen-code', json: '{"subtype":"get_available_models","models":["x"]}' }
    front.link.encodeLink!({ turn: null, type: 'command-reply', exchange: last(front).exchange, data: '{}', ext })
    expect(response(front)).toEqual(success({ subtype: 'get_available_models', models: ['x'] }))
  })

  test('that nobody can list are an error', () => {
    const front = streamClient()
    front.feed(control('q1', { subtype: 'get_available_models' }))
    front.link.encodeLink!({ turn: null, type: 'command-reply', exchange: last(front).exchange, data: '{}' })
    expect(response(front)).toEqual(error('The agent did not answer this request.'))
  })

  test.each([
    ['mcp_server_status', success({ subtype: 'mcp_server_status', status: {} })],
    ['supported_commands', success({ subtype: 'supported_commands', commands: [] })],
    ['get_context_usage', error('No place.')],
    ['get_usage_info', error('No place.')],
  ])('%s goes to an agent of the same dialect, else has an answer of its own', (subtype, instead) => {
    const front = streamClient()
    const line = control('q1', { subtype, n: 1 })
    front.feed(line)
    expect(last(front)).toMatchObject({ type: 'foreign', protocol: 'qwen-code', frame: line })
    const ext = { protocol: 'qwen-code', json: '{"own":1}' }
    front.link.encodeLink!({ turn: null, type: 'command-reply', exchange: last(front).exchange, ext })
    expect(response(front)).toEqual(success({ own: 1 }))
    front.feed(line)
    const reason = fault('invalid-request', 'No place.')
    front.link.encodeLink!({ turn: null, type: 'command-reply', exchange: last(front).exchange, fault: reason })
    expect(response(front)).toEqual(instead)
    front.feed(line)
    front.link.encodeFault(reason, last(front).exchange, 'continues')
    expect(response(front)).toEqual(instead)
  })

  test('the end of the input waits for the answer', () => {
    const front = streamClient()
    front.feed(control('q1', { subtype: 'supported_commands' }))
    front.link.decodeEnd!('eof')
    expect(front.exitCode).toBeUndefined()
    front.link.encodeLink!({ turn: null, type: 'command-reply', exchange: 'another' })
    expect(front.exitCode).toBeUndefined()
    front.link.encodeLink!({ turn: null, type: 'command-reply', exchange: last(front).exchange })
    expect(front.exitCode).toBe(0)
  })

  test('events that no client is told', () => {
    const front = streamClient()
    front.link.encodeLink!({ turn: null, type: 'agent-ready' })
    expect(front.sent).toEqual([])
  })
})
