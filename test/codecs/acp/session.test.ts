import { describe, expect, test } from 'vitest'
import type { Command, CommandOf, TurnStart } from '../../../src/model/index.ts'
import type { BackDrive } from '../../kit/drive.ts'
import {
  type AgentLike,
  answer,
  answerOf,
  finish,
  greeted,
  last,
  methods,
  OPTIONS,
  ofType,
  refuse,
  requestLine,
  running,
  sent,
  started,
  textLine,
  updateLine,
} from './kit.ts'

const capable = (sessionCapabilities: object, more: object = {}) => ({
  about: { agentCapabilities: { sessionCapabilities, ...more } },
})
const LOADS = { about: { agentCapabilities: { loadSession: true } } }
const bound = (id: string): Partial<TurnStart & { session: object }> => ({ session: { id: 's', bound: id } })
const config = (drive: BackDrive, more: Partial<CommandOf<'config-set'>>) =>
  drive.link.encode({ type: 'config-set', exchange: 'c', ...more })
const query = (drive: BackDrive, what: 'offers' | 'models' | 'agent-sessions', exchange = 'q', args?: string) =>
  drive.link.encode({ type: 'query', what, exchange, ...(args !== undefined && { args }) })
const replies = (drive: BackDrive) => drive.events.filter((event) => event.type === 'command-reply')

describe('a session of before', () => {
  test('is known by an id only if the agent can go on with it', () => {
    const ids = [{}, LOADS, capable({ resume: {} })].map((like) => {
      return running(like).events.flatMap((event) => (event.type === 'session-bound' ? event.agentSession : []))
    })
    expect(ids).toEqual([[], ['S'], ['S']])
  })

  test('is resumed, without another session', () => {
    const drive = greeted(capable({ resume: {} }, { loadSession: true }))
    drive.start('Hi', bound('OLD'))
    expect(last(drive, 'session/resume').params).toEqual({ sessionId: 'OLD', cwd: '/agents', mcpServers: [] })
    drive.feed(updateLine('session_info_update', { title: 'T' }, 'OLD'))
    answer(drive, 'session/resume')
    expect(last(drive, 'session/prompt').params).toMatchObject({ sessionId: 'OLD' })
    expect(drive.events.slice(1)).toEqual([{ turn: null, type: 'session-changed', json: '{"title":"T"}' }])
  })

  test('is loaded, and what the agent repeats of it is no answer', () => {
    const drive = greeted(LOADS)
    drive.start('Hi', bound('OLD'))
    const said = (text: string) => updateLine('agent_message_chunk', { content: { type: 'text', text } }, 'OLD')
    drive.feed(
      updateLine('user_message_chunk', { content: { type: 'text', text: 'Before' } }, 'OLD'),
      said('Then.'),
      updateLine('tool_call', { toolCallId: 't', title: 'x', status: 'completed' }, 'OLD'),
      updateLine('current_mode_update', { currentModeId: 'plan' }, 'OLD'),
    )
    answer(drive, 'session/load')
    drive.feed(said('Now.'))
    finish(drive)
    expect(ofType(drive, 'text-delta').map(({ text }) => text)).toEqual(['Now.'])
    expect(ofType(drive, 'tool-start')).toEqual([])
    expect(drive.events[1]).toEqual({ turn: null, type: 'session-changed', json: '{"mode":"plan"}' })
    expect(drive.losses).toEqual([])
  })

  test('that cannot be resumed is loaded', () => {
    const drive = greeted(capable({ resume: {} }, { loadSession: true }))
    drive.start('Hi', bound('OLD'))
    refuse(drive, 'session/resume', { code: -32603, message: 'no' })
    expect(last(drive, 'session/load').params).toMatchObject({ sessionId: 'OLD' })
  })

  test('that the agent does not know is lost', () => {
    const drive = greeted(LOADS)
    drive.start('Hi', bound('OLD'))
    refuse(drive, 'session/load', { code: -32002, message: 'Resource not found' })
    const message = 'The agent does not go on with its session "OLD" (Resource not found).'
    const fault = { code: 'session-not-found', message, retryable: false, retry: 'fresh-session' }
    expect(ofType(drive, 'turn-end')).toMatchObject([{ outcome: 'failed', fault }])
    drive.start('Hi', { turn: 't2' })
    answer(drive, 'session/new', { sessionId: 'S' })
    expect(methods(drive).slice(-2)).toEqual(['session/new', 'session/prompt'])
  })

  test('is lost with an agent that can do neither', () => {
    const drive = greeted()
    drive.start('Hi', bound('OLD'))
    expect(ofType(drive, 'turn-end')).toMatchObject([{ fault: { code: 'session-not-found', retry: 'fresh-session' } }])
  })

  test('is not lost when the agent wants a login, or its provider fails', () => {
    const codes = [
      { code: -32000, message: 'login' },
      { code: -32603, message: 'HTTP 429' },
    ].map((error) => {
      const drive = greeted(LOADS)
      drive.start('Hi', bound('OLD'))
      refuse(drive, 'session/load', error)
      return ofType(drive, 'turn-end').map(({ fault }) => [fault?.code, fault?.retry])
    })
    expect(codes).toEqual([[['provider-auth', undefined]], [['provider-rate-limit', undefined]]])
  })

  test('another one than that of the process is opened in its place', () => {
    const drive = running(capable({ resume: {}, close: {} }))
    finish(drive)
    drive.start('Hi', { ...bound('OLD'), turn: 't2' })
    expect(methods(drive).slice(-2)).toEqual(['session/close', 'session/resume'])
  })
})

