import { describe, expect, test } from 'vitest'
import type { Ext } from '../../../../src/model/index.ts'
import { CLOSE, END, event, json, OPEN, STARTED, text } from '../kit.ts'
import { ask, CALL_ID, call, eventsOf, parked, responseOf, stored, toolAsk } from './front-kit.ts'

/** A value other than the usual one of every member that a response repeats. */
const SAID = {
  background: true,
  instructions: 'Be kind.',
  max_output_tokens: 7,
  max_tool_calls: 3,
  parallel_tool_calls: false,
  previous_response_id: 'resp_t0',
  prompt: { id: 'p' },
  prompt_cache_key: 'k',
  prompt_cache_retention: '24h',
  reasoning: { effort: 'high', summary: 'auto' },
  safety_identifier: 'u1',
  temperature: 0.5,
  text: { format: { type: 'json_object' }, verbosity: 'low' },
  tool_choice: { type: 'custom', name: 'patch' },
  tools: [{ type: 'custom', name: 'patch' }, { type: 'web_search' }],
  top_logprobs: 2,
  top_p: 0.9,
  truncation: 'auto',
  user: 'u2',
  metadata: { mine: 'a' },
}
const USUAL = {
  background: false,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  previous_response_id: null,
  prompt: null,
  prompt_cache_key: null,
  prompt_cache_retention: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  store: true,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: null,
  truncation: 'disabled',
  user: null,
  metadata: {},
}
const pick = (response: object): object =>
  Object.fromEntries(Object.keys(USUAL).map((key) => [key, (response as Record<string, unknown>)[key]]))
const accepted = (ext?: Ext) => event('turn-accepted', { how: 'new', session: 's1', ...(ext && { ext }) })
const echoOf = (drive: ReturnType<typeof ask>): Ext => drive.answers.get(drive.commands.at(-1)!.exchange)!.echo!

describe('a response', () => {
  test('says what a request says that is silent about it', () => {
    const drive = ask({ input: 'hi', instructions: null, tools: null })
    drive.play([accepted(), STARTED, END])
    expect(pick(responseOf(drive))).toEqual(USUAL)
    expect(drive.answers.get('f1')).not.toHaveProperty('echo')
  })

  test('repeats every member that its request says, whole and in each event of a stream', () => {
    const whole = ask({ input: 'hi', ...SAID, background: false, store: false })
    whole.play([accepted(), STARTED, END])
    expect(pick(responseOf(whole))).toEqual({ ...SAID, background: false, store: false })
    expect(whole.answers.get('f1')).not.toHaveProperty('echo')
    const streamed = ask({ input: 'hi', stream: true, ...SAID })
    streamed.play([accepted(), STARTED, END])
    for (const { response } of eventsOf(streamed)) expect(pick(response!)).toEqual({ ...SAID, store: true })
    const queued = ask({ input: 'hi', ...SAID })
    queued.play([accepted()])
    expect(pick(responseOf(queued))).toEqual({ ...SAID, store: true })
  })

  test('has the usual rest of what its request says in part', () => {
    const drive = ask({ input: 'hi', reasoning: { effort: 'low' }, text: { verbosity: 'high' } })
    drive.play([accepted(), STARTED, END])
    expect(responseOf(drive)).toMatchObject({
      reasoning: { effort: 'low', summary: null },
      text: { format: { type: 'text' }, verbosity: 'high' },
    })
  })

  test('has values as they were written, on one line', () => {
    const drive = ask('{"input":"hi","temperature":1.0,"prompt":{\n"id":"\u2028"}}')
    drive.play([accepted(), STARTED, END])
    expect(drive.sent.at(-1)).toContain('"temperature":1.0')
    expect(drive.sent.at(-1)).toContain('"prompt":{ "id":"\\u2028"}')
  })

  test('that is asked for later repeats the same, and shows calls as they were declared', () => {
    const more = { type: 'additional_tools', tools: [{ type: 'custom', name: 'ls' }] }
    const live = ask({ ...SAID, background: false, input: [more, { role: 'user', content: 'hi' }] })
    const turn = [accepted(echoOf(live)), STARTED, OPEN, text('I ask.'), call('a', 'x'), parked(toolAsk('a'))]
    live.play(turn)
    expect(responseOf(live).output[1]).toMatchObject({ type: 'custom_tool_call', input: 'x' })
    for (const query of ['', 'stream=true']) {
      const later = stored('resp_t1', query)
      const told = { turn: 't1', state: 'running', agent: 'agent', session: 's1', startedAt: 1000, seq: 6 }
      const exchange = later.commands.at(-1)!.exchange
      if (query === '') later.link.encodeLink!({ turn: null, type: 'command-reply', exchange, data: json(told) })
      later.play(turn)
      const last = query === '' ? responseOf(later) : eventsOf(later).at(-1)!.response
      expect(last).toEqual(responseOf(live))
    }
  })

  test('that goes on with results repeats the request that brought them', () => {
    const result = { type: 'function_call_output', call_id: CALL_ID, output: '7' }
    const said = { type: 'message', role: 'user', content: 'And now?' }
    const body = { input: [result, said], previous_response_id: 'resp_t1', instructions: 'Be brief.' }
    const live = ask(body, {}, 5_300)
    const { output: _, ...place } = result
    const request = { previous_response_id: 'resp_t1', instructions: 'Be brief.' }
    expect(echoOf(live)).toEqual({ protocol: 'openai', json: json({ request, input: [place, said], at: 5_300 }) })
    const settled = event('ask-settled', { ask: 'a', how: 'answered', ext: echoOf(live) })
    const rest = [settled, OPEN, text('7!'), CLOSE, END]
    live.play(rest)
    expect(responseOf(live)).toMatchObject({ ...request, created_at: 5 })
    const later = stored('resp_t1_dsecret', 'stream=true')
    later.play([accepted(), STARTED, call('a', '{}'), parked(toolAsk('a')), ...rest])
    expect(eventsOf(later).at(-1)!.response).toEqual(responseOf(live))
  })
})
