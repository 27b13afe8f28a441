import {
  type Frame,
  type FrontContext,
  type FrontLink,
  type FrontPorts,
  frameText,
} from '../../../../src/contract/index.ts'
import {
  type Fault,
  fault,
  type Id,
  type Loss,
  quote,
  type TurnEvent,
  type TurnView,
} from '../../../../src/model/index.ts'
import { exitCodeOf } from '../../errors.ts'
import { EXT_01 } from '../../ext.ts'
import { refusedVariables, wireOfTurn } from '../../versions.ts'
import { ERROR, PARTIAL } from '../schema.ts'
import { SentinelWriter } from './answer.ts'
import { variablesOf } from './body.ts'
import { inputOf, sessionOf, unplaced, type Variables } from './request.ts'

/** The time that a stand-in without AGENT_MESSAGE waits for the message on its stdin, in milliseconds. */
const STDIN_WAIT_MS = 5000

const HEADERS = { 'content-type': 'text/plain; charset=utf-8' }

/** The silence after which a stand-in with AGENT_ variables stops waiting for a turn object on stdin, in milliseconds. */
export const PEEK_MS = 200

/**
 * True when the environment is that of an agent of wire 0.1. A turn object on stdin says otherwise: a newer runner may
 * hand on stale variables. It is no turn object when it is the message itself, which 0.1 has on stdin as well.
 */
export function accepts(first: Frame | undefined, { env }: FrontContext): boolean {
  const message = env['AGENT_MESSAGE']
  if (first !== undefined && wireOfTurn(frameText(first))) return message?.split('\n', 1)[0] === frameText(first)
  return message !== undefined || env['AGENT_PROTOCOL_VERSION'] !== undefined
}

/** The agent of wire 0.1: one request, from the environment or from a body, and its sentinel lines. */
export class V01Front implements FrontLink {
  readonly #context: FrontContext
  readonly #ports: FrontPorts
  /** Lines of stdin while the message is expected there. */
  #stdin: string[] | undefined
  #writer: SentinelWriter | undefined
  #streaming = false
  idleMs?: number

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
  }

  open(): void {
    const { transport, env } = this.#context
    if (transport !== 'stdio') return
    const refused = refusedVariables(env['AGENT_PROTOCOL_VERSION'])
    if (refused) this.#ports.fault(refused, 'ends')
    else if (env['AGENT_MESSAGE'] === undefined) {
      // A runner whose message is too long for its variable has it on stdin alone.
      this.#stdin = []
      this.idleMs = STDIN_WAIT_MS
    } else this.#start(env)
  }

  decode(frame: Frame): void {
    if (this.#stdin) this.#stdin.push(frameText(frame))
    else if (this.#context.transport !== 'stdio' && !this.#writer) this.#decodeBody(frameText(frame))
  }

  decodeEnd(why: 'eof' | 'idle' | 'signal'): void {
    const lines = this.#stdin
    this.#stdin = undefined
    if (!lines) return
    if (why === 'signal') this.#ports.close(exitCodeOf(undefined))
    else this.#start({ ...this.#context.env, AGENT_MESSAGE: lines.join('\n') })
  }

  encode(event: TurnEvent, _exchange: Id, view: TurnView): void {
    this.#writer?.write(event, view)
    if (event.type === 'turn-end') this.#ports.close(event.outcome === 'completed' ? 0 : exitCodeOf(event.fault))
  }

  /** A partial without a text shows nothing. */
  keepAlive(): void {
    if (this.#context.transport === 'http' && this.#streaming) this.#ports.send(`${PARTIAL}""`)
  }

  encodeFault(found: Fault): void {
    this.#ports.send(ERROR + quote(found.message))
    this.#ports.close(exitCodeOf(found))
  }

  #decodeBody(body: string): void {
    const read = variablesOf(body)
    if ('refused' in read) {
      this.#ports.fault(read.refused, 'ends')
      return
    }
    const refused = refusedVariables(read.variables['AGENT_PROTOCOL_VERSION'])
    if (refused) this.#ports.fault(refused, 'ends')
    else this.#start(read.variables)
  }

  #start(variables: Variables): void {
    const exchange = this.#ports.newId()
    const turn = this.#ports.newId()
    const losses: Loss[] = []
    const input = inputOf(variables, (loss) => losses.push(loss))
    if (input.length === 0) {
      const text = 'There is neither a message nor an attachment; set AGENT_MESSAGE.'
      this.#ports.fault(fault('invalid-request', text), 'ends')
      return
    }
    const streaming = variables['AGENT_STREAMING'] === '1'
    const form = streaming ? 'stream' : 'whole'
    const ext = unplaced(variables)
    this.#streaming = streaming
    this.#writer = new SentinelWriter(form, this.#ports, exchange)
    this.#ports.command(
      {
        exchange,
        type: 'turn-start',
        turn,
        task: 'prompt',
        input,
        options: { streaming },
        session: sessionOf(variables),
        ...(ext !== undefined && { ext: { protocol: EXT_01, json: ext } }),
      },
      { form, framing: 'text', headers: HEADERS, onDisconnect: 'cancel', asks: 'never' },
    )
    for (const loss of losses) this.#ports.report(loss, exchange)
  }
}