describe('a new session', () => {
  test('that has no id is an error', () => {
    const drive = greeted()
    drive.start('Hi')
    answer(drive, 'session/new', {})
    expect(ofType(drive, 'turn-end')).toMatchObject([{ fault: { code: 'protocol-violation' } }])
  })

  test('that is refused', () => {
    const drive = greeted()
    drive.start('Hi')
    refuse(drive, 'session/new', { code: -32603, message: 'no room' })
    expect(ofType(drive, 'turn-end')).toMatchObject([{ fault: { code: 'internal', message: 'no room' } }])
  })

  test('whose agent dies meanwhile', () => {
    const drive = greeted()
    drive.start('Hi')
    drive.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(ofType(drive, 'turn-end')).toMatchObject([{ fault: { code: 'agent-crashed' } }])
  })

  test('follows after one was cleared, with the system prompt said again', () => {
    const drive = greeted(capable({ close: {} }))
    const options = { systemPrompt: 'Be brief.' }
    drive.start('Hi', { options })
    answer(drive, 'session/new', { sessionId: 'S' })
    finish(drive)
    drive.link.encode({ type: 'session-clear', exchange: 'x' })
    expect(replies(drive)).toEqual([{ turn: null, type: 'command-reply', exchange: 'x' }])
    drive.start('Hi', { turn: 't2', options })
    answer(drive, 'session/close')
    answer(drive, 'session/new', { sessionId: 'S2' })
    finish(drive)
    drive.start('More', { turn: 't3', options })
    const prompts = sent(drive).filter(({ method }) => method === 'session/prompt')
    const told = 'System instruction:\nBe brief.\n\nUser message:\nHi'
    expect(prompts.map(({ params }) => params)).toEqual([
      { sessionId: 'S', prompt: [{ type: 'text', text: told }] },
      { sessionId: 'S2', prompt: [{ type: 'text', text: told }] },
      { sessionId: 'S2', prompt: [{ type: 'text', text: 'More' }] },
    ])
  })

  test('is left when it is closed between two turns, without an answer', () => {
    const drive = running(capable({ close: {} }))
    finish(drive)
    drive.start('More', { turn: 't2' })
    drive.link.encode({ type: 'session-close', exchange: 'x' })
    finish(drive)
    drive.link.encode({ type: 'session-close', exchange: 'x' })
    drive.link.encode({ type: 'session-close', exchange: 'x' })
    expect(methods(drive).slice(3)).toEqual(['session/prompt', 'session/close'])
    expect(replies(drive)).toEqual([])
  })
})

describe('what an agent says of a session before its answer names it', () => {
  const commands = { availableCommands: [{ name: 'plan', description: 'Plans' }] }

  test('is kept when it is a setting, and else its history', () => {
    const drive = greeted(capable({ fork: {} }))
    drive.start('Hi', { session: { id: 's', origin: 'OLD' } })
    drive.feed(
      updateLine('available_commands_update', commands, 'COPY'),
      updateLine('agent_message_chunk', { content: { type: 'text', text: 'Before' } }, 'COPY'),
    )
    answer(drive, 'session/fork', { sessionId: 'COPY' })
    drive.feed(updateLine('agent_message_chunk', { content: { type: 'text', text: 'Now' } }, 'COPY'))
    finish(drive)
    expect(ofType(drive, 'text-delta').map(({ text }) => text)).toEqual(['Now'])
    expect(drive.events.filter(({ type }) => type === 'session-changed')).toHaveLength(1)
    expect(drive.losses).toEqual([])
  })

  test('is not that of a session which was left', () => {
    const drive = running()
    finish(drive)
    drive.link.encode({ type: 'session-clear', exchange: 'x' })
    drive.start('More', { turn: 't2' })
    drive.feed(updateLine('available_commands_update', commands, 'S'))
    expect(drive.events.filter(({ type }) => type === 'session-changed')).toEqual([])
  })
})

describe('Gemini CLI', () => {
  test('may repeat a session after its answer, which is no answer of the next turn', () => {
    const drive = greeted({ about: { agentInfo: { name: 'gemini-cli' }, agentCapabilities: { loadSession: true } } })
    drive.start('Hi', bound('OLD'))
    answer(drive, 'session/load')
    const said = (text: string) => updateLine('agent_message_chunk', { content: { type: 'text', text } }, 'OLD')
    drive.feed(said('Before'))
    expect(methods(drive)).not.toContain('session/prompt')
    refuse(drive, '_turnpike/loaded', { code: -32601, message: 'none' })
    drive.feed(said('Now'))
    finish(drive)
    expect(ofType(drive, 'text-delta').map(({ text }) => text)).toEqual(['Now'])
  })

  test('that ends before that fails the turn', () => {
    const drive = greeted({ about: { agentInfo: { name: 'gemini-cli' }, agentCapabilities: { loadSession: true } } })
    drive.start('Hi', bound('OLD'))
    answer(drive, 'session/load')
    drive.link.decodeEnd({ why: 'closed' })
    expect(ofType(drive, 'turn-end')).toMatchObject([{ outcome: 'failed', fault: { code: 'agent-crashed' } }])
  })
})

