import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Metrics } from '../../observability/metrics.ts'
import { processBackend } from '../../src/backends/index.ts'
import { type CallEnd, type Hooks, silentHooks } from '../../src/contract/index.ts'
import { fault } from '../../src/model/index.ts'
import { askHttp } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, startGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'
import { type CountedGateway, matching, readSamples, type Samples, startCounted } from './scraped.ts'
import { COMPLETED, GONE, HTTP, TURN, viewOf, WEAK } from './traced.ts'

const AGENTS = join(import.meta.dirname, '../kit/agents')
const agent = (name: string): string => `gen_ai_agent_name="${name}"`

/** What hooks that are driven by hand leave in the numbers. */
function counted(drive: (hooks: Hooks, read: () => Samples) => void): Samples {
  const metrics = new Metrics()
  const read = (): Samples => readSamples(metrics.text())
  drive(metrics.hooks(silentHooks), read)
  metrics.close()
  return read()
}

describe('a gateway that counts', () => {
  let counting: CountedGateway
  let url: string
  const ask = (session: string, name: string, text = 'hi') =>
    askHttp(url, 'zene', { text, session, agent: name, id: `${session}-${text}` })

  beforeAll(async () => {
    counting = await startCounted(`
default: helper
limits: { grace: 300ms }
agents:${EXAMPLE_AGENTS}
  warm: { protocol: zot, command: ${process.execPath}, args: [coder.mjs, rpc], cwd: ${join(import.meta.dirname, '../../examples/agents')}, pool: { warm: 1 } }
  patient: { protocol: zot, command: ${process.execPath}, args: [${AGENTS}/patient-zot.mjs] }
  careful: { protocol: agentproc@0.4, command: ${process.execPath}, args: [${AGENTS}/careful.mjs], permission: true }
  exits: { protocol: agentproc, command: ${AGENTS}/exits.sh, args: [] }
  missing: { protocol: agentproc, command: /nowhere/agent, args: [], breaker: { failures: 1, cooldown: 1h } }
`)
    url = counting.gateway.url
  })
  afterAll(() => counting.close())

  test('counts turns, tokens, links and processes of an agent', async () => {
    await ask('s1', 'warm')
    await ask('s1', 'warm', 'again')
    await until(async () => (await counting.scrape()).get(`turnpike_agent_processes{${agent('warm')}}`) === 2)
    const samples = await counting.scrape()
    const turn = `gen_ai_agent_name="warm",turnpike_back="zot",turnpike_front="zene",turnpike_outcome="completed"`
    expect(samples.get(`turnpike_turns_total{${turn}}`)).toBe(2)
    expect(samples.get(`turnpike_turns_active{${agent('warm')}}`)).toBe(0)
    expect(samples.get(`turnpike_queue_depth{${agent('warm')}}`)).toBe(0)
    expect(samples.get(`turnpike_queue_wait_seconds_count{${agent('warm')}}`)).toBe(2)
    expect(matching(samples, 'turnpike_agent_links_total')).toEqual({
      [`turnpike_agent_links_total{${agent('warm')},turnpike_link="warm"}`]: 1,
      [`turnpike_agent_links_total{${agent('warm')},turnpike_link="kept"}`]: 1,
    })
    expect(samples.get(`turnpike_agent_starts_total{${agent('warm')}}`)).toBe(2)
    const operation = `${agent('warm')},gen_ai_operation_name="invoke_agent"`
    expect(samples.get(`gen_ai_client_operation_duration_seconds_count{${operation}}`)).toBe(2)
    expect(samples.get(`gen_ai_client_inference_time_to_first_chunk_seconds_count{${operation}}`)).toBe(2)
    expect(samples.get(`gen_ai_client_inference_usage_input_tokens_total{${operation}}`)).toBe(
      'hi'.length + 'again'.length,
    )
    expect(samples.get(`gen_ai_client_inference_usage_output_tokens_total{${operation}}`)).toBe(16)
    expect(samples.get(`turnpike_usage_cost_total{${operation}}`)).toBe(0)
    expect(samples.get(`turnpike_events_total{turnpike_back="zot",turnpike_front="zene"}`)).toBeGreaterThan(16)
    expect(samples.get('turnpike_requests_total{turnpike_front="zene",turnpike_transport="http"}')).toBe(2)
    expect(
      samples.get(`turnpike_agent_io_bytes_total{${agent('warm')},network_io_direction="receive"}`),
    ).toBeGreaterThan(100)
  })

  test('shows what runs and what waits while it does', async () => {
    const first = ask('s2', 'patient')
    await until(async () => (await counting.scrape()).get(`turnpike_queue_depth{${agent('patient')}}`) === 0)
    const second = ask('s2', 'patient', 'quick')
    await until(async () => (await counting.scrape()).get(`turnpike_queue_depth{${agent('patient')}}`) === 1)
    const samples = await counting.scrape()
    expect(samples.get(`turnpike_turns_active{${agent('patient')}}`)).toBe(2)
    counting.gateway.engine.turns[0]!.cancel()
    await Promise.all([first, second])
    const after = await counting.scrape()
    expect(after.get(`turnpike_turns_active{${agent('patient')}}`)).toBe(0)
    expect(matching(after, 'turnpike_turns_total{gen_ai_agent_name="patient"')).toEqual({
      'turnpike_turns_total{gen_ai_agent_name="patient",turnpike_back="zot",turnpike_front="zene",turnpike_outcome="cancelled"}': 1,
      'turnpike_turns_total{gen_ai_agent_name="patient",turnpike_back="zot",turnpike_front="zene",turnpike_outcome="completed"}': 1,
    })
    expect(after.get('turnpike_notes_total{turnpike_note="cancel"}')).toBe(1)
  })

  test('counts failures by what was wrong, and shows the circuit', async () => {
    await ask('s3', 'exits')
    await ask('s3', 'missing')
    const samples = await counting.scrape()
    const turn = `error_type="agent-crashed",${agent('exits')},turnpike_back="agentproc",turnpike_front="zene",turnpike_outcome="failed"`
    expect(samples.get(`turnpike_turns_total{${turn}}`)).toBe(1)
    expect(matching(samples, 'turnpike_agent_failures_total')).toEqual({
      [`turnpike_agent_failures_total{error_type="3",${agent('exits')}}`]: 1,
      [`turnpike_agent_failures_total{error_type="agent-unavailable",${agent('missing')}}`]: 1,
    })
    expect(matching(samples, `turnpike_agent_breaker{${agent('missing')}`)).toEqual({
      [`turnpike_agent_breaker{${agent('missing')},turnpike_breaker_state="closed"}`]: 0,
      [`turnpike_agent_breaker{${agent('missing')},turnpike_breaker_state="half-open"}`]: 0,
      [`turnpike_agent_breaker{${agent('missing')},turnpike_breaker_state="open"}`]: 1,
    })
  })

  test('counts the questions of agents and how they were settled', async () => {
    await ask('s4', 'careful')
    const samples = await counting.scrape()
    expect(matching(samples, 'turnpike_asks')).toEqual({
      'turnpike_asks_total{turnpike_ask_kind="approval"}': 1,
      'turnpike_asks_settled_total{turnpike_ask_end="policy"}': 1,
    })
  })

  test('counts the bytes of clients, both ways, once', async () => {
    const response = await fetch(`${url}/v1/qwen`, { method: 'POST', body: 'grüße' })
    const sent = (await response.bytes()).length
    const samples = await counting.scrape()
    expect(
      matching(samples, 'turnpike_client_io_bytes_total{network_io_direction="receive",turnpike_front="qwen"'),
    ).toEqual({
      'turnpike_client_io_bytes_total{network_io_direction="receive",turnpike_front="qwen",turnpike_transport="http"}': 7,
    })
    expect(
      matching(samples, 'turnpike_client_io_bytes_total{network_io_direction="transmit",turnpike_front="qwen"'),
    ).toEqual({
      'turnpike_client_io_bytes_total{network_io_direction="transmit",turnpike_front="qwen",turnpike_transport="http"}':
        sent,
    })
    expect(sent).toBeGreaterThan(10)
  })

  test('counts a request that never became a turn', async () => {
    await fetch(`${url}/v1/zene`, { method: 'POST', body: 'no JSON' })
    const samples = await counting.scrape()
    const request = 'error_type="invalid-request",turnpike_front="zene",turnpike_transport="http"'
    expect(samples.get(`turnpike_requests_total{${request}}`)).toBe(1)
  })
})

