import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { AgentRun, Heard, Verdict } from '../../src/conformance/kit/index.ts'
import { seenLine } from '../../src/conformance/lines.ts'
import { loadSuites } from '../../src/conformance/suites.ts'
import { suiteOf } from '../kit/conformance.ts'
import { allSuites } from '../kit/suites.ts'

function runOf(scenario: string, lines: readonly unknown[], more: Partial<AgentRun> = {}): AgentRun {
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
  const seen = texts.map((text) => seenLine(text, true, 1))
  return {
    scenario,
    id: 'x',
    transport: 'stdio',
    lines: seen,
    output: texts.join('\n'),
    end: 'exited',
    exitCode: 0,
    ...more,
  }
}

/** The verdict of one rule on one run. */
async function verdict(suite: string, rule: string, run: AgentRun): Promise<Verdict> {
  return (await suiteOf(suite)).agent.find(({ id }) => id === rule)!.judge(run, [])
}

/** Lines of any protocol with what may be wrong in them. */
const MEMBERS = {
  type: [
    ...['response', 'done', 'turn_start', 'text_delta', 'usage', 'ack', 'event', 'final', 'error', 'partial', 'result'],
    ...['permission_request', 'permission_response', 'system', 'assistant', 'user', 'stream_event', 'control_request'],
    ...['agent-ready', 'turn-start', 'turn-end', 'text-delta', 'message-start', 'tool-call', 'command-reply', 'notice'],
    ...['control_response', 'x-qwen-session-event', 'result/heartbeat', 'prompt', 'turn', 'run', 3],
  ],
  id: ['i1', 'p1', 7],
  turn: ['t1', 't2', null, 7],
  exchange: ['q1', 'x1', 7],
  outcome: ['completed', 'failed', 'no'],
  request_id: ['r1', 'r2', 'req-1', 'ask-1', ''],
  session_id: ['s', 4],
  object: ['chat.completion', 'chat.completion.chunk'],
  choices: [[{ index: 0, message: { role: 'assistant' } }], [{ delta: {}, finish_reason: 'stop' }], [{}], 'none'],
  error: [null, { code: 'INTERNAL', message: 'no', retryable: true }, { message: 'no' }, {}],
  ok: [true, false, 'yes'],
  text: ['hello', 1],
  message: ['no', { role: 'assistant', content: [{ type: 'text' }] }, { role: 'user', content: 'hi' }, {}],
  usage: [{ input_tokens: 1, output_tokens: 2 }, { total_tokens: 2 }, 3],
  status: ['OK', 'ERROR', 'ok', 'noop', 'error', 'loading'],
  event: ['Finished', { type: 'message_start' }, { type: 'content_block_delta' }, { type: 'message_stop' }, {}],
  response: [
    { subtype: 'success', request_id: 'init-1' },
    { status: 'error', error: { code: 'x' } },
    { status: 'success', action_directives: [{ action_type: 'noop' }] },
    {},
  ],
  request: [{ subtype: 'initialize' }, { context: {} }, {}],
  subtype: ['init', 'success'],
  is_error: [true, false],
  metadata: [{ error: {} }, { control_errors: [] }, {}],
  input: [{ origin: 'user', parts: [{ type: 'text' }] }, { origin: 'me' }, {}],
  permission: [true, false],
  content: [[{ type: 'text' }], [{}], 'text'],
  supported_capabilities: [{ 'openharness.streaming': true }],
  jsonrpc: ['2.0', 2],
  method: ['session/update', 'session/request_permission', 'initialize', 'session/prompt', 7],
  params: [{ sessionId: 's', update: { sessionUpdate: 'tool_call' } }, { options: [{}], prompt: [] }, 'none'],
  result: [{ sessionId: 's' }, { stopReason: 'end_turn' }, 'hello'],
  output: [[{ type: 'message', content: [{ text: 1 }] }, 7], 'none'],
  messages: [[{ role: 'user', content: 'hi', tool_calls: [{}] }, 1], {}],
  tools: [[{ type: 'function' }, {}], 'none'],
  item: [{ type: 'message' }, 7],
  delta: [{ text: 'hi' }, 'hi'],
  index: [0, 'x'],
  capability_denials: [[{ capability: 'com.example.never' }], 'none'],
} as const
const line = fc.record(
  Object.fromEntries(Object.entries(MEMBERS).map(([key, values]) => [key, fc.constantFrom<unknown>(...values)])),
  { requiredKeys: [] },
)
const lines = fc.array(fc.oneof({ weight: 8, arbitrary: line }, { weight: 1, arbitrary: fc.constant('no JSON') }), {
  maxLength: 6,
})
const end = fc.constantFrom<Partial<AgentRun>>(
  {},
  { exitCode: 1 },
  { end: 'hung', exitCode: undefined, signal: 'SIGKILL' },
  { transport: 'http', status: 200, headers: { 'content-type': 'application/json' } },
  { transport: 'http', status: 500, headers: {} },
)
/** A question of the Agent Client Protocol. */
const PERMISSION = {
  id: 'q',
  method: 'session/request_permission',
  params: { options: [{ optionId: 'deny', kind: 'reject_once' }] },
}
const isVerdict = (value: Verdict): boolean =>
  value === undefined || Object.values(value).every((text) => typeof text === 'string' && text !== '')