describe('Copilot CLI', () => {
  const COPILOT = { about: { agentInfo: { name: 'Copilot' } } }
  const counted = (inputTokens: number, outputTokens: number) => ({ usage: { inputTokens, outputTokens } })

  test('counts the tokens of all turns of a session', () => {
    const drive = running(COPILOT)
    finish(drive, 'end_turn', counted(14, 6))
    for (const [turn, more] of [
      ['t2', counted(42, 18)],
      ['t3', counted(42, 18)],
    ] as const) {
      drive.start('More', { turn })
      finish(drive, 'end_turn', more)
    }
    drive.link.encode({ type: 'session-clear', exchange: 'x' })
    drive.start('Again', { turn: 't4' })
    answer(drive, 'session/new', { sessionId: 'S2' })
    finish(drive, 'end_turn', counted(5, 1))
    const tokens = ofType(drive, 'usage').map(({ turn, usage }) => [turn, usage])
    expect(tokens).toEqual([
      ['t1', { input: 14, output: 6 }],
      ['t2', { input: 28, output: 12 }],
      ['t4', { input: 5, output: 1 }],
    ])
  })

  test.each([
    ['is cancelled', (drive: BackDrive) => finish(drive, 'cancelled')],
    ['fails', (drive: BackDrive) => refuse(drive, 'session/prompt', { code: -32603, message: 'no' })],
  ])('does not count a turn that %s: those of the next one are unknown', (_, ends) => {
    const drive = running(COPILOT)
    finish(drive, 'end_turn', counted(14, 6))
    drive.start('More', { turn: 't2' })
    ends(drive)
    for (const [turn, more] of [
      ['t3', counted(42, 18)],
      ['t4', counted(56, 24)],
    ] as const) {
      drive.start('More', { turn })
      finish(drive, 'end_turn', more)
    }
    expect(ofType(drive, 'usage').map(({ turn, usage }) => [turn, usage])).toEqual([
      ['t1', { input: 14, output: 6 }],
      ['t4', { input: 14, output: 6 }],
    ])
  })

  test.each([
    ['Error: 400 the model refuses', 'provider-error'],
    ['Error: 429 Too many requests', 'provider-rate-limit'],
    ['Error: Failed to get response from the AI model; retried 5 times', 'provider-error'],
  ])('says as text that its model has failed: %s', (text, code) => {
    const drive = running(COPILOT)
    drive.feed(textLine('half '), textLine(text))
    finish(drive)
    const fault = expect.objectContaining({ code, message: text })
    expect(ofType(drive, 'turn-end')).toMatchObject([{ outcome: 'failed', fault }])
  })

  test.each(['Error: there is none', 'The line says: Error: 400', 'fine'])('may say anything else: %s', (text) => {
    const drive = running(COPILOT)
    drive.feed(textLine(text))
    finish(drive)
    expect(ofType(drive, 'turn-end')).toMatchObject([{ outcome: 'completed' }])
  })

  test('alone does so', () => {
    const drive = running({ about: { agentInfo: { name: 'constructor' } } })
    drive.feed(textLine('Error: 400 is a status'))
    finish(drive)
    expect(ofType(drive, 'turn-end')).toMatchObject([{ outcome: 'completed' }])
  })
})

describe('a copy of a session', () => {
  const origin = { session: { id: 's', origin: 'OLD' } }

  test('is made by the agent, and works from then on like any other', () => {
    const drive = greeted(capable({ fork: {}, resume: {} }))
    query(drive, 'offers')
    answer(drive, 'session/new', { sessionId: 'UNUSED' })
    drive.start('Hi', origin)
    expect(last(drive, 'session/fork').params).toEqual({ sessionId: 'OLD', cwd: '/agents', mcpServers: [] })
    answer(drive, 'session/fork', { sessionId: 'COPY' })
    expect(last(drive, 'session/prompt').params).toMatchObject({ sessionId: 'COPY' })
    expect(drive.events.at(-1)).toEqual({ turn: null, type: 'session-bound', agentSession: 'COPY' })
  })

  test.each([
    ['cannot copy', capable({ resume: {} }), undefined, 'session-not-found'],
    ['does not find the session', capable({ fork: {} }), { code: -32002, message: 'none' }, 'session-not-found'],
    ['is to be logged in', capable({ fork: {} }), { code: -32000, message: 'log in' }, 'provider-auth'],
  ])('is lost with an agent that %s', (_how, like, error, code) => {
    const drive = greeted(like)
    drive.start('Hi', origin)
    if (error) refuse(drive, 'session/fork', error)
    expect(ofType(drive, 'turn-end')).toMatchObject([{ outcome: 'failed', fault: { code } }])
  })

  test('has an id of its own', () => {
    const drive = greeted(capable({ fork: {} }))
    drive.start('Hi', origin)
    answer(drive, 'session/fork', { sessionId: 'OLD' })
    expect(ofType(drive, 'turn-end')).toMatchObject([{ fault: { code: 'protocol-violation' } }])
  })
})