describe('the numbers of one turn', () => {
  test('of losses go by kind and item, however many came at once', () => {
    const samples = counted((hooks) => {
      const turn = hooks.request(HTTP).turn(TURN)
      turn.loss(WEAK)
      turn.loss(WEAK)
      turn.loss(GONE)
    })
    expect(matching(samples, 'turnpike_losses_total')).toEqual({
      'turnpike_losses_total{turnpike_loss_item="tool-end",turnpike_loss_kind="weakened"}': 2,
      'turnpike_losses_total{turnpike_loss_item="plan",turnpike_loss_kind="dropped"}': 2,
    })
  })

  test('go to the agent that had it last', () => {
    const samples = counted((hooks, read) => {
      const turn = hooks.request(HTTP).turn(TURN)
      turn.queued(5)
      turn.moved({ agent: 'other', back: 'zene' })
      expect(matching(read(), 'turnpike_queue_depth')).toEqual({
        [`turnpike_queue_depth{${agent('helper')}}`]: 0,
        [`turnpike_queue_depth{${agent('other')}}`]: 1,
      })
      turn.queued(9)
      turn.end(COMPLETED)
    })
    expect(matching(samples, 'turnpike_turns')).toEqual({
      [`turnpike_turns_active{${agent('helper')}}`]: 0,
      [`turnpike_turns_active{${agent('other')}}`]: 0,
      'turnpike_turns_total{gen_ai_agent_name="other",turnpike_back="zene",turnpike_front="zene",turnpike_outcome="completed"}': 1,
    })
    // It waited once for its session; what followed was another agent's work.
    expect(samples.get(`turnpike_queue_wait_seconds_sum{${agent('helper')}}`)).toBe(0.005)
    expect(samples.get(`turnpike_queue_wait_seconds_count{${agent('other')}}`)).toBeUndefined()
    expect(samples.get('turnpike_notes_total{turnpike_note="fallback"}')).toBe(1)
  })

  test('that ended while it waited leave nothing behind', () => {
    const samples = counted((hooks) =>
      hooks
        .request(HTTP)
        .turn(TURN)
        .end(viewOf({ end: { type: 'turn-end', turn: 't1', outcome: 'failed', fault: fault('overloaded', '') } })),
    )
    expect(samples.get(`turnpike_queue_depth{${agent('helper')}}`)).toBe(0)
    expect(samples.get(`turnpike_turns_active{${agent('helper')}}`)).toBe(0)
    const operation = `error_type="overloaded",${agent('helper')},gen_ai_operation_name="invoke_agent"`
    expect(samples.get(`gen_ai_client_operation_duration_seconds_count{${operation}}`)).toBe(1)
  })

  test('tell an estimate from a count, and count nothing that is not known', () => {
    const end = { type: 'turn-end', turn: 't1', outcome: 'completed' } as const
    const samples = counted((hooks) => {
      const { turn } = hooks.request(HTTP)
      turn.call(hooks.request(HTTP), TURN).end(viewOf({ end, usage: { input: 7, cacheRead: 2, costUsd: 0.5 } }))
      turn.call(hooks.request(HTTP), TURN).end(viewOf({ end, usage: { output: 3 }, usageEstimated: true }))
    })
    const operation = `${agent('helper')},gen_ai_operation_name="invoke_agent"`
    expect(matching(samples, 'gen_ai_client_inference_usage')).toEqual({
      [`gen_ai_client_inference_usage_input_tokens_total{${operation}}`]: 7,
      [`gen_ai_client_inference_usage_output_tokens_total{${operation},turnpike_usage_estimated="true"}`]: 3,
      [`gen_ai_client_inference_usage_cache_read_input_tokens_total{${operation}}`]: 2,
    })
    expect(samples.get(`turnpike_usage_cost_total{${operation}}`)).toBe(0.5)
  })

  test('have a first chunk only where something was shown before the end', () => {
    const samples = counted((hooks) => {
      const turn = hooks.request(HTTP).turn(TURN)
      turn.firstEvent({ type: 'turn-end', turn: 't1', outcome: 'failed' })
      turn.firstEvent({ type: 'step-start', turn: 't1', step: 1 })
      turn.firstEvent({ type: 'step-start', turn: 't1', step: 1 })
    })
    expect(
      samples.get(
        `gen_ai_client_inference_time_to_first_chunk_seconds_count{${agent('helper')},gen_ai_operation_name="invoke_agent"}`,
      ),
    ).toBe(1)
  })
})

