/** What happens to turns of a real gateway, as a collector sees it: the events and attributes of their spans. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTelemetry, type Telemetry } from '../../observability/index.ts'
import { askHttp } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../kit/otlp-receiver.ts'
import { until } from '../kit/processes.ts'

const KIT = join(import.meta.dirname, '../kit/agents')
const OWN = join(import.meta.dirname, 'agents')
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const TRACEPARENT = `00-${TRACE}-00f067aa0ba902b7-01`

describe('the span of a turn', () => {
  let receiver: OtlpReceiver
  let telemetry: Telemetry
  let gateway: TestGateway

  beforeAll(async () => {
    receiver = await startOtlpReceiver()
    telemetry = await startTelemetry({ otlp: receiver.url, version: '0' })
    gateway = await startGateway(
      `
default: helper
limits: { grace: 300ms }
agents:${EXAMPLE_AGENTS}
  careful: { protocol: agentproc@0.4, command: ${process.execPath}, args: [${KIT}/careful.mjs], permission: true }
  patient: { protocol: zot, command: ${process.execPath}, args: [${KIT}/patient-zot.mjs] }
  forgetful: { protocol: zene, command: ${process.execPath}, args: [${OWN}/forgetful.mjs, "\${TEST_FOLDER}/mark"] }
  missing: { protocol: agentproc, command: /nowhere/agent, args: [] }
routes:
  - { when: { session: "fall-*" }, agent: missing, fallback: [helper] }
`,
      telemetry,
    )
  })
  afterAll(async () => {
    await gateway.close()
    await telemetry.shutdown()
    await receiver.close()
  })

  const ask = (agent: string, session: string, text = 'hi') =>
    askHttp(gateway.url, 'zene', { text, session, agent, id: `${session}-${text}` })
  /** The spans of a session's turns, once there are so many. */
  const turns = async (session: string, count = 1): Promise<ReceivedSpan[]> => {
    const of = (spans: readonly ReceivedSpan[]) =>
      spans.filter(({ attributes }) => attributes['gen_ai.conversation.id'] === session)
    return of(await receiver.waitFor((spans) => of(spans).length === count))
  }
  /** Its events, without what is of that run only. */
  const events = (span: ReceivedSpan | undefined) =>
    span!.events.map(({ name, attributes: { 'turnpike.ms': _ms, ...attributes } }) => ({ name, attributes }))
  const end = (outcome: string, stop: string) => ({
    name: 'turnpike.end',
    attributes: { 'turnpike.outcome': outcome, 'turnpike.stop': stop },
  })
  const note = (what: string, about?: string) => ({
    name: `turnpike.${what}`,
    attributes: about === undefined ? {} : { 'turnpike.about': about },
  })
  const first = (type: string) => ({ name: 'turnpike.first_event', attributes: { 'turnpike.event.type': type } })

  test('says that an agent asked, and that the policy answered', async () => {
    await ask('careful', 'asks')
    const [span] = await turns('asks')
    const seen = events(span).filter(({ name }) => name !== 'turnpike.loss')
    expect(seen.slice(0, 3)).toEqual([first('ask'), note('asked', 'approval'), note('settled', 'policy')])
    expect(seen.at(-1)).toEqual(end('completed', 'end'))
    expect(span?.attributes['turnpike.link']).toBe('new')
  })

  test('says that a turn was parked, and that its client answered', async () => {
    const send = async (context: object, id: string): Promise<{ action_type: string; payload: never }[]> => {
      const response = await fetch(`${gateway.url}/v1/openharness/careful`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ protocol_version: '1.0.0', request_id: id, request: { context } }),
      })
      const { response: body } = (await response.json()) as { response: { action_directives: [] } }
      return body.action_directives
    }
    const parked = await send({ session_id: 'parks', user_intent: 'hi' }, 'p1')
    const asked = parked.find(({ action_type }) => action_type === 'request_approval')!.payload as {
      options: { id: string; kind: string }[]
      continuation: object
    }
    const { id } = asked.options.find(({ kind }) => kind === 'allow')!
    await send({ session_id: 'parks', user_intent: id, continuation: asked.continuation }, 'p2')
    const [span] = await turns('parks')
    const seen = events(span).filter(({ name }) => name !== 'turnpike.loss')
    expect(seen.slice(1, 4)).toEqual([note('asked', 'approval'), note('parked'), note('settled', 'answered')])
    expect(seen.at(-1)).toEqual(end('completed', 'end'))
  })

  test('says that it was cancelled', async () => {
    const answer = ask('patient', 'cancels')
    await until(() => gateway.engine.turns[0]?.view.text.startsWith('pid') === true)
    gateway.engine.turns[0]!.cancel()
    await answer
    const [span] = await turns('cancels')
    const seen = events(span)
    expect(seen.map(({ name }) => name)).toContain('turnpike.cancel')
    expect(seen.at(-1)).toEqual(end('cancelled', 'aborted'))
    expect(span?.status).toBe('unset')
  })

  test('says that another agent took the turn, and names that one', async () => {
    await ask('missing', 'fall-1')
    const [span] = await turns('fall-1')
    expect(span?.name).toBe('invoke_agent missing')
    expect(span?.attributes).toMatchObject({ 'gen_ai.agent.name': 'helper', 'turnpike.back': 'agentproc' })
    expect(events(span)).toContainEqual({
      name: 'turnpike.fallback',
      attributes: { 'gen_ai.agent.name': 'helper', 'turnpike.back': 'agentproc' },
    })
  })

  test('says that the session of the agent was new, and where each link came from', async () => {
    const { text } = await ask('patient', 'resets', 'quick')
    process.kill(Number(/\d+/.exec(text)![0]), 'SIGKILL')
    await until(() => gateway.logged.some((line) => line.startsWith('an agent failed') && line.includes('SIGKILL')))
    const again = await askHttp(gateway.url, 'zene', {
      text: 'quick',
      session: 'resets',
      agent: 'patient',
      id: 'again',
    })
    expect(again.ok).toBe(true)
    await askHttp(gateway.url, 'zene', { text: 'quick', session: 'resets', agent: 'patient', id: 'third' })
    const spans = await turns('resets', 3)
    const resets = spans.map((span) => events(span).filter(({ name }) => name === 'turnpike.session-reset').length)
    expect(resets).toEqual([0, 1, 0])
    expect(spans.map(({ attributes }) => attributes['turnpike.link'])).toEqual(['new', 'new', 'kept'])
  })

  test('says that the turn was tried again, and what was lost with the first try', async () => {
    const answer = await ask('forgetful', 'retries')
    expect(answer).toMatchObject({ ok: true, text: 'done in another session' })
    const [span] = await turns('retries')
    const names = events(span).map(({ name }) => name)
    expect(names.filter((name) => name === 'turnpike.retry')).toHaveLength(1)
    expect(events(span)).toContainEqual({
      name: 'turnpike.loss',
      attributes: {
        'turnpike.loss.kind': 'weakened',
        'turnpike.loss.item': 'session.id',
        'turnpike.loss.why': 'policy',
        'turnpike.loss.count': 1,
      },
    })
  })

  test('has its ids in the log lines of the turn', async () => {
    await fetch(`${gateway.url}/v1/zene/careful`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: TRACEPARENT },
      body: JSON.stringify({ request_id: 'logged', session_id: 'logs', prompt: 'hi' }),
    })
    const [span] = await turns('logs')
    const context = `"traceparent":"00-${TRACE}-${span!.spanId}-01"`
    const lines = gateway.logged.filter((line) => line.includes(context))
    expect(lines).toEqual([expect.stringMatching(/^a question of an agent was settled /)])
  })
})