describe('the sessions that an agent keeps', () => {
  const listing = (args?: string) => {
    const drive = greeted(capable({ list: {} }))
    query(drive, 'agent-sessions', 'q', args)
    return drive
  }

  test('are listed, a page at a time', () => {
    const drive = listing('{"cwd":"/a","before":"2"}')
    expect(last(drive, 'session/list').params).toEqual({ cwd: '/a', cursor: '2' })
    answer(drive, 'session/list', {
      sessions: [
        { sessionId: 'A', cwd: '/a', title: 'T', updatedAt: '1970-01-01T00:00:01Z', more: 1 },
        { sessionId: 'B', cwd: '/b', title: null, updatedAt: 'yesterday' },
        { sessionId: 'C' },
      ],
      nextCursor: '3',
    })
    expect(replies(drive)).toEqual([
      {
        turn: null,
        type: 'command-reply',
        exchange: 'q',
        data: '{"sessions":[{"id":"A","cwd":"/a","title":"T","usedAt":1000},{"id":"B","cwd":"/b"},{"id":"C"}],"next":"3"}',
      },
    ])
  })

  test.each([
    ['says something else', (drive: BackDrive) => answer(drive, 'session/list', { sessions: 1 }), 'protocol-violation'],
    ['refuses', (drive: BackDrive) => refuse(drive, 'session/list', { code: -32603, message: 'no' }), 'internal'],
    ['ends', (drive: BackDrive) => drive.link.decodeEnd({ why: 'closed' }), 'agent-crashed'],
  ])('are not known of an agent that %s', (_how, end, code) => {
    const drive = listing(_how === 'ends' ? undefined : '7')
    expect(last(drive, 'session/list').params).toEqual({})
    end(drive)
    expect(replies(drive)).toMatchObject([{ exchange: 'q', fault: { code } }])
  })

  test('are not known of an agent that cannot list them', () => {
    const drive = greeted()
    query(drive, 'agent-sessions')
    expect(replies(drive)).toMatchObject([{ fault: { code: 'invalid-request' } }])
  })
})

describe('a session that is deleted', () => {
  const remove = (drive: BackDrive, id?: string) =>
    drive.link.encode({
      type: 'session-delete',
      id: 'g',
      exchange: 'x',
      ...(id && { session: { bound: id } }),
    } as Command)

  test('is deleted by the agent, by any process of it', () => {
    const drive = running(capable({ delete: {}, close: {} }))
    finish(drive)
    remove(drive, 'OTHER')
    answer(drive, 'session/delete')
    remove(drive, 'S')
    refuse(drive, 'session/delete', { code: -32603, message: 'no' })
    expect(last(drive, 'session/delete').params).toEqual({ sessionId: 'S' })
    expect(replies(drive)).toMatchObject([{ exchange: 'x' }, { exchange: 'x', fault: { code: 'internal' } }])
    drive.start('More', { turn: 't2' })
    expect(methods(drive).slice(3)).toEqual(['session/delete', 'session/delete', 'session/new'])
  })

  test('is none of an agent that cannot delete sessions, or is gone, or never told its id', () => {
    for (const [like, id] of [
      [capable({ close: {} }), 'S'],
      [capable({ delete: {} }), undefined],
    ] as const) {
      const drive = greeted(like)
      remove(drive, id)
      expect(replies(drive)).toMatchObject([{ fault: { code: 'invalid-request' } }])
    }
    const gone = started()
    remove(gone, 'S')
    gone.link.decodeEnd({ why: 'closed' })
    expect(replies(gone)).toMatchObject([{ exchange: 'x' }])
  })
})

describe('where a session works', () => {
  const process = { command: 'a', env: {}, cwd: '/home/work' }
  const opened = (like: AgentLike, more: Partial<TurnStart>) => {
    const drive = greeted({ process, ...like })
    drive.start('Hi', more)
    return { drive, params: last(drive, 'session/new').params as Record<string, unknown> }
  }

  test.each([
    [undefined, '/home/work'],
    ['/srv/a', '/srv/a'],
  ])('is where its client is, else where its process is: %s', (cwd, used) => {
    const { drive, params } = opened({}, cwd === undefined ? {} : { cwd })
    expect([params['cwd'], drive.losses]).toEqual([used, []])
  })

  test('further folders, of the configuration and of the client', () => {
    const folders = ['/home/user/a']
    const { drive, params } = opened(
      { ...capable({ additionalDirectories: {} }), options: { folders: ['/data'] } },
      { folders },
    )
    expect(params['additionalDirectories']).toEqual(['/data', '/home/user/a'])
    expect(drive.losses).toEqual([])
  })

  test('an agent without further folders', () => {
    const { drive, params } = opened({}, { folders: ['/home/user/a'] })
    expect(Object.keys(params)).toEqual(['cwd', 'mcpServers'])
    expect(drive.losses).toEqual([{ kind: 'dropped', item: 'start.folders', why: 'unknown', count: 1 }])
  })

  const SERVERS = [
    { name: 'files', command: ['npx', 'files', '-v'], env: { A: 'b' } },
    { name: 'web', url: 'https://x', headers: { Authorization: 'k' } },
    { name: 'old', url: 'https://y', type: 'sse' },
  ]
  const WIRE = [
    { name: 'files', command: 'npx', args: ['files', '-v'], env: [{ name: 'A', value: 'b' }] },
    { type: 'http', name: 'web', url: 'https://x', headers: [{ name: 'Authorization', value: 'k' }] },
    { type: 'sse', name: 'old', url: 'https://y', headers: [] },
  ]

  test('servers of the configuration, those that the agent can use', () => {
    const can = { about: { agentCapabilities: { mcpCapabilities: { http: true, sse: true } } } }
    expect(opened({ ...can, options: { mcp_servers: SERVERS } }, {}).params['mcpServers']).toEqual(WIRE)
    const { drive, params } = opened({ options: { mcp_servers: SERVERS } }, {})
    expect(params['mcpServers']).toEqual(WIRE.slice(0, 1))
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'start.mcpServers', field: 'http', why: 'unknown', count: 1 },
      { kind: 'dropped', item: 'start.mcpServers', field: 'sse', why: 'unknown', count: 1 },
    ])
  })

  test('servers of a client', () => {
    const mcpServers = [{ name: 'mine', type: 'stdio', command: ['sh'], env: {} }] as const
    const wire = [{ name: 'mine', command: 'sh', args: [], env: [] }]
    expect(opened({}, { mcpServers }).params['mcpServers']).toEqual(wire)
  })

  test('a session that was opened for a question is opened again where the turn is to work', () => {
    const drive = greeted({ process, ...capable({ close: {} }) })
    query(drive, 'offers')
    answer(drive, 'session/new', { sessionId: 'S0' })
    drive.start('Hi', { cwd: '/home/user/sub' })
    expect(methods(drive).slice(1)).toEqual(['session/new', 'session/close', 'session/new'])
    answer(drive, 'session/new', { sessionId: 'S' })
    finish(drive)
    drive.start('More', { cwd: '/home/user/elsewhere', turn: 't2' })
    expect(last(drive, 'session/prompt').params).toMatchObject({ sessionId: 'S' })
  })

  test('one in the same place is kept', () => {
    const drive = greeted({ process })
    query(drive, 'offers')
    answer(drive, 'session/new', { sessionId: 'S0' })
    drive.start('Hi')
    expect(last(drive, 'session/prompt').params).toMatchObject({ sessionId: 'S0' })
  })
})