describe('a counted backend', () => {
  async function run(script: string, stop: boolean): Promise<{ samples: Samples; end: CallEnd; heard: string }> {
    const metrics = new Metrics()
    const folder = import.meta.dirname
    const backend = processBackend({
      command: '/bin/sh',
      args: ['-c', script],
      cwd: folder,
      env: {},
      inherit: [],
      hostEnv: {},
    })
    const counting = metrics.hooks(silentHooks).backend!('a', backend)
    let heard = ''
    const end = await new Promise<CallEnd>((resolve) => {
      const handle = counting.open(
        { kind: 'process', stdin: 'open' },
        { data: (text) => (heard += text), end: resolve },
        {},
      )
      handle.write('grüße\n')
      handle.pause()
      handle.resume()
      handle.pause()
      handle.resume()
      if (stop) handle.stop('closed', 100)
    })
    await counting.close(0)
    metrics.close()
    return { samples: readSamples(metrics.text()), end, heard }
  }

  test('counts bytes both ways, pauses, and a process that ended badly', async () => {
    const { samples, heard } = await run('read word; echo "$word"; exit 7', false)
    expect(heard).toBe('grüße\n')
    expect(matching(samples, 'turnpike_agent')).toEqual({
      [`turnpike_agent_processes{${agent('a')}}`]: 0,
      [`turnpike_agent_starts_total{${agent('a')}}`]: 1,
      [`turnpike_agent_failures_total{error_type="7",${agent('a')}}`]: 1,
      [`turnpike_agent_io_bytes_total{${agent('a')},network_io_direction="receive"}`]: 8,
      [`turnpike_agent_io_bytes_total{${agent('a')},network_io_direction="transmit"}`]: 8,
      [`turnpike_agent_pauses_total{${agent('a')}}`]: 2,
    })
  })

  test('blames no process that was told to stop', async () => {
    const { samples, end } = await run('cat >/dev/null; sleep 60', true)
    expect(end).toMatchObject({ why: 'closed', signal: 'SIGTERM' })
    expect(matching(samples, 'turnpike_agent_failures')).toEqual({})
  })

  test('names what could not be started', async () => {
    const metrics = new Metrics()
    const options = { args: [], cwd: import.meta.dirname, env: {}, inherit: [], hostEnv: {} }
    const backend = metrics.hooks(silentHooks).backend!('a', processBackend({ command: '/nowhere/x', ...options }))
    await new Promise<CallEnd>((resolve) => {
      backend.open({ kind: 'process', stdin: 'end' }, { data() {}, end: resolve }, {})
    })
    metrics.close()
    expect(matching(readSamples(metrics.text()), 'turnpike_agent_failures')).toEqual({
      [`turnpike_agent_failures_total{error_type="agent-unavailable",${agent('a')}}`]: 1,
    })
  })
})

