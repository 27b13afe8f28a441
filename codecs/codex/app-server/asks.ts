import { askIdOf, RPC_CODES, type RpcMessage, weakened } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import type { CommandOf, Id, JsonText } from '../../../src/model/index.ts'
import type { Lane } from './lane.ts'
import { type Asked, READERS } from './questions.ts'
import { type AppServer, paramsOf } from './server.ts'

/** An open question: `request` is its id as the agent wrote it. */
type Open = Asked & { request: JsonText; lane: Lane }

/** The questions of the agent: every request is answered, at once if no client can be asked. */
export class Asks {
  readonly #ports: BackPorts
  readonly #server: AppServer
  readonly #open = new Map<Id, Open>()

  constructor(ports: BackPorts, server: AppServer) {
    this.#ports = ports
    this.#server = server
  }

  /** A request of the agent. `lane` is undefined when no turn runs that it belongs to. */
  request(
    { id, method, params }: Extract<RpcMessage, { kind: 'request' }>,
    line: string,
    lane: Lane | undefined,
  ): void {
    const known = Object.hasOwn(READERS, method)
    const asked = known && lane ? READERS[method]!(lane, params, paramsOf(line)) : undefined
    if (!known) this.#server.refuse(id, `This client does not support ${method}.`, RPC_CODES.methodNotFound)
    else if (!lane) this.#server.refuse(id, 'No turn is running: no client can be asked.')
    else if (!asked) this.#server.refuse(id, 'The request cannot be read.', RPC_CODES.invalidParams)
    else {
      const ask = askIdOf(id, this.#open)
      this.#open.set(ask, { ...asked, request: id, lane })
      lane.out.emit({ type: 'ask', ask, question: asked.question })
    }
  }

  /** The client's answer; one for a question that is settled already is ignored. True when the turn must stop. */
  reply(command: CommandOf<'ask-reply'>): boolean {
    const ask = command.ask ?? [...this.#open.keys()].at(0)
    const open = ask === undefined ? undefined : this.#open.get(ask)
    if (!open) return false
    this.#open.delete(ask!)
    const verdict = open.answer(command.reply)
    if (!verdict) {
      this.#server.refuse(open.request, 'The client gave an answer of another kind.')
      return false
    }
    for (const field of verdict.weakens ?? []) this.#ports.report(weakened('ask-reply', field), open.lane.out.turn)
    this.#server.respond(open.request, verdict.result)
    return verdict.stops === true
  }

  /** `serverRequest/resolved`: the agent does not wait for the answer any more. */
  resolved(request: JsonText): void {
    for (const [ask, open] of this.#open) if (open.request === request) this.#settle(ask, open)
  }

  /** The turn ends: nothing of it can be answered any more. */
  turnEnds(): void {
    for (const [ask, open] of this.#open) this.#settle(ask, open)
  }

  #settle(ask: Id, { lane }: Open): void {
    this.#open.delete(ask)
    lane.out.emit({ type: 'ask-settled', ask, how: 'cancelled' })
  }
}
