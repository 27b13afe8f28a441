import { describe, expect, test } from 'vitest'
import type { AskReply } from '../../../src/model/index.ts'
import { assistant, failure, greeted, running, sentObjects, success, turnEvents, user } from './kit.ts'

const INPUT = '{"file":"a.txt","n":1.0}'
const SUGGESTIONS = [
  { type: 'allow', label: 'Allow Edit', description: 'Edit file: a.txt' },
  { type: 'deny', label: 'Deny' },
  { type: 'modify', label: 'Review' },
]

function consent(more: object = {}, input = INPUT): string {
  const request = { subtype: 'can_use_tool', tool_name: 'edit', tool_use_id: 'c1', input: 'HERE', ...more }
  return JSON.stringify({ type: 'control_request', request_id: 'q1', request }).replace('"HERE"', input)
}

/** A turn with a tool call whose consent is asked. */
function asking(more: object = {}, input = INPUT) {
  const drive = running()
  drive.feed(assistant([{ type: 'tool_use', id: 'c1', name: 'edit', input: {} }]), consent(more, input))
  return drive
}

function answer(drive: ReturnType<typeof running>, reply: AskReply, ask: string | null = 'q1'): unknown {
  drive.link.encode({ exchange: 'r', type: 'ask-reply', target: 'running', ...(ask !== null && { ask }), reply })
  const last = sentObjects(drive).at(-1)!
  return last['type'] === 'control_response' ? last['response'] : undefined
}

const approve = (more: object = {}) => ({ kind: 'approval', option: 'allow', ...more }) as AskReply
const said = (response: unknown) => ({ subtype: 'success', request_id: 'q1', response })

describe('consent', () => {
  test('is asked with the raw arguments and the two options that count', () => {
    expect(turnEvents(asking({ permission_suggestions: SUGGESTIONS })).at(-1)).toEqual({
      type: 'ask',
      ask: 'q1',
      question: {
        kind: 'approval',
        tool: 'c1',
        name: 'edit',
        args: INPUT,
        description: 'Edit file: a.txt',
        options: [
          { id: 'allow', kind: 'allow', scope: 'once', label: 'Allow Edit' },
          { id: 'deny', kind: 'deny', scope: 'once', label: 'Deny' },
        ],
      },
      ext: { protocol: 'qwen-code', json: JSON.stringify({ permission_suggestions: SUGGESTIONS }) },
    })
  })

  test('without suggestions, for a call that is not known', () => {
    const drive = running()
    drive.feed(consent({ permission_suggestions: null, tool_use_id: undefined }))
    expect(turnEvents(drive).at(-1)).toEqual({
      type: 'ask',
      ask: 'q1',
      question: {
        kind: 'approval',
        name: 'edit',
        args: INPUT,
        options: [
          { id: 'allow', kind: 'allow', scope: 'once' },
          { id: 'deny', kind: 'deny', scope: 'once' },
        ],
      },
    })
  })

  test.each([
    [approve(), { behavior: 'allow' }],
    [approve({ edited: '{ "n":1, "file":"a.txt" }' }), { behavior: 'allow' }],
    [approve({ option: 'deny' }), { behavior: 'deny' }],
    [approve({ option: 'zzz', message: 'not today' }), { behavior: 'deny', message: 'not today' }],
  ])('%j is %j', (reply, response) => {
    const drive = asking()
    expect(answer(drive, reply)).toEqual(said(response))
    expect(drive.losses).toEqual([])
  })

  test('to other arguments is a refusal, because the agent would run its own', () => {
    const drive = asking()
    expect(answer(drive, approve({ edited: '{"file":"b.txt"}' }))).toEqual(
      said({ behavior: 'deny', message: 'The arguments cannot be changed by the one who approves them.' }),
    )
    expect(drive.losses).toEqual([{ kind: 'weakened', item: 'ask-reply', field: 'edited', why: 'no-place', count: 1 }])
  })

  test('to arguments that are no JSON is one too', () => {
    expect(answer(asking(), approve({ edited: 'nonsense' }))).toMatchObject({ response: { behavior: 'deny' } })
  })

  test('that is refused makes the call a denied one', () => {
    const drive = asking()
    answer(drive, approve({ option: 'deny' }))
    drive.feed(user([{ type: 'tool_result', tool_use_id: 'c1', is_error: true, content: 'no' }]))
    expect(turnEvents(drive).at(-1)).toMatchObject({ type: 'tool-end', tool: 'c1', status: 'denied' })
  })

  test('that stops the turn is an interrupt too', () => {
    const drive = asking()
    drive.link.encode({
      exchange: 'r',
      type: 'ask-reply',
      target: 'running',
      ask: 'q1',
      reply: { kind: 'approval', option: 'deny', stopTurn: true },
    })
    expect(sentObjects(drive).slice(-2)).toMatchObject([
      { response: { response: { behavior: 'deny', interrupt: true } } },
      { request: { subtype: 'interrupt' } },
    ])
  })

  test('given to the oldest question when none is named', () => {
    expect(answer(asking(), approve(), null)).toEqual(said({ behavior: 'allow' }))
  })

  test('given twice, or to nobody, is ignored', () => {
    const drive = asking()
    answer(drive, approve())
    const sent = drive.sent.length
    answer(drive, approve())
    answer(drive, approve(), null)
    answer(drive, approve(), 'q7')
    expect(drive.sent).toHaveLength(sent)
  })

  test('of another kind is a refusal', () => {
    expect(answer(asking(), { kind: 'input', values: '{}' })).toEqual({
      subtype: 'error',
      request_id: 'q1',
      error: 'The host gave an answer of another kind, or none.',
    })
  })
})

