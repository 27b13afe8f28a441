import { describe, expect, test } from 'vitest'
import { agentOf, callIdOf, ModelList, sendRequest, toolAnswer } from '../../src/codec-kit/index.ts'
import type { StartRequest } from '../../src/codec-kit/request-start.ts'
import type { Answer, FrontContext, FrontPorts } from '../../src/contract/index.ts'
import { type Command, type Fault, fault, type Part } from '../../src/model/index.ts'

test.each([
  ['coder', ['coder', 'coder']],
  ['coder:gpt-5', ['coder', 'gpt-5']],
  ['coder:vendor:gpt-5', ['coder', 'vendor:gpt-5']],
  [':gpt-5', ['', 'gpt-5']],
  ['coder:', ['coder', '']],
  ['', ['', undefined]],
])('the model %j is an agent and its model', (model, parts) => {
  expect(agentOf(model)).toEqual(parts)
})

const START = { type: 'turn-start', exchange: 'x', turn: 't', task: 'prompt', input: [], options: {} } as const

describe('the answer to a request', () => {
  test.each<[Command, Answer['asks']]>([
    [START, 'never'],
    [{ ...START, clientTools: [{ name: 'f' }] }, 'next-request'],
    [
      { type: 'ask-reply', exchange: 'x', target: { continuation: 'c' }, reply: { kind: 'input', values: '{}' } },
      'next-request',
    ],
  ])('of %j asks %s', (command, asks) => {
    const common = { onDisconnect: 'cancel', asks }
    expect(toolAnswer(true, command)).toEqual({ form: 'stream', framing: 'sse', ...common })
    expect(toolAnswer(false, command)).toEqual({ form: 'whole', framing: 'body', ...common })
  })
})

/** The ports of a link, and what has been done with them. */
function ports() {
  const done: unknown[] = []
  const made: Partial<FrontPorts> = {
    command: (command, answer) => void done.push(answer ? [command, answer] : [command]),
    send: (frame) => void done.push(frame),
    fault: (...args) => void done.push(args),
    newId: () => 'new',
  }
  return { done, ports: made as FrontPorts }
}
const CONTEXT = { headers: { 'idempotency-key': 'k' } } as unknown as FrontContext

describe('a request', () => {
  const REQUEST: StartRequest = {
    agent: 'coder',
    input: [],
    history: [],
    options: {},
    tools: [],
    session: undefined,
    ext: undefined,
  }
  const ANSWER = toolAnswer(false, START)
  const result = (tool: string): Part => ({ type: 'tool-reply', tool, status: 'ok', parts: [] })
  const call = callIdOf('call_', { continuation: 't0.c', at: 1 })

  test('begins a turn, with an answer that is made before it', () => {
    const { done, ports: open } = ports()
    sendRequest(REQUEST, CONTEXT, open, 'x', (command) => {
      done.push(command.type)
      return ANSWER
    })
    expect(done).toMatchObject([
      'turn-start',
      [{ exchange: 'x', turn: 'new', agent: 'coder', once: { key: 'k' } }, ANSWER],
    ])
  })

  test('goes on with the turn whose results it brings, or cancels that first', () => {
    const goesOn = ports()
    const more = { options: { topP: 1 }, tools: [{ name: 'f' }], user: 'u', ext: { protocol: 'p', json: '{}' } }
    sendRequest({ ...REQUEST, ...more, input: [result(call)] }, CONTEXT, goesOn.ports, 'x', () => ANSWER)
    const { tools: clientTools, ...rest } = more
    const settings = { agent: 'coder', clientTools, ...rest }
    expect(goesOn.done).toMatchObject([
      [{ type: 'ask-reply', target: { continuation: 't0.c' }, at: 1, settings }, ANSWER],
    ])
    const leaves = ports()
    const parts: Part[] = [{ type: 'tool-call', tool: call, name: 'f', args: '{}' }]
    sendRequest({ ...REQUEST, history: [{ role: 'assistant', parts }] }, CONTEXT, leaves.ports, 'x', () => ANSWER)
    expect(leaves.done).toMatchObject([
      [{ type: 'turn-cancel', target: { turn: 't0' } }],
      [{ type: 'turn-start' }, ANSWER],
    ])
  })
})

describe('results of a turn that is gone', () => {
  const tool = callIdOf('call_', { continuation: 't0.c', at: 1 })
  const input: Part[] = [{ type: 'tool-reply', tool, status: 'ok', parts: [] }]
  const request: StartRequest = {
    agent: 'a',
    input,
    history: [],
    options: {},
    tools: [],
    session: undefined,
    ext: undefined,
  }
  const sent = (more: object): Answer => {
    const { done, ports: open } = ports()
    const answer = toolAnswer(false, START)
    sendRequest({ ...request, ...more }, CONTEXT, open, 'x', () => answer)
    const [[command, given]] = done as [[Command, Answer]]
    // A link may still set the status of the answer that it has made.
    expect([command.type, given === answer]).toEqual(['ask-reply', true])
    return given
  }

  test('begin a turn when they come with the whole conversation', () => {
    expect(sent({}).otherwise?.()).toMatchObject({ type: 'turn-start', exchange: 'x', turn: 'new', agent: 'a', input })
  })

  test.each([
    ['names the turn before', { after: 't0' }],
    ['names its conversation', { conversation: 'c' }],
    [
      'answers a question, too',
      { answers: [{ call: { continuation: 't0.c', at: 0 }, reply: { kind: 'approval', option: 'yes' } }] },
    ],
  ])('do not when the request %s', (_how, more) => {
    expect(sent(more).otherwise).toBeUndefined()
  })
})

describe('a list of models', () => {
  const open = (model?: string) => {
    const { done, ports: made } = ports()
    const context = { ...CONTEXT, ...(model !== undefined && { params: { model } }) }
    const words = {
      list: (agents: readonly { name: string }[]) => agents.map(({ name }) => name).join(),
      one: ({ name }: { name: string }) => name,
      error: ({ message }: Fault) => `error: ${message}`,
      unknown: (why: string) => fault('agent-not-found', why),
    }
    const list = new ModelList(context, made, words)
    const reply = (more: object) => list.encodeLink({ turn: null, type: 'command-reply', exchange: 'new', ...more })
    return { done, list, reply }
  }
  const data = '{"agents":[{"name":"a","protocol":"zot"},{"name":"b","protocol":"zene"}]}'

  test('is that of the agents', () => {
    const { done, list, reply } = open()
    list.decode()
    list.encode()
    list.encodeLink({ turn: null, type: 'agent-ready' })
    reply({ data })
    expect(done).toMatchObject([[{ exchange: 'new', type: 'query', what: 'agents' }, { form: 'whole' }], 'a,b'])
    expect(list.headers).toEqual({})
  })

  test('has one of them by its name, or says which there are', () => {
    const one = open('b')
    one.reply({ data })
    expect(one.done).toEqual(['b'])
    const own = open('b:gpt-5')
    own.reply({ data })
    expect(own.done).toEqual(['b:gpt-5'])
    const none = open('c')
    none.reply({ data })
    const why = fault('agent-not-found', 'There is no model "c"; there are: a, b.')
    expect(none.done).toEqual([[why, 'continues', 'new', 404]])
  })

  test('fails in the words of the protocol', () => {
    const { done, reply } = open()
    reply({ fault: fault('forbidden', 'No.') })
    expect(done).toEqual(['error: No.'])
  })
})