const MODES = {
  modes: {
    currentModeId: 'default',
    availableModes: [
      { id: 'default', name: 'Default' },
      { id: 'plan', description: 'Plans' },
    ],
  },
}
const MODELS = {
  models: { currentModelId: 'm1', availableModels: [{ modelId: 'm1', name: 'One' }, { modelId: 'm2' }] },
}
const OPTION = {
  configOptions: [
    {
      id: 'mod',
      name: 'Model',
      category: 'model',
      type: 'select',
      currentValue: 'm1',
      options: [
        { value: 'm1', name: 'One' },
        { group: 'g', name: 'Big', options: [{ value: 'm2', name: 'Two', description: 'x' }] },
      ],
    },
    {
      id: 'eff',
      category: 'thought_level',
      description: 'How hard',
      type: 'select',
      currentValue: 'low',
      options: [{ value: 'low' }, { group: 'g', options: [{ value: 'high' }] }, { options: [{ value: 'max' }] }],
    },
    { id: 'fast', name: 'Fast', type: 'boolean', currentValue: false },
    { id: 'odd', type: 'number', currentValue: 7 },
  ],
}

describe('what an agent offers', () => {
  test('modes and models', () => {
    const drive = running({}, { ...MODES, ...MODELS })
    drive.feed(
      updateLine('session_info_update', { title: 'T' }),
      updateLine('available_commands_update', { availableCommands: [{ name: 'a' }] }),
    )
    query(drive, 'offers')
    query(drive, 'models')
    expect(replies(drive).map(({ data }) => JSON.parse(data!) as object)).toEqual([
      {
        title: 'T',
        mode: 'default',
        modes: [
          { id: 'default', name: 'Default' },
          { id: 'plan', description: 'Plans' },
        ],
        options: [
          {
            id: 'model',
            category: 'model',
            type: 'select',
            value: 'm1',
            choices: [{ value: 'm1', name: 'One' }, { value: 'm2' }],
          },
        ],
        commands: [{ name: 'a' }],
      },
      { models: [{ id: 'm1' }, { id: 'm2' }] },
    ])
  })

  test('options', () => {
    const drive = running({}, OPTION)
    query(drive, 'offers')
    query(drive, 'models')
    expect(replies(drive).map(({ data }) => JSON.parse(data!) as object)).toEqual([
      {
        options: [
          {
            id: 'mod',
            name: 'Model',
            category: 'model',
            type: 'select',
            value: 'm1',
            choices: [
              { value: 'm1', name: 'One' },
              { value: 'm2', name: 'Two', description: 'x', group: 'Big' },
            ],
          },
          {
            id: 'eff',
            description: 'How hard',
            category: 'effort',
            type: 'select',
            value: 'low',
            choices: [{ value: 'low' }, { value: 'high', group: 'g' }, { value: 'max' }],
          },
          { id: 'fast', name: 'Fast', type: 'boolean', value: false },
        ],
      },
      { models: [{ id: 'm1' }, { id: 'm2' }] },
    ])
  })

  test('a model and an option without choices', () => {
    const drive = running({}, { models: { currentModelId: 'm' }, configOptions: [{ id: 'o', currentValue: 'v' }] })
    query(drive, 'offers')
    expect(JSON.parse(replies(drive)[0]!.data!)).toEqual({
      options: [
        { id: 'o', type: 'select', value: 'v', choices: [] },
        { id: 'model', category: 'model', type: 'select', value: 'm', choices: [] },
      ],
    })
  })

  test('nothing', () => {
    const drive = running({}, { modes: 'x', models: { availableModels: null }, configOptions: null })
    query(drive, 'offers')
    query(drive, 'models')
    expect(replies(drive).map(({ data }) => data)).toEqual(['{"options":[]}', '{"models":[]}'])
  })

  test('an agent without a session is asked for one', () => {
    const drive = started()
    query(drive, 'offers')
    answer(drive, 'initialize', { protocolVersion: 1 })
    query(drive, 'models', 'q2')
    refuse(drive, 'session/new', { code: -32603, message: 'no' })
    answer(drive, 'session/new', { sessionId: 'S' })
    expect(replies(drive)).toMatchObject([
      { exchange: 'q', fault: { message: 'no' } },
      { exchange: 'q2', data: '{"models":[]}' },
    ])
  })

  test('an agent that is gone offers nothing, and takes nothing', () => {
    const [fresh, used] = [greeted(), running({}, MODES)]
    for (const drive of [fresh, used]) drive.link.decodeEnd({ why: 'closed', exitCode: 1 })
    query(fresh, 'offers')
    config(used, { mode: 'plan' })
    expect([...replies(fresh), ...replies(used)].map(({ fault }) => fault?.code)).toEqual([
      'agent-crashed',
      'agent-crashed',
    ])
  })

  test('other commands are refused', () => {
    const drive = running()
    drive.link.encode({ type: 'session-open', exchange: 'x' })
    expect(replies(drive)).toMatchObject([{ exchange: 'x', fault: { code: 'invalid-request' } }])
  })
})

