import { dropped, messageLine, weakened } from '../../../src/codec-kit/index.ts'
import type { Answer, Carrier } from '../../../src/contract/index.ts'
import {
  type Ext,
  type Fault,
  fault,
  type Id,
  type JsonText,
  type Loss,
  type Members,
  object,
  type Part,
  quote,
  type TurnEnd,
  type TurnEvent,
  type TurnView,
  type Usage,
} from '../../../src/model/index.ts'
import { reasonOf } from '../stops.ts'
import { ownExt, PROTOCOL } from '../wire.ts'
import type { Asks } from './asks.ts'
import type { Client } from './client.ts'
import type { Request, Requests } from './requests.ts'
import type { Session } from './session.ts'
import { TurnWriter } from './turn.ts'
import { Updates } from './updates.ts'
import type { Work } from './work.ts'

/** The fault of a turn that failed without one. */
const UNEXPLAINED: Fault = fault('internal', 'The turn failed.')

const ANSWER: Answer = { form: 'stream', framing: 'ndjson', onDisconnect: 'cancel', asks: 'inline' }

/** The parts of a prompt: its content, its further fields, and its trace context. */
export interface Prompt {
  readonly input: readonly Part[]
  readonly ext: Ext | undefined
  readonly trace?: Carrier
}

/** The prompts of one client, of all of its sessions. The gateway has those of one session wait for each other. */
export class Prompts {
  readonly #client: Client
  readonly #requests: Requests
  readonly #asks: Asks
  readonly #open = new Map<Id, Work>()
  /** The steps that wait for the end of all prompts of a session, by its id. */
  readonly #idle = new Map<string, (() => void)[]>()

  constructor(client: Client, requests: Requests, asks: Asks) {
    this.#client = client
    this.#requests = requests
    this.#asks = asks
  }

  /** `session/prompt`. */
  start(request: Request, session: Session, { input, ext, trace }: Prompt): void {
    const { ports } = this.#client
    const exchange = ports.newId()
    const turn = ports.newId()
    const { numbers } = session
    numbers.count += 1
    const updates = new Updates(ports.send, session.id)
    const writer = new TurnWriter(this.#client, exchange, updates, `${numbers.prefix}${numbers.count}.`)
    const work: Work = { request, session, exchange, turn, writer, runs: undefined, muted: false, cancelled: false }
    request.cancel = this.#cancel.bind(this, work)
    this.#open.set(exchange, work)
    const { id, cwd, folders, mcpServers } = session
    ports.command(
      {
        exchange,
        session: { id },
        type: 'turn-start',
        turn,
        task: 'prompt',
        input,
        options: { streaming: true },
        cwd,
        ...(folders.length > 0 && { folders }),
        ...(mcpServers.length > 0 && { mcpServers }),
        ...(ext && { ext }),
      },
      trace ? { ...ANSWER, trace } : ANSWER,
    )
  }

  /** `session/cancel`: everything that runs or waits in the session. */
  cancel({ id }: Session): void {
    for (const work of [...this.#open.values()]) if (work.session.id === id) this.#cancel(work)
  }

  /** The client is gone. */
  cancelAll(): void {
    for (const work of [...this.#open.values()]) this.#cancel(work)
  }

  /** Cancels the session's prompts, and runs a step when all have their answers. */
  stop(session: Session, then: () => void): void {
    this.#idle.set(session.id, [...(this.#idle.get(session.id) ?? []), then])
    this.cancel(session)
    this.#settle(session)
  }

  /** The session whose prompt an exchange is, as it is open now: it may have been opened again meanwhile. */
  sessionOf(exchange: Id): Session | undefined {
    return this.#client.sessions.get(this.#open.get(exchange)?.session.id ?? '')
  }

  /** Writes an event of a prompt. */
  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    const work = this.#open.get(exchange)
    if (!work) return
    if (event.type === 'turn-accepted') {
      work.muted = [...this.#open.values()].some(({ runs }) => runs === event.turn)
      work.runs = event.turn
    } else if (event.type === 'turn-end') this.#end(work, event, view)
    else if (work.muted) return
    else if (event.type === 'ask') this.#asks.ask(event, work, view)
    else if (event.type === 'ask-settled') this.#asks.settled(event.ask, work)
    else work.writer.write(event, view)
  }

  /** A prompt has failed without a turn; false when it is none of these. */
  fail(exchange: Id, why: Fault): boolean {
    const work = this.#open.get(exchange)
    if (!work) return false
    this.#open.delete(exchange)
    if (work.cancelled) this.#requests.answer(work.request, '{"stopReason":"cancelled"}')
    else this.#requests.fail(work.request, why, this.#meta(work, undefined))
    this.#settle(work.session)
    return true
  }

  #cancel(work: Work): void {
    if (work.cancelled) return
    work.cancelled = true
    const { ports } = this.#client
    const target = { turn: work.turn }
    ports.command({ exchange: ports.newId(), session: { id: work.session.id }, type: 'turn-cancel', target })
  }

  /** A turn that the client cancelled is answered so, however it ended (Cancellation). */
  #end(work: Work, end: TurnEnd, view: TurnView): void {
    this.#open.delete(work.exchange)
    const { outcome, stop, ext } = end
    const why = end.fault ?? (outcome === 'failed' ? UNEXPLAINED : undefined)
    const isCancelled = work.cancelled || outcome === 'cancelled'
    if (ext && ext.protocol !== PROTOCOL) this.#report(dropped('ext', ext.protocol), work)
    if (why?.ext) this.#report(dropped('ext', why.ext.protocol), work)
    if (why && !isCancelled) {
      this.#requests.fail(work.request, why, this.#meta(work, ext))
    } else {
      const { reason, exact } = reasonOf(stop)
      if (!exact && !isCancelled) {
        this.#report(weakened('end.stop', undefined, 'too-narrow'), work)
      }
      const entries: Members = {
        stopReason: quote(isCancelled ? 'cancelled' : reason),
        usage: usageJson(view.usage),
        ...this.#meta(work, undefined, view.usage?.costUsd),
      }
      this.#requests.answer(work.request, messageLine(entries, ownExt(ext)))
    }
    this.#settle(work.session)
  }

  #report(loss: Loss, { exchange }: Work): void {
    this.#client.ports.report(loss, exchange)
  }

  /** The turn's name in the gateway, what it cost, and its losses. */
  #meta(work: Work, ext: Ext | undefined, costUsd?: number): Members {
    const losses = this.#client.ports.losses(work.exchange)
    const own = object({
      turn: quote(work.runs ?? work.turn),
      costUsd: costUsd === undefined ? undefined : String(costUsd),
      losses: losses.length === 0 ? undefined : JSON.stringify(losses),
    })
    return { _meta: messageLine({ turnpike: own }, ownExt(ext)) }
  }

  #settle({ id }: Session): void {
    if ([...this.#open.values()].some(({ session }) => session.id === id)) return
    const steps = this.#idle.get(id) ?? []
    this.#idle.delete(id)
    for (const step of steps) step()
  }
}

/** Tokens, where those that the protocol demands are known. */
function usageJson(usage: Usage = {}): JsonText | undefined {
  const { input, output, total, reasoning, cacheRead, cacheWrite } = usage
  if (input === undefined || output === undefined) return undefined
  const count = (value: number | undefined): JsonText | undefined => (value === undefined ? undefined : String(value))
  return object({
    inputTokens: String(input),
    outputTokens: String(output),
    totalTokens: String(total ?? input + output),
    thoughtTokens: count(reasoning),
    cachedReadTokens: count(cacheRead),
    cachedWriteTokens: count(cacheWrite),
  })
}
