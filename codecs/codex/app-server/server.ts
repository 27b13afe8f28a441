import { Handshake, RPC_CODES, type RpcAnswer, RpcCalls, RpcWriter } from '../../../src/codec-kit/index.ts'
import type { BackContext, BackPorts, CallEnd } from '../../../src/contract/index.ts'
import { type Fault, fault, type JsonText, member, object, quote } from '../../../src/model/index.ts'

/** Messages about what a turn does not need, which the agent is asked to leave out. */
const UNNEEDED = [
  'account/rateLimits/updated',
  'account/updated',
  'app/list/updated',
  'mcpServer/startupStatus/updated',
  'remoteControl/status/changed',
  'skills/changed',
  'thread/name/updated',
  'thread/readState/changed',
  'thread/settings/updated',
  'thread/started',
  'thread/status/changed',
]

const HELLO = object({
  clientInfo: '{"name":"turnpike","title":"Turnpike","version":"1"}',
  capabilities: `{"experimentalApi":true,"requestAttestation":false,"optOutNotificationMethods":${JSON.stringify(UNNEEDED)}}`,
})

/** The process of an agent: its start, the handshake, the calls of both sides, and its end. */
export class AppServer {
  /** Set once the process is gone. */
  dead: Fault | undefined
  readonly handshake: Handshake
  readonly #context: BackContext<unknown>
  readonly #ports: BackPorts
  readonly #writer = new RpcWriter({ jsonrpc: false })
  readonly #calls: RpcCalls

  constructor(context: BackContext<unknown>, ports: BackPorts) {
    this.#context = context
    this.#ports = ports
    this.#calls = new RpcCalls((line) => ports.send(line), this.#writer)
    this.handshake = new Handshake(context, 'initialize')
  }

  /** Starts the process and says hello. */
  open(): void {
    const configured = this.#context.process?.args ?? []
    const args = configured.includes('app-server') ? configured : [...configured, 'app-server']
    this.#ports.open({ kind: 'process', args, stdin: 'open' })
    this.call('initialize', HELLO, (answer) => this.#greet(answer))
  }

  /**
   * Calls a method of the agent, with the trace context of the turn that runs; `take` gets its answer, and nothing when
   * the process ends before.
   */
  call(method: string, params: JsonText, take: (answer: RpcAnswer) => void): void {
    const { traceparent, tracestate } = this.#ports.trace?.() ?? {}
    const trace = traceparent === undefined ? undefined : texts({ traceparent, tracestate })
    this.#calls.call(method, params, (answer) => answer && take(answer), { trace })
  }

  /** Hands an answer to its call; false when there is no such call. */
  answered(answer: RpcAnswer, line: string): boolean {
    return this.#calls.answer(answer, line)
  }

  /** Answers a request of the agent; `id` as it wrote it. */
  respond(id: JsonText, result: JsonText): void {
    this.#ports.send(this.#writer.result(id, result))
  }

  /** Refuses a request of the agent, which would wait for its answer. */
  refuse(id: JsonText, why: string, code: number = RPC_CODES.internal): void {
    this.#ports.send(this.#writer.error(id, code, why))
  }

  /** The fault of a turn that the end of the process leaves without an answer. */
  reasonOf(end: CallEnd): Fault {
    const agent = `Codex agent "${this.#context.agent}"`
    return this.handshake.reasonOf(end, agent, 'its arguments and its configuration')
  }

  /** Nothing is sent any more; waiting calls learn that there is no answer. */
  die(reason: Fault): void {
    this.dead = reason
    this.#calls.end()
    this.handshake.end()
  }

  #greet(answer: RpcAnswer): void {
    if (answer.kind === 'error') {
      const text = `The agent refused initialize: ${answer.error.message}`
      const reason = fault('agent-unavailable', text, { retryable: false })
      this.die(reason)
      this.#ports.broken(reason)
      return
    }
    this.#ports.send(this.#writer.notification('initialized'))
    const version = versionOf(answer.result)
    this.#ports.emit({ turn: null, type: 'agent-ready', ...(version !== undefined && { version }) })
    this.handshake.end()
  }
}

/** The version in the agent's name of itself: `NAME/VERSION (…)`. */
function versionOf(result: unknown): string | undefined {
  const agent = (result as { userAgent?: unknown } | null)?.userAgent
  return typeof agent === 'string' ? /\/(\S+)/.exec(agent)?.[1] : undefined
}

/** The parameters of a message, raw. */
export function paramsOf(line: string): JsonText {
  return member(line, 'params') ?? '{}'
}

/** A JSON object of these texts; those without a value are left out. */
export function texts(entries: Readonly<Record<string, string | undefined>>): JsonText {
  return object(Object.entries(entries).map(([key, text]) => [key, quote(text)]))
}
