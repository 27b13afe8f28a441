/** Whole traces, exactly as a collector gets them: every hop, its attributes, events and links. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTelemetry, type Telemetry } from '../../observability/index.ts'
import { chat } from '../codecs/qwen/kit.ts'
import { askHttp, CLIENTS, runTurnpike } from '../kit/clients.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../kit/otlp-receiver.ts'
import { until } from '../kit/processes.ts'
import { drawTrace } from './tree.ts'

const KIT = join(import.meta.dirname, '../kit/agents')
const OWN = join(import.meta.dirname, 'agents')
const PARENT = '00f067aa0ba902b7'
/** A trace id of its own for every test. */
const trace = (n: number): string => `4bf92f3577b34da6a3ce929d0e0e47${String(n).padStart(2, '0')}`
const traceparent = (n: number, flags = '01'): string => `00-${trace(n)}-${PARENT}-${flags}`

/** A request of the Qwen RFC. */
function qwen(text: string, session: string): string {
  return `${chat(text, { session_id: session })}\n`
}

describe('the trace of a turn', () => {
  let receiver: OtlpReceiver
  let telemetry: Telemetry
  let far: TestGateway
  let near: TestGateway
  let folder: string

  beforeAll(async () => {
    receiver = await startOtlpReceiver()
    telemetry = await startTelemetry({ otlp: receiver.url, version: '0', protocol: 'http/protobuf' })
    const agents = `
default: script
limits: { grace: 300ms }
agents:
  script: { protocol: agentproc, command: ${process.execPath}, args: [${OWN}/exporting.mjs, "${receiver.url}"] }
  zot: { protocol: zot, command: ${process.execPath}, args: [${OWN}/tool-zot.mjs] }
  warm: { protocol: zot, command: ${process.execPath}, args: [${OWN}/tool-zot.mjs], pool: { warm: 1, max: 1 } }
  patient: { protocol: zot, command: ${process.execPath}, args: [${KIT}/patient-zot.mjs] }
  careful: { protocol: agentproc@0.4, command: ${process.execPath}, args: [${KIT}/careful.mjs], permission: true }
`
    far = await startGateway(agents.replace('default: script', 'default: zot'), telemetry)
    near = await startGateway(
      `${agents}  engine: { protocol: openharness, url: "${far.url}/v1/openharness" }
routes: [{ when: { session: "by-*" }, agent: zot }]
`,
      telemetry,
    )
    folder = mkdtempSync(join(tmpdir(), 'turnpike-trees-'))
    writeFileSync(
      join(folder, 'turnpike.yaml'),
      `${agents}store: { kind: sqlite, path: ./turnpike.db }\nserver: { socket: false }\n`,
    )
  })
  afterAll(async () => {
    await near.close()
    await far.close()
    await telemetry.shutdown()
    await receiver.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** The trace as text once so many spans have come. */
  const drawn = async (n: number, count: number): Promise<string> => {
    const of = (spans: readonly ReceivedSpan[]) => spans.filter(({ traceId }) => traceId === trace(n))
    return drawTrace(await receiver.waitFor((spans) => of(spans).length >= count), trace(n))
  }
  const post = (path: string, n: number, body: string, flags?: string): Promise<Response> =>
    fetch(`${near.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: traceparent(n, flags) },
      body,
    })
  const zene = (n: number, agent: string, prompt: string, session = `s${n}`, flags?: string): Promise<Response> =>
    post(`/v1/zene/${agent}`, n, JSON.stringify({ request_id: `r${n}`, session_id: session, prompt }), flags)

  test('from a Zene stand-in on stdio to a zot process', async () => {
    const env = { TRACEPARENT: traceparent(1), OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url }
    const args = ['as', 'zene', '--config', join(folder, 'turnpike.yaml'), '--agent', 'zot']
    await runTurnpike(args, CLIENTS.zene.write({ text: 'hi', session: 's' }), env)
    expect(await drawn(1, 7)).toMatchInlineSnapshot(`
      "
      zene (server) turnpike.front=zene network.transport=pipe process.exit.code=0
          decode zene (internal) turnpike.front=zene
          route (internal) gen_ai.agent.name=zot
          invoke_agent zot (client) gen_ai.operation.name=invoke_agent gen_ai.agent.name=zot gen_ai.conversation.id=s turnpike.turn=ID turnpike.front=zene turnpike.back=zot turnpike.link=new turnpike.losses=dropped=4;invented=1 turnpike.outcome=completed gen_ai.response.finish_reasons=stop
            * turnpike.first_event turnpike.ms=MS turnpike.event.type=step-start
            * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=step-start turnpike.loss.why=no-place turnpike.loss.count=1
            * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=tool-call turnpike.loss.why=no-place turnpike.loss.count=1
            * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=tool-end turnpike.loss.why=no-place turnpike.loss.count=1
            * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=step-end turnpike.loss.why=no-place turnpike.loss.count=1
            * turnpike.loss turnpike.loss.kind=invented turnpike.loss.item=usage.total turnpike.loss.why=required turnpike.loss.count=1 turnpike.loss.field=total_tokens
            * turnpike.end turnpike.outcome=completed turnpike.stop=end
              queue (internal)
              node (client) process.executable.name=node process.pid=PID
                * turnpike.ready
              execute_tool read_file (internal) gen_ai.operation.name=execute_tool gen_ai.tool.name=read_file gen_ai.tool.call.id=c1 gen_ai.tool.type=extension turnpike.observed=true
          encode zene (internal) turnpike.front=zene turnpike.events=10
      "
    `)
  })

  test('from OpenHarness over HTTP to an AGENT_ script that reports a span of its own', async () => {
    await post('/v1/openharness/script', 2, CLIENTS.openharness.write({ text: 'hi', session: 's2', id: 'r2' }))
    expect(await drawn(2, 7)).toMatchInlineSnapshot(`
      "
      POST /v1/openharness (server) turnpike.front=openharness http.request.method=POST http.route=/v1/openharness http.response.status_code=200
          decode openharness (internal) turnpike.front=openharness
          route (internal) gen_ai.agent.name=script
          invoke_agent script (client) gen_ai.operation.name=invoke_agent gen_ai.agent.name=script gen_ai.conversation.id=s2 turnpike.turn=ID turnpike.front=openharness turnpike.back=agentproc turnpike.link=new turnpike.outcome=completed gen_ai.response.finish_reasons=stop
            * turnpike.first_event turnpike.ms=MS turnpike.event.type=message-start
            * turnpike.end turnpike.outcome=completed turnpike.stop=end
              queue (internal)
              node (client) process.executable.name=node process.pid=PID process.exit.code=0
                  chat some-model (client) gen_ai.operation.name=chat
          encode openharness (internal) turnpike.front=openharness turnpike.events=6
      "
    `)
  })

  test('from Qwen through an OpenHarness URL and a second gateway to a zot process', async () => {
    await post('/v1/qwen/engine', 3, qwen('hi', 's3'))
    expect(await drawn(3, 13)).toMatchInlineSnapshot(`
      "
      POST /v1/qwen (server) turnpike.front=qwen http.request.method=POST http.route=/v1/qwen http.response.status_code=200
          decode qwen (internal) turnpike.front=qwen
          route (internal) gen_ai.agent.name=engine
          invoke_agent engine (client) gen_ai.operation.name=invoke_agent gen_ai.agent.name=engine gen_ai.conversation.id=s3 turnpike.turn=ID turnpike.front=qwen turnpike.back=openharness turnpike.link=new turnpike.losses=dropped=4 turnpike.outcome=completed gen_ai.response.finish_reasons=stop
            * turnpike.first_event turnpike.ms=MS turnpike.event.type=message-start
            * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=ext turnpike.loss.why=no-place turnpike.loss.count=1 turnpike.loss.field=openharness
            * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=step-start turnpike.loss.why=no-place turnpike.loss.count=1
            * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=step-end turnpike.loss.why=no-place turnpike.loss.count=1
            * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=tool-call turnpike.loss.why=no-place turnpike.loss.count=1
            * turnpike.end turnpike.outcome=completed turnpike.stop=end
              queue (internal)
              POST (client) http.request.method=POST url.full=http://HOST/v1/openharness server.address=127.0.0.1 server.port=PORT http.response.status_code=200
                  POST /v1/openharness (server) turnpike.front=openharness http.request.method=POST http.route=/v1/openharness http.response.status_code=200
                      decode openharness (internal) turnpike.front=openharness
                      route (internal) gen_ai.agent.name=zot
                      invoke_agent zot (client) gen_ai.operation.name=invoke_agent gen_ai.agent.name=zot gen_ai.conversation.id=s3 turnpike.turn=ID turnpike.front=openharness turnpike.back=zot turnpike.link=new turnpike.losses=dropped=4 turnpike.outcome=completed gen_ai.response.finish_reasons=stop
                        * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=ext turnpike.loss.why=no-place turnpike.loss.count=1 turnpike.loss.field=openharness
                        * turnpike.first_event turnpike.ms=MS turnpike.event.type=step-start
                        * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=step-start turnpike.loss.why=no-place turnpike.loss.count=1
                        * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=step-end turnpike.loss.why=no-place turnpike.loss.count=1
                        * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=tool-call turnpike.loss.why=no-place turnpike.loss.count=1
                        * turnpike.end turnpike.outcome=completed turnpike.stop=end
                          queue (internal)
                          node (client) process.executable.name=node process.pid=PID
                            * turnpike.ready
                          execute_tool read_file (internal) gen_ai.operation.name=execute_tool gen_ai.tool.name=read_file gen_ai.tool.call.id=c1 gen_ai.tool.type=extension turnpike.observed=true
                      encode openharness (internal) turnpike.front=openharness turnpike.events=10
          encode qwen (internal) turnpike.front=qwen turnpike.events=5
      "
    `)
  })

  test('whose agent crashes', async () => {
    await zene(4, 'zot', 'crash')
    expect(await drawn(4, 7)).toMatchInlineSnapshot(`
      "
      POST /v1/zene (server)! turnpike.front=zene http.request.method=POST http.route=/v1/zene http.response.status_code=502 error.type=502
          decode zene (internal) turnpike.front=zene
          route (internal) gen_ai.agent.name=zot
          invoke_agent zot (client)! gen_ai.operation.name=invoke_agent gen_ai.agent.name=zot gen_ai.conversation.id=s4 turnpike.turn=ID turnpike.front=zene turnpike.back=zot turnpike.link=new turnpike.losses=dropped=4 turnpike.outcome=failed gen_ai.response.finish_reasons=error error.type=agent-crashed
            * turnpike.first_event turnpike.ms=MS turnpike.event.type=step-start
            * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=step-start turnpike.loss.why=no-place turnpike.loss.count=1
            * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=tool-call turnpike.loss.why=no-place turnpike.loss.count=1
            * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=tool-end turnpike.loss.why=no-place turnpike.loss.count=1
            * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=step-end turnpike.loss.why=no-place turnpike.loss.count=1
            * turnpike.end turnpike.outcome=failed turnpike.stop=error
              queue (internal)
              node (client)! process.executable.name=node process.pid=PID process.exit.code=7 error.type=7
                * turnpike.ready
              execute_tool read_file (internal)! gen_ai.operation.name=execute_tool gen_ai.tool.name=read_file gen_ai.tool.call.id=c1 gen_ai.tool.type=extension turnpike.observed=true error.type=tool_error
          encode zene (internal) turnpike.front=zene turnpike.events=7
      "
    `)
  })

  test('that is cancelled', async () => {
    const answer = zene(5, 'patient', 'wait')
    await until(() => near.engine.turns[0]?.view.text.startsWith('pid') === true)
    near.engine.turns[0]!.cancel()
    await answer
    expect(await drawn(5, 6)).toMatchInlineSnapshot(`
      "
      POST /v1/zene (server) turnpike.front=zene http.request.method=POST http.route=/v1/zene http.response.status_code=499
          decode zene (internal) turnpike.front=zene
          route (internal) gen_ai.agent.name=patient
          invoke_agent patient (client) gen_ai.operation.name=invoke_agent gen_ai.agent.name=patient gen_ai.conversation.id=s5 turnpike.turn=ID turnpike.front=zene turnpike.back=zot turnpike.link=new turnpike.losses=dropped=3 turnpike.outcome=cancelled gen_ai.response.finish_reasons=aborted
            * turnpike.first_event turnpike.ms=MS turnpike.event.type=step-start
            * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=step-start turnpike.loss.why=no-place turnpike.loss.count=1
            * turnpike.cancel
            * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=step-end turnpike.loss.why=no-place turnpike.loss.count=1
            * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=text-delta turnpike.loss.why=policy turnpike.loss.count=1 turnpike.loss.field=text
            * turnpike.end turnpike.outcome=cancelled turnpike.stop=aborted
              queue (internal)
              node (client) process.executable.name=node process.pid=PID
                * turnpike.ready
          encode zene (internal) turnpike.front=zene turnpike.events=8
      "
    `)
  })

  test('whose agent asks, on a route', async () => {
    await zene(6, 'careful', 'hi', 'by-6')
    expect(await drawn(6, 6)).toMatchInlineSnapshot(`
      "
      POST /v1/zene (server) turnpike.front=zene http.request.method=POST http.route=/v1/zene http.response.status_code=200
          decode zene (internal) turnpike.front=zene
          route (internal) gen_ai.agent.name=careful turnpike.route=session=by-*
          invoke_agent careful (client) gen_ai.operation.name=invoke_agent gen_ai.agent.name=careful gen_ai.conversation.id=by-6 turnpike.turn=ID turnpike.front=zene turnpike.back=agentproc@0.4 turnpike.link=new turnpike.losses=dropped=2;invented=1 turnpike.outcome=completed gen_ai.response.finish_reasons=stop
            * turnpike.first_event turnpike.ms=MS turnpike.event.type=ask
            * turnpike.asked turnpike.about=approval
            * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=ask turnpike.loss.why=policy turnpike.loss.count=1
            * turnpike.settled turnpike.about=policy
            * turnpike.loss turnpike.loss.kind=dropped turnpike.loss.item=notice turnpike.loss.why=no-place turnpike.loss.count=1
            * turnpike.loss turnpike.loss.kind=invented turnpike.loss.item=usage.total turnpike.loss.why=required turnpike.loss.count=1 turnpike.loss.field=total_tokens
            * turnpike.end turnpike.outcome=completed turnpike.stop=end
              queue (internal)
              node (client) process.executable.name=node process.pid=PID process.exit.code=0
          encode zene (internal) turnpike.front=zene turnpike.events=6
      "
    `)
  })

  test('that waits for a second request links that one to it', async () => {
    const ask = async (n: number, context: object): Promise<{ action_type: string; payload: never }[]> => {
      const request = { protocol_version: '1.0.0', request_id: `p${n}`, request: { context } }
      const answer = await post('/v1/openharness/careful', n, JSON.stringify(request))
      return ((await answer.json()) as { response: { action_directives: [] } }).response.action_directives
    }
    const parked = await ask(10, { session_id: 'parks', user_intent: 'hi' })
    const asked = parked.find(({ action_type }) => action_type === 'request_approval')!.payload as {
      options: { id: string; kind: string }[]
      continuation: object
    }
    const { id } = asked.options.find(({ kind }) => kind === 'allow')!
    await ask(11, { session_id: 'parks', user_intent: id, continuation: asked.continuation })
    expect([await drawn(10, 6), await drawn(11, 1)].join('')).toMatchInlineSnapshot(`
      "
      POST /v1/openharness (server) turnpike.front=openharness http.request.method=POST http.route=/v1/openharness http.response.status_code=200
          decode openharness (internal) turnpike.front=openharness
          route (internal) gen_ai.agent.name=careful
          invoke_agent careful (client) gen_ai.operation.name=invoke_agent gen_ai.agent.name=careful gen_ai.conversation.id=parks turnpike.turn=ID turnpike.front=openharness turnpike.back=agentproc@0.4 turnpike.link=new turnpike.outcome=completed gen_ai.response.finish_reasons=stop
            * turnpike.first_event turnpike.ms=MS turnpike.event.type=ask
            * turnpike.asked turnpike.about=approval
            * turnpike.parked
            * turnpike.settled turnpike.about=answered
            * turnpike.end turnpike.outcome=completed turnpike.stop=end
              queue (internal)
              node (client) process.executable.name=node process.pid=PID process.exit.code=0
          encode openharness (internal) turnpike.front=openharness turnpike.events=8

      POST /v1/openharness (server) turnpike.front=openharness http.request.method=POST http.route=/v1/openharness http.response.status_code=200
        -> invoke_agent careful turnpike.share=answered
      "
    `)
  })

  test('on a process that was started ahead, then on the same one', async () => {
    await zene(7, 'warm', 'hi', 's7')
    await zene(8, 'warm', 'hi', 's7')
    const [seventh, eighth] = [await drawn(7, 7), await drawn(8, 7)]
    expect(eighth.match(/->.*/g)).toEqual(['-> node'])
    expect(seventh.match(/->.*/g)).toEqual(['-> node'])
  })

  test('that is not sampled stays so into the agent’s environment and through a second gateway', async () => {
    const before = receiver.spans().length
    const shown = await (await zene(9, 'script', 'hi', 's9', '00')).json()
    expect(shown).toMatchObject({ text: expect.stringMatching(new RegExp(`^00-${trace(9)}-[0-9a-f]{16}-00$`)) })
    const engine = qwen('hi', 's9')
    const answer = await (await post('/v1/qwen/engine', 9, engine, '00')).text()
    expect(answer).toMatch(new RegExp(`00-${trace(9)}-[0-9a-f]{16}-00`))
    await askHttp(near.url, 'zene', { text: 'hi', session: 'last', agent: 'script' })
    await receiver.waitFor((spans) => spans.length > before)
    expect(receiver.spans().filter(({ traceId }) => traceId === trace(9))).toEqual([])
  })
})