describe('settings', () => {
  test.each<[string, object, Partial<CommandOf<'config-set'>>, string, object]>([
    ['a mode', MODES, { mode: 'plan' }, 'session/set_mode', { sessionId: 'S', modeId: 'plan' }],
    ['a model', MODELS, { model: 'm2' }, 'session/set_model', { sessionId: 'S', modelId: 'm2' }],
    ['a model by its name', MODELS, { model: 'One' }, 'session/set_model', { sessionId: 'S', modelId: 'm1' }],
    [
      'a model by an option',
      OPTION,
      { model: 'Two' },
      'session/set_config_option',
      { sessionId: 'S', configId: 'mod', value: 'm2' },
    ],
    [
      'a model that is not listed',
      OPTION,
      { model: 'm9' },
      'session/set_config_option',
      { sessionId: 'S', configId: 'mod', value: 'm9' },
    ],
    [
      'an effort',
      OPTION,
      { effort: 'high' },
      'session/set_config_option',
      { sessionId: 'S', configId: 'eff', value: 'high' },
    ],
    [
      'an option',
      OPTION,
      { option: { id: 'fast', value: true } },
      'session/set_config_option',
      { sessionId: 'S', configId: 'fast', type: 'boolean', value: true },
    ],
    [
      'the offered models',
      MODELS,
      { option: { id: 'model', value: 'm2' } },
      'session/set_model',
      { sessionId: 'S', modelId: 'm2' },
    ],
  ])('%s', (_, state, command, method, params) => {
    const drive = running({}, state)
    config(drive, command)
    expect(last(drive, method).params).toEqual(params)
    expect(replies(drive)).toEqual([])
    answer(drive, method, { configOptions: OPTION.configOptions })
    const [reply] = replies(drive)
    expect(reply).toMatchObject({ turn: null, type: 'command-reply', exchange: 'c' })
    query(drive, 'offers')
    expect(JSON.parse(reply!.data!)).toEqual(JSON.parse(replies(drive).at(-1)!.data!))
  })

  test('are those of the configuration when somebody asks what there is', () => {
    const drive = greeted({ options: { mode: 'plan' } })
    query(drive, 'offers')
    answer(drive, 'session/new', { sessionId: 'S', ...MODES })
    expect(replies(drive)).toEqual([])
    answer(drive, 'session/set_mode')
    expect(JSON.parse(replies(drive)[0]!.data!)).toMatchObject({ mode: 'plan' })
    drive.start('Hi')
    expect(methods(drive).slice(1)).toEqual(['session/new', 'session/set_mode', 'session/prompt'])
  })

  test('that the agent refuses then fail the turn, and no question', () => {
    const drive = greeted({ options: { mode: 'plan' } })
    query(drive, 'offers')
    answer(drive, 'session/new', { sessionId: 'S', ...MODES })
    refuse(drive, 'session/set_mode', { code: -32603, message: 'no' })
    expect(JSON.parse(replies(drive)[0]!.data!)).toMatchObject({ mode: 'default' })
    drive.start('Hi')
    refuse(drive, 'session/set_mode', { code: -32603, message: 'still no' })
    expect(drive.events.at(-1)).toMatchObject({ type: 'turn-end', fault: { message: 'still no' } })
  })

  test('a mode that is a config option too has its value in both places', () => {
    const option = {
      id: 'mode',
      category: 'mode',
      type: 'select',
      currentValue: 'default',
      options: [{ value: 'default' }, { value: 'plan' }],
    }
    const drive = running({}, { ...MODES, configOptions: [option] })
    config(drive, { mode: 'plan' })
    answer(drive, 'session/set_mode')
    query(drive, 'offers')
    expect(JSON.parse(replies(drive).at(-1)!.data!)).toMatchObject({
      mode: 'plan',
      options: [{ id: 'mode', value: 'plan' }],
    })
  })

  test.each<[Partial<CommandOf<'config-set'>>, string]>([
    [{ mode: 'plan' }, 'mode'],
    [{ effort: 'high' }, 'effort'],
    [{ option: { id: 'x', value: 'y' } }, 'x'],
    [{ option: { id: 'model', value: 'y' } }, 'model'],
  ])('that the agent does not have: %j', (command, name) => {
    const drive = running()
    config(drive, command)
    expect(replies(drive)).toMatchObject([
      { fault: { code: 'invalid-request', message: `The agent has no setting for "${name}".` } },
    ])
  })

  test('that the agent refuses, or dies of', () => {
    const drive = running({}, MODES)
    config(drive, { mode: 'plan' })
    refuse(drive, 'session/set_mode', { code: -32603, message: 'no' })
    config(drive, { mode: 'plan' })
    drive.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(replies(drive).map(({ fault }) => [fault?.code, fault?.message.slice(0, 9)])).toEqual([
      ['invalid-request', 'no'],
      ['agent-crashed', 'The agent'],
    ])
  })

  test('of a session that is not open yet are made before its first prompt, after those of the configuration', () => {
    const drive = greeted({ options: { mode: 'default', model: 'm2' } })
    config(drive, { mode: 'plan' })
    expect(replies(drive)).toEqual([{ turn: null, type: 'command-reply', exchange: 'c' }])
    drive.start('Hi')
    answer(drive, 'session/new', { sessionId: 'S', ...MODES, ...MODELS })
    answer(drive, 'session/set_mode')
    answer(drive, 'session/set_model')
    answer(drive, 'session/set_mode')
    expect(methods(drive).slice(2)).toEqual([
      'session/set_mode',
      'session/set_model',
      'session/set_mode',
      'session/prompt',
    ])
    expect(last(drive, 'session/set_mode').params).toMatchObject({ modeId: 'plan' })
    finish(drive)
    drive.start('More', { turn: 't2' })
    expect(methods(drive)).toHaveLength(7)
  })

  test('and fail the turn when the agent refuses them', () => {
    const drive = greeted({ options: { mode: 'default' } })
    drive.start('Hi')
    answer(drive, 'session/new', { sessionId: 'S', ...MODES })
    refuse(drive, 'session/set_mode', { code: -32602, message: 'no such mode' })
    expect(ofType(drive, 'turn-end')).toMatchObject([{ fault: { code: 'invalid-request', message: 'no such mode' } }])
  })

  test('of one turn: the next has those of the session again', () => {
    const drive = running({}, OPTION)
    finish(drive)
    drive.start('Hi', { turn: 't2', options: { model: 'm2', effort: 'low' } })
    answer(drive, 'session/set_config_option')
    finish(drive)
    drive.start('Hi', { turn: 't3' })
    answer(drive, 'session/set_config_option')
    finish(drive)
    drive.start('Hi', { turn: 't4' })
    const values = sent(drive).flatMap(({ method, params }) =>
      method === 'session/set_config_option' ? (params as { value: string }).value : [],
    )
    expect([values, methods(drive).at(-1)]).toEqual([['m2', 'm1'], 'session/prompt'])
  })

  test('of one turn that the agent refuses or has not', () => {
    const drive = running({}, MODELS)
    finish(drive)
    drive.start('Hi', { turn: 't1', options: { model: 'm9', effort: 'high' } })
    refuse(drive, 'session/set_model', { code: -32602, message: 'No such model.' })
    expect(drive.losses).toEqual([
      { kind: 'dropped', item: 'option.model', why: 'unknown', count: 1 },
      { kind: 'dropped', item: 'option.effort', why: 'unknown', count: 1 },
    ])
    expect(
      ofType(drive, 'notice')
        .slice(-2)
        .map(({ code }) => code),
    ).toEqual(['model-refused', 'effort-refused'])
    expect(methods(drive).at(-1)).toBe('session/prompt')
  })

  test('of an agent that does not say what it is set to', () => {
    const drive = running({}, { models: { availableModels: [] } })
    finish(drive)
    drive.start('Hi', { turn: 't2', options: { model: 'm' } })
    answer(drive, 'session/set_model')
    expect(methods(drive).at(-1)).toBe('session/prompt')
  })
})