describe('questions to the user', () => {
  const INPUTS =
    '{"questions":[{"question":"Which?","options":[{"label":"Blue"},{"label":"Red"}]},{"question":"Why?"}],"answers":{},"n":1.0}'
  const form = () => asking({ tool_name: 'ask_user_question' }, INPUTS)

  test('are one form', () => {
    expect(turnEvents(form()).at(-1)).toEqual({
      type: 'ask',
      ask: 'q1',
      question: {
        kind: 'input',
        tool: 'c1',
        message: 'Which?\nWhy?',
        schema:
          '{"type":"object","properties":{"0":{"type":"string","description":"Which?","examples":["Blue","Red"]},"1":{"type":"string","description":"Why?"}}}',
      },
      ext: { protocol: 'qwen-code', json: `{"input":${INPUTS}}` },
    })
  })

  test('keep what is said beside them', () => {
    const drive = asking({ tool_name: 'ask_user_question', permission_suggestions: SUGGESTIONS, risk: 1 }, INPUTS)
    const suggestions = JSON.stringify(SUGGESTIONS)
    expect(drive.events.at(-1)?.ext?.json).toBe(`{"input":${INPUTS},"permission_suggestions":${suggestions},"risk":1}`)
  })

  test('of no call name none', () => {
    const drive = asking({ tool_name: 'ask_user_question', tool_use_id: undefined }, INPUTS)
    expect(turnEvents(drive).at(-1)).not.toHaveProperty('question.tool')
  })

  test('are answered by number', () => {
    const drive = form()
    answer(drive, { kind: 'input', values: '{"0":"Blue"}' })
    expect(drive.sent.at(-1)).toContain(
      '"response":{"behavior":"allow","updatedInput":{"questions":[{"question":"Which?","options":[{"label":"Blue"},{"label":"Red"}]},{"question":"Why?"}],"n":1.0,"answers":{"0":"Blue"}}}',
    )
  })

  test('without an answer are refused', () => {
    const denied = said({ behavior: 'deny', message: 'The user did not answer.' })
    expect(answer(form(), { kind: 'input', values: '{}' })).toEqual(denied)
    expect(answer(form(), { kind: 'approval', option: 'allow' })).toMatchObject({ subtype: 'error' })
  })

  test('of another shape are consent like any other', () => {
    const drive = asking({ tool_name: 'ask_user_question' }, '{"questions":[]}')
    expect(turnEvents(drive).at(-1)).toMatchObject({ question: { kind: 'approval' } })
  })
})