const suites = await allSuites()

describe.each(suites)('judges of %s', (_name, { agent, client, scenarios }) => {
  test('have a verdict on whatever an agent says', () => {
    fc.assert(
      fc.property(lines, end, (said, more) => {
        for (const { on, judge } of agent) {
          for (const name of on === 'all' ? [scenarios[0]!.name] : on) {
            const run = runOf(name, said, more)
            expect(isVerdict(judge(run, [run]))).toBe(true)
          }
        }
      }),
      { seed: 1, numRuns: 400 },
    )
  })

  test('have a verdict on whatever a client says', () => {
    const heard = fc.oneof<fc.Arbitrary<Heard>[]>(
      line.map((object) => ({ is: 'in' as const, line: seenLine(JSON.stringify(object), true, 0) })),
      line.map((object) => ({ is: 'out' as const, text: JSON.stringify(object) })),
      fc.constantFrom<Heard>({ is: 'eof' }, { is: 'signal', name: 'SIGTERM' }, { is: 'orphaned' }, { is: 'exit' }),
    )
    const head = { method: 'POST', path: '/', headers: {} }
    const visit = fc.record({
      transport: fc.constant('stdio' as const),
      argv: fc.constantFrom<string[]>(['rpc'], ['self-test'], ['--input-format', 'stream-json'], []),
      env: fc.constantFrom<Record<string, string>>(
        {},
        {
          AGENT_MESSAGE: 'hi',
          AGENT_ATTACHMENTS: '[]',
          AGENT_STREAMING: '1',
          AGENT_PROTOCOL_VERSION: '0.1',
          AGENT_SESSION_ID: '',
        },
      ),
      heard: fc.array(heard, { maxLength: 6 }),
      request: fc.constantFrom(undefined, head),
    })
    fc.assert(
      fc.property(
        fc.array(visit, { minLength: 1, maxLength: 2 }),
        fc.constantFrom('exited' as const, 'hung' as const),
        (visits, how) => {
          // What a rule needs has been judged before it.
          const bare = client.filter(({ needs = [] }) => !needs.some((id) => id.endsWith('.variables')))
          for (const { judge } of bare)
            expect(
              isVerdict(
                judge({
                  visits: visits.map(({ request, ...rest }) => ({ ...rest, ...(request && { request }) })),
                  end: how,
                }),
              ),
            ).toBe(true)
        },
      ),
      { seed: 1, numRuns: 400 },
    )
  })

  test('refuse what an agent asks', () => {
    const question = { kind: 'approval', options: [{ id: 'deny', kind: 'deny' }, 'odd'] }
    const asked = { request_id: 'q', ask: 'q', question }
    for (const { answer } of scenarios) {
      const answers = ['control_request', 'permission_request', 'text', 'ask'].flatMap(
        (type) => answer?.({ ...asked, type }) ?? [],
      )
      answers.push(...(answer?.(PERMISSION) ?? []))
      expect(answers.every((text) => text.includes('"deny"') && text.includes('"q"') && text.endsWith('\n'))).toBe(true)
      expect(answers).toHaveLength(answer ? 1 : 0)
    }
  })
})