describe('the prompt', () => {
  const prompt = (like: AgentLike, start: Partial<TurnStart>) => {
    const drive = greeted(like)
    drive.start('', start)
    answer(drive, 'session/new', { sessionId: 'S' })
    return { drive, blocks: (last(drive, 'session/prompt').params as { prompt: object[] }).prompt }
  }

  test('a command that has no text is written as it is typed', () => {
    const invocation = { kind: 'slash', path: ['plan'], args: 'now' } as const
    expect(prompt({}, { input: [], invocation }).blocks).toEqual([{ type: 'text', text: '/plan now' }])
    const typed = { input: [{ type: 'text', text: '/plan later' }] as const, invocation }
    expect(prompt({}, typed).blocks).toEqual([{ type: 'text', text: '/plan later' }])
  })

  test('a system prompt without a text', () => {
    const { drive, blocks } = prompt({}, { input: [], options: { systemPrompt: 'Be brief.' } })
    expect(blocks).toEqual([{ type: 'text', text: 'System instruction:\nBe brief.\n\nUser message:\n' }])
    expect(drive.losses).toEqual([{ kind: 'weakened', item: 'option.systemPrompt', why: 'no-place', count: 1 }])
  })

  test('what the agent does not take is a loss', () => {
    const input = [
      { type: 'image', base64: 'QQ==' },
      { type: 'data', json: '{"a":1.0}' },
      { type: 'reasoning', text: 'x' },
    ] as const
    const { drive, blocks } = prompt({}, { input, ext: { protocol: 'zot', json: '{}' } } as never)
    expect(blocks).toEqual([{ type: 'text', text: '{"a":1.0}' }])
    expect(drive.losses.map(({ kind, item, field }) => [kind, item, field])).toEqual([
      ['dropped', 'ext', 'zot'],
      ['dropped', 'part.image', undefined],
      ['weakened', 'part.data', 'type'],
      ['dropped', 'part.reasoning', undefined],
    ])
  })
})