test('the process is measured', async () => {
  const metrics = new Metrics()
  const until = performance.now() + 100
  await new Promise((resolve) => setTimeout(resolve, 50))
  while (performance.now() < until + 200);
  await new Promise((resolve) => setTimeout(resolve, 50))
  const samples = readSamples(metrics.text())
  metrics.close()
  expect(samples.get('nodejs_eventloop_delay_max_seconds')).toBeGreaterThan(0.1)
  expect(samples.get('process_memory_usage_bytes')).toBeGreaterThan(1e7)
  expect(samples.get('process_uptime_seconds')).toBeGreaterThan(0)
})

test('a turn costs the same number of calls of hooks whatever its length', async () => {
  let calls = 0
  const counter = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(inner, name) {
        const member: unknown = Reflect.get(inner, name)
        if (typeof member !== 'function') return member
        return (...args: unknown[]): unknown => {
          calls += 1
          const result: unknown = Reflect.apply(member, inner, args)
          return typeof result === 'object' && result !== null ? counter(result) : result
        }
      },
    })
  const gateway = await startGateway(`agents:${EXAMPLE_AGENTS}`, {
    hooks: { request: (info) => counter(silentHooks.request(info)) },
  })
  const costs: number[] = []
  for (const words of [1, 1, 400]) {
    const before = calls
    await askHttp(gateway.url, 'zot', { text: 'word '.repeat(words), session: 'long', agent: 'coder', id: `${words}` })
    await until(() => gateway.engine.turns.length === 0)
    costs.push(calls - before)
  }
  await gateway.close()
  expect(costs[1]).toBeGreaterThan(3)
  expect(costs[2]).toBe(costs[1])
})
