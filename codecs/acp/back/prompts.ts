import { dropped, messageLine, metaWith, type UnaskedTurn } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import { type CommandOf, type Fault, fault, type JsonText, member, quote } from '../../../src/model/index.ts'
import { faultOfError } from '../errors.ts'
import { ownExt, ownMember, PROTOCOL } from '../wire.ts'
import type { Asks } from './asks.ts'
import { BegunCalls } from './begun-calls.ts'
import type { Changes } from './changes.ts'
import type { Connection } from './connection.ts'
import { placeOf } from './place.ts'
import { promptOf } from './prompt.ts'
import type { AgentSession } from './session.ts'
import { SessionTokens } from './tokens.ts'
import { TurnDecoder } from './turn.ts'

/** A turn on its way; `sent` when the agent has its prompt. */
interface Work {
  readonly decoder: TurnDecoder
  readonly start: CommandOf<'turn-start'>
  sent: boolean
}

/** The parts of a link that a turn works with. */
export interface PromptPeers {
  ports: BackPorts
  connection: Connection
  session: AgentSession
  changes: Changes
  asks: Asks
  unasked: UnaskedTurn<TurnDecoder>
}

/** The turns of an agent, one at a time: session, settings, prompt, and the answer that ends it. */
export class Prompts {
  readonly #peers: PromptPeers
  readonly #tokens = new SessionTokens()
  readonly begun = new BegunCalls()
  #work: Work | undefined
  /** The system prompt that the session has. */
  #system: string | undefined

  constructor(peers: PromptPeers) {
    this.#peers = peers
  }

  /** The decoder of the turn that the client waits for. */
  get decoder(): TurnDecoder | undefined {
    return this.#work?.decoder
  }

  /** The decoder of the turn that the agent works on. */
  get running(): TurnDecoder | undefined {
    return this.#work?.sent ? this.#work.decoder : undefined
  }

  /** Forgets the system prompt of a session that begins again. */
  forget(): void {
    this.#system = undefined
  }

  /** Gives the agent a turn. */
  start(start: CommandOf<'turn-start'>): void {
    this.begun.turn()
    const work: Work = { decoder: new TurnDecoder(this.#peers.ports, start.turn, this.begun), start, sent: false }
    this.#work = work
    this.#peers.connection.handshake.whenDone(() => this.#open(work))
  }

  /** Has the session opened and set as the turn wants it; in a recording it was. */
  #open(work: Work): void {
    const { decoder, start } = work
    const { dead, context } = this.#peers.connection
    if (dead || context.recorded) {
      this.#prompt(work, dead)
      return
    }
    const place = placeOf(this.#peers.connection, start, (loss) => decoder.out.report(loss))
    const { session } = start
    this.#peers.session.ensure({ bound: session?.bound, origin: session?.origin, place }, (why) => {
      if (why) this.#prompt(work, why)
      else this.#peers.changes.settle((refused) => (refused ? this.#prompt(work, refused) : this.#choose(work)))
    })
  }

  /** Sets the model and effort of the turn. A setting that the agent refuses is a loss and a notice. */
  #choose(work: Work): void {
    const { decoder, start } = work
    this.#peers.changes.choose(
      start.options,
      (setting, why) => {
        decoder.out.report(dropped(`option.${setting}`, undefined, 'unknown'))
        decoder.out.notice('warning', `${setting}-refused`, `${why.message} The agent goes on with its own ${setting}.`)
      },
      () => this.#prompt(work, this.#peers.connection.dead),
    )
  }

  #prompt(work: Work, why: Fault | undefined): void {
    if (this.#work !== work) return
    if (why) this.#end((turn) => turn.fail(why))
    else this.#peers.unasked.before(() => this.#send(work))
  }

  #send(work: Work): void {
    const { decoder, start } = work
    const report = decoder.out.report.bind(decoder.out)
    if (start.ext && start.ext.protocol !== PROTOCOL) report(dropped('ext', start.ext.protocol))
    const wished = start.options.systemPrompt
    const system = wished === this.#system ? undefined : wished
    this.#system = wished ?? this.#system
    const prompt = promptOf(start, system, this.#peers.connection.kinds, report)
    this.#peers.session.use()
    work.sent = true
    this.#peers.connection.call('session/prompt', this.#params(prompt, start), (answer, line) => {
      if (!answer || this.#work !== work) return
      this.#end((turn) => {
        if (answer.kind === 'error') {
          this.#tokens.ofTurn(this.#peers.session.id, undefined)
          turn.fail(faultOfError(answer.error))
        } else this.#prompted(turn, answer.result, member(line, 'result')!)
      })
    })
  }

  #prompted(turn: TurnDecoder, result: unknown, json: JsonText): void {
    const { connection, session } = this.#peers
    turn.prompted(result, json, connection.quirks, (counted) =>
      connection.quirks.sums ? this.#tokens.ofTurn(session.id, counted) : counted,
    )
  }

  /** The parameters of a prompt, with the further fields of a client of this protocol, and the turn's trace context. */
  #params(prompt: JsonText, { ext }: CommandOf<'turn-start'>): JsonText {
    const meta = metaWith(this.#peers.ports.trace?.() ?? {}, ownMember(ext, '_meta'))
    const entries = [
      ['sessionId', this.#sessionId],
      ['prompt', prompt],
      ['_meta', meta],
    ] as const
    return messageLine(entries, ownExt(ext))
  }

  get #sessionId(): string {
    return quote(this.#peers.session.id ?? '')
  }

  /** The turn ends with the answer to its prompt, also when it is cancelled (Cancellation). */
  cancel(): void {
    const work = this.#work
    if (!work) return
    work.decoder.cancelAsked = true
    if (work.sent) {
      this.#peers.connection.send(
        this.#peers.connection.writer.notification('session/cancel', `{"sessionId":${this.#sessionId}}`),
      )
      this.#peers.asks.cancel()
    } else this.#end((turn) => turn.fail(fault('cancelled', 'The turn was cancelled.')))
  }

  #end(how: (turn: TurnDecoder) => void): void {
    const work = this.#work
    this.#work = undefined
    this.#peers.asks.cancel()
    if (work) how(work.decoder)
  }

  /** The agent is gone: its turn has its end. */
  fail(why: Fault, cancelled: boolean): void {
    this.#end((turn) => {
      turn.cancelAsked ||= cancelled
      turn.fail(why)
    })
  }
}
