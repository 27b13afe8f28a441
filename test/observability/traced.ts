import { diag } from '@opentelemetry/api'
import { afterEach, beforeEach, expect } from 'vitest'
import { startTelemetry, type Telemetry, type TelemetryConfig } from '../../observability/index.ts'
import type { Hooks, RequestInfo, TurnInfo } from '../../src/contract/index.ts'
import type { Loss, TurnView } from '../../src/model/index.ts'
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../kit/otlp-receiver.ts'

export const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
export const CLIENT = '00f067aa0ba902b7'
export const TRACEPARENT = `00-${TRACE}-${CLIENT}-01`

export const HTTP: RequestInfo = { transport: 'http', front: 'zene', method: 'POST', path: '/v1/zene', carrier: {} }
export const STDIO: RequestInfo = {
  transport: 'stdio',
  front: 'agentproc@0.4',
  method: '',
  path: 'agentproc',
  carrier: {},
}
export const TURN: TurnInfo = { turn: 't1', agent: 'helper', back: 'zot', session: 's1' }
export const WEAK: Loss = { kind: 'weakened', item: 'tool-end', field: 'status', why: 'too-narrow', count: 1 }
export const GONE: Loss = { kind: 'dropped', item: 'plan', why: 'no-place', count: 2 }

export let receiver: OtlpReceiver
let telemetry: Telemetry | undefined
beforeEach(async () => {
  receiver = await startOtlpReceiver()
})
afterEach(async () => {
  await telemetry?.shutdown()
  telemetry = undefined
  await receiver.close()
})

/** Drives the hooks, flushes, and gives what the collector got, parents first. The SDK must find no fault with its use. */
export async function traced(
  drive: (hooks: Hooks) => void,
  config: Partial<TelemetryConfig> = {},
): Promise<ReceivedSpan[]> {
  telemetry = await startTelemetry({ otlp: receiver.url, version: '1.2.3', ...config })
  const complaints: string[] = []
  const complain = (text: string): void => void complaints.push(text)
  const quiet = (): void => {}
  diag.setLogger({ error: complain, warn: complain, info: quiet, debug: quiet, verbose: quiet })
  drive(telemetry.hooks)
  diag.disable()
  await telemetry.shutdown()
  expect(complaints).toEqual([])
  return receiver.spans().toSorted((a, b) => Number(a.startedAt - b.startedAt))
}

/** What is the same in every run of a span: all but ids and times. */
export function shape(span: ReceivedSpan | undefined) {
  if (!span) return undefined
  const { name, kind, attributes, events, status } = span
  return { name, kind, attributes, events, status }
}

export function byName(spans: readonly ReceivedSpan[], name: string): ReceivedSpan {
  const found = spans.filter((span) => span.name === name)
  expect(found).toHaveLength(1)
  return found[0] as ReceivedSpan
}

export function viewOf(end: Partial<TurnView>): TurnView {
  return {
    turn: 't1',
    session: 's1',
    agent: 'helper',
    seq: 9,
    at: 0,
    startedAt: 0,
    text: '',
    answers: [],
    messages: [],
    tools: [],
    directives: [],
    notices: [],
    asks: [],
    usage: undefined,
    answerUsage: undefined,
    usageEstimated: false,
    end: undefined,
    message: () => undefined,
    tool: () => undefined,
    ...end,
  }
}

export const COMPLETED = viewOf({ end: { type: 'turn-end', turn: 't1', outcome: 'completed', stop: 'end' } })

export function messageOf(message: Partial<TurnView['messages'][number]>): TurnView['messages'][number] {
  const base = { id: 'm1', role: 'assistant', lane: undefined, streamed: true, closed: true, refuses: false } as const
  return { ...base, text: '', reasoning: '', parts: undefined, ...message }
}