describe('verdicts', () => {
  test('a native turn that failed says why', async () => {
    const end = { type: 'turn-end', turn: 't1', outcome: 'failed' }
    const told = { ...end, fault: { code: 'internal', message: 'It broke.' } }
    expect(await verdict('native', 'native.3.outcome', runOf('turn', [told]))).toBeUndefined()
    for (const wrong of [end, { ...end, fault: { code: 'internal' } }]) {
      expect(await verdict('native', 'native.3.outcome', runOf('turn', [wrong]))).toEqual({
        broken: JSON.stringify(wrong),
      })
    }
  })

  test('a native agent may say what nobody knows without a turn, but nothing of a turn', async () => {
    const told = [{ type: 'x-progress' }, { type: 'turn-started', turn: 't1' }, { type: 'x-more', turn: 't2' }]
    expect(await verdict('native', 'native.3.turn', runOf('turn', told))).toBeUndefined()
    for (const wrong of [
      { type: 'plan', json: {} },
      { type: 'turn-started', turn: null },
      { type: 'x-more', turn: 't9' },
    ]) {
      expect(await verdict('native', 'native.3.turn', runOf('turn', [...told, wrong]))).toEqual({
        broken: JSON.stringify(wrong),
      })
    }
  })

  test('arguments of a native tool are any JSON but a string', async () => {
    const call = { type: 'tool-call', turn: 't1', tool: 'c1', name: 'list' }
    for (const args of [{ n: 1 }, ['a', 1], null, 7]) {
      expect(await verdict('native', 'native.3.tool-args', runOf('turn', [{ ...call, args }]))).toBeUndefined()
    }
    for (const wrong of [call, { ...call, args: '{"n":1}' }]) {
      expect(await verdict('native', 'native.3.tool-args', runOf('turn', [wrong]))).toEqual({
        broken: JSON.stringify(wrong),
      })
    }
  })

  test('a native agent that asks what can only be allowed is not answered', async () => {
    const { scenarios } = await suiteOf('native')
    const ask = { type: 'ask', ask: 'q', question: { kind: 'approval', options: [{ id: 'go', kind: 'allow' }] } }
    expect(scenarios[0]!.answer!(ask)).toEqual([])
    expect(scenarios[0]!.answer!({ ...ask, question: { kind: 'input' } })).toEqual([])
    expect(scenarios[0]!.answer!({ ...ask, question: 7 })).toEqual([])
  })

  test('an answer of Zene in protocol shape is read like a flat one', async () => {
    const final = { type: 'final', request_id: 'r1', status: 'OK', text: 'hi', usage: {}, error: null }
    const broken = { type: 'error', request_id: 'r1', error: { code: 'OOPS', message: 'no' } }
    expect(await verdict('zene', 'zene.6.error-code', runOf('run', [final]))).toBeUndefined()
    expect(await verdict('zene', 'zene.6.error-code', runOf('run', [broken]))).toEqual({
      broken: JSON.stringify(broken),
    })
    expect(await verdict('zene', 'zene.5.no-json', runOf('no-json', [], { exitCode: 2 }))).toBeUndefined()
    expect(await verdict('zene', 'zene.5.no-json', runOf('no-json', []))).toEqual({
      broken: 'nothing; it exited with 0',
    })
  })

  test('a hint of the RFC may come later, or not at all', async () => {
    const hint = { type: 'result/command_hint', prompt_id: 'conformance-x########preview', trigger: 'slash' }
    for (const status of ['error', 'loading']) {
      expect(await verdict('qwen', 'qwen.7.hint', runOf('hint', [{ ...hint, status }]))).toBeUndefined()
    }
    expect(
      await verdict('qwen', 'qwen.7.hint', runOf('hint', [{ ...hint, status: 'ok', suggestions: [] }])),
    ).toBeUndefined()
    expect(await verdict('qwen', 'qwen.7.hint', runOf('hint', [hint]))).toEqual({ broken: JSON.stringify(hint) })
    expect(await verdict('qwen', 'qwen.7.hint', runOf('hint', []))).toEqual({ broken: 'nothing' })
  })

  test('a partial of AgentProc may be a thought', async () => {
    const rule = 'agentproc-0.4.2.partial-text'
    const partial = { type: 'partial', text: '', role: 'thinking' }
    expect(await verdict('agentproc@0.4', rule, runOf('turn', [partial]))).toBeUndefined()
    const other = { ...partial, role: 'loud' }
    expect(await verdict('agentproc@0.4', rule, runOf('turn', [other]))).toEqual({ broken: JSON.stringify(other) })
  })

  test('a question of AgentProc has an id, a name and an input', async () => {
    const rule = 'agentproc-0.4.3.request'
    const asked = { type: 'permission_request', request_id: 'q1', tool_name: 'Bash', input: {} }
    expect(await verdict('agentproc@0.4', rule, runOf('permission', [asked]))).toBeUndefined()
    for (const wrong of [{ request_id: 7 }, { tool_name: '' }, { input: 'ls' }]) {
      const other = { ...asked, ...wrong }
      const broken = JSON.stringify(other)
      expect(await verdict('agentproc@0.4', rule, runOf('permission', [other]))).toEqual({ broken })
    }
  })

  test('directives of OpenHarness are a list', async () => {
    const rule = 'openharness.10.action-type'
    const answer = (all: unknown) => runOf('plain', [{ response: { status: 'success', action_directives: all } }])
    expect(await verdict('openharness', rule, answer([{ action_type: 'noop' }]))).toBeUndefined()
    expect(await verdict('openharness', rule, answer([{ action_type: '' }]))).toEqual({ broken: '{"action_type":""}' })
    expect(await verdict('openharness', rule, answer({ action_type: 'noop' }))).toEqual({
      broken: '{"action_type":"noop"}',
    })
    expect(await verdict('openharness', rule, answer([]))).toEqual({ skipped: 'no directive was seen' })
  })

  test('stream mode of Zene is known by its arguments', async () => {
    const { suiteOf: asked } = (await loadSuites('zene'))!
    expect(asked!(['zene', 'host', '--single-request', 'false'])).toBe('stream')
    expect(asked!(['zene', 'host', '--single-request=false'])).toBe('stream')
    expect(asked!(['zene', 'host', '--single-request'])).toBeUndefined()
  })

  test('a session id of AgentProc is sent again', async () => {
    const { scenarios } = await suiteOf('agentproc@0.4')
    const { steps } = scenarios.find(({ name }) => name === 'resume')!
    const sent = (earlier: readonly AgentRun[]): unknown => {
      const [step] = (steps as (runs: readonly AgentRun[]) => readonly { write: string }[])(earlier)
      return (JSON.parse(step!.write) as { session_id: unknown }).session_id
    }
    expect(sent([runOf('turn', [{ type: 'result', text: '', session_id: 's-1' }])])).toBe('s-1')
    expect(sent([runOf('turn', [{ type: 'result', text: '' }])])).toBe('')
    const old = await suiteOf('agentproc')
    const resume = old.scenarios.find(({ name }) => name === 'resume')!
    expect(resume.env!([runOf('turn', ['AGENT_SESSION:s-2'])])['AGENT_SESSION_ID']).toBe('s-2')
    expect(resume.env!([])['AGENT_SESSION_ID']).toBe('')
  })
})