describe('files', () => {
  const READ = 'fs/read_text_file'
  const WRITE = 'fs/write_text_file'

  test.each([
    ['none', false, false],
    ['read', true, false],
    ['workspace', true, true],
  ])('client: %s', (client, read, write) => {
    const drive = running({ options: { client } })
    expect(last(drive, 'initialize').params).toMatchObject({
      clientCapabilities: { fs: { readTextFile: read, writeTextFile: write } },
    })
    drive.feed(
      requestLine(1, READ, { sessionId: 'S', path: '/agents/a' }),
      requestLine(2, WRITE, { sessionId: 'S', path: '/agents/b', content: 'x' }),
    )
    expect(drive.files.map(([request]) => request.kind)).toEqual([
      ...(read ? ['read'] : []),
      ...(write ? ['write'] : []),
    ])
    expect([answerOf(drive, 1)?.error?.code, answerOf(drive, 2)?.error?.code]).toEqual([
      read ? undefined : -32601,
      write ? undefined : -32601,
    ])
  })

  test('are those of the folders of the session', () => {
    const drive = running({
      options: { client: 'workspace', folders: ['/data'] },
      ...capable({ additionalDirectories: {} }),
    })
    drive.feed(
      requestLine('a', READ, { path: '/agents/a', line: 2, limit: 3 }),
      requestLine('b', READ, { path: '/agents/b', line: null, limit: -1 }),
      requestLine('c', WRITE, { path: '/x', content: 'y' }),
    )
    const roots = ['/agents', '/data']
    expect(drive.files.map(([request]) => request)).toEqual([
      { kind: 'read', path: '/agents/a', roots, line: 2, limit: 3 },
      { kind: 'read', path: '/agents/b', roots },
      { kind: 'write', path: '/x', roots, text: 'y' },
    ])
    drive.files[0]![1]({ text: 'one\ntwo' })
    drive.files[1]![1]({ failure: 'missing' })
    drive.files[2]![1]({ text: '' })
    expect([answerOf(drive, 'a'), answerOf(drive, 'b'), answerOf(drive, 'c')]).toEqual([
      { result: { content: 'one\ntwo' } },
      { error: { code: -32002, message: '/agents/b does not exist.' } },
      { result: {} },
    ])
  })

  test.each([
    ['outside', -32602],
    ['no-file', -32602],
    ['too-large', -32602],
    ['failed', -32603],
  ] as const)('that cannot be read: %s', (failure, code) => {
    const drive = running({ options: { client: 'read' } })
    drive.feed(requestLine(1, READ, { path: '/agents/a' }))
    drive.files[0]![1]({ failure })
    expect(answerOf(drive, 1)?.error?.code).toBe(code)
  })

  test.each([
    [READ, {}],
    [WRITE, { path: '/agents/a' }],
  ])('%s without its members', (method, params) => {
    const drive = running({ options: { client: 'workspace' } })
    drive.feed(requestLine(1, method, params))
    expect([answerOf(drive, 1)?.error?.code, drive.files]).toEqual([-32602, []])
  })

  test('that come when the agent is gone are for nobody', () => {
    const drive = running({ options: { client: 'read' } })
    drive.feed(requestLine(1, READ, { path: '/agents/a' }))
    drive.link.decodeEnd({ why: 'closed', exitCode: 1 })
    drive.files[0]![1]({ text: 'late' })
    expect(answerOf(drive, 1)).toBe(undefined)
  })

  test('before there is a session there are none', () => {
    const drive = greeted({ options: { client: 'read' } })
    drive.feed(requestLine(1, READ, { path: '/agents/a' }))
    expect(answerOf(drive, 1)?.error?.code).toBe(-32601)
  })
})

describe('a recording', () => {
  const lines = [
    '{"jsonrpc":"2.0","id":"theirs-1","result":{"protocolVersion":1}}',
    '{"jsonrpc":"2.0","id":"theirs-2","result":{"sessionId":"X"}}',
    textLine('Hi.').replace('"S"', '"X"'),
    requestLine(0, 'session/request_permission', { sessionId: 'X', toolCall: { toolCallId: 't' }, options: OPTIONS }),
  ]

  test.each([
    ['agent', 1],
    ['both', 0],
  ] as const)('of %s', (recorded, asks) => {
    const drive = started({ recorded })
    drive.start('Hello')
    drive.feed(...lines, '{"jsonrpc":"2.0","id":"theirs-3","result":{"stopReason":"end_turn"}}')
    expect(ofType(drive, 'text-delta').map(({ text }) => text)).toEqual(['Hi.'])
    expect(ofType(drive, 'ask')).toHaveLength(asks)
    expect([ofType(drive, 'turn-end').map(({ outcome }) => outcome), drive.losses]).toEqual([['completed'], []])
  })

  test('of a failure', () => {
    const drive = started({ recorded: 'agent' })
    drive.start('Hello')
    drive.feed('{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"HTTP 503"}}')
    expect(ofType(drive, 'turn-end')).toMatchObject([{ fault: { code: 'provider-down' } }])
  })
})