describe('messages to an MCP server of the client', () => {
  const request = { subtype: 'mcp_message', server_name: 'lab', message: { jsonrpc: '2.0', id: 0 } }
  const line = JSON.stringify({ type: 'control_request', request_id: 'q1', request })
  const question = {
    kind: 'client',
    method: 'mcp_message',
    params: '{"server_name":"lab","message":{"jsonrpc":"2.0","id":0}}',
  }

  test('are asked of the client, in a turn or outside of one', () => {
    const drive = greeted()
    drive.feed(line)
    expect(drive.events.at(-1)).toEqual({ turn: null, type: 'ask', ask: 'q1', question })
    expect(answer(drive, { kind: 'client', result: '{"id":0,"x":1.0}' })).toEqual(
      said({ subtype: 'mcp_message', mcp_response: { id: 0, x: 1 } }),
    )
    const turn = running()
    turn.feed(line)
    expect(turn.events.at(-1)).toEqual({ turn: 't1', type: 'ask', ask: 'q1', question })
  })

  test('that it has no answer to are errors', () => {
    for (const reply of [{ kind: 'client', error: '{}' }, approve()] as AskReply[]) {
      const drive = greeted()
      drive.feed(line)
      expect(answer(drive, reply)).toMatchObject({ subtype: 'error' })
    }
  })

  test('stay open when a turn ends', () => {
    const drive = running()
    drive.feed(line, user('note'), success('x'))
    expect(drive.events.some(({ type }) => type === 'ask-settled')).toBe(false)
  })
})

describe('what is settled without an answer', () => {
  test.each([
    ['[Operation Cancelled] Reason: Error: Control request timeout', 'timeout'],
    ['[Operation Cancelled] Reason: Error: Input closed', 'cancelled'],
  ])('%s', (content, how) => {
    const drive = asking()
    drive.feed(user([{ type: 'tool_result', tool_use_id: 'c0', content: 'another' }]))
    drive.feed(user([{ type: 'tool_result', tool_use_id: 'c1', is_error: true, content }]))
    expect(turnEvents(drive).at(-1)).toEqual({ type: 'ask-settled', ask: 'q1', how })
  })

  test('by the end of the turn, or of the process', () => {
    const ended = asking()
    ended.feed(failure('Operation cancelled.'))
    expect(turnEvents(ended).slice(-2)).toMatchObject([{ type: 'ask-settled', how: 'cancelled' }, { type: 'turn-end' }])
    const gone = asking()
    gone.link.decodeEnd({ why: 'closed', exitCode: 1 })
    expect(turnEvents(gone).slice(-2)).toMatchObject([{ type: 'ask-settled', how: 'cancelled' }, { type: 'turn-end' }])
  })
})

describe('what cannot be asked is refused at once', () => {
  test('consent without a turn', () => {
    const drive = greeted()
    drive.feed(consent())
    expect(sentObjects(drive).at(-1)!['response']).toEqual({
      subtype: 'error',
      request_id: 'q1',
      error: 'No turn is running.',
    })
  })

  test.each([
    [consent({ tool_name: undefined })],
    [consent({ subtype: 'hook_callback' })],
    [consent({ subtype: undefined })],
    [consent({}, '[]')],
  ])('%s', (line) => {
    const drive = running()
    drive.feed(line)
    expect(sentObjects(drive).at(-1)!['response']).toEqual({
      subtype: 'error',
      request_id: 'q1',
      error: 'The host cannot answer this request.',
    })
    expect(drive.losses).toEqual([{ kind: 'unparsed', item: 'ask', why: 'unknown', count: 1 }])
  })
})
