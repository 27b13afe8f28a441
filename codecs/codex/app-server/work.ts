import * as v from 'valibot'
import { dropped } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import { type CommandOf, type Fault, type Loss, quote } from '../../../src/model/index.ts'
import { refusalOf } from '../errors.ts'
import { TurnOpened } from '../schema.ts'
import { inputJson } from './input.ts'
import { type AppServer, texts } from './server.ts'
import type { Thread } from './thread.ts'
import { TurnDecoder } from './turn.ts'

/** A turn of a client: its thread is opened, then the agent gets the prompt; it may be steered and interrupted. */
export class Work {
  readonly decoder: TurnDecoder
  /** The agent has got the prompt. */
  sent = false
  /** The agent's own id of the turn, once it is known. */
  id: string | undefined
  readonly #start: CommandOf<'turn-start'>
  readonly #server: AppServer
  readonly #thread: Thread
  readonly #ports: BackPorts
  readonly #report = (loss: Loss): void => this.#ports.report(loss, this.#start.turn)
  #interrupting = false

  constructor(start: CommandOf<'turn-start'>, server: AppServer, thread: Thread, ports: BackPorts) {
    this.#start = start
    this.#server = server
    this.#thread = thread
    this.#ports = ports
    this.decoder = new TurnDecoder(ports, start, thread.usage)
  }

  /** Opens the thread and sends the prompt, once the agent is ready; `before` runs a step when nothing else runs. */
  begin(before: (step: () => void) => void): void {
    this.#server.handshake.whenDone(() => {
      if (this.decoder.ended) return
      if (this.#server.dead) this.decoder.fail(this.#server.dead)
      else this.#thread.open(this.#start, (failed) => before(() => this.#send(failed)))
    })
  }

  /** The agent has taken the turn up under this id. */
  running(id: string): void {
    this.id = id
    this.decoder.started()
    if (this.decoder.cancelAsked) this.#interrupt()
  }

  /** Ends a turn that the agent has not got yet; interrupts any other one, once its id is known. */
  cancel(): void {
    this.decoder.cancelAsked = true
    if (!this.sent) this.decoder.cancelled()
    else this.#interrupt()
  }

  /** Gives the agent further input; refused input is a loss. */
  steer({ input }: CommandOf<'turn-steer'>): void {
    if (this.id === undefined) {
      this.#report(dropped('turn-steer'))
      return
    }
    const thread = quote(this.#thread.id!)
    const parts = inputJson(input, this.#report)
    const params = `{"threadId":${thread},"expectedTurnId":${quote(this.id)},"input":${parts}}`
    this.#server.call('turn/steer', params, (answer) => {
      if (answer.kind === 'error') this.#report(dropped('turn-steer'))
    })
  }

  #send(failed: Fault | undefined): void {
    if (this.decoder.ended) return
    if (failed) {
      this.decoder.fail(failed)
      return
    }
    this.sent = true
    const compact = this.#start.task === 'compact'
    const params = this.#thread.turnParams(this.#start, this.#report)
    const alone = texts({ threadId: this.#thread.id })
    this.#server.call(compact ? 'thread/compact/start' : 'turn/start', compact ? alone : params, (answer) => {
      if (this.decoder.ended) return
      if (answer.kind === 'error') this.decoder.fail(refusalOf(answer.error))
      else if (v.is(TurnOpened, answer.result)) this.running(answer.result.turn.id)
    })
  }

  #interrupt(): void {
    if (this.id === undefined || this.#interrupting) return
    this.#interrupting = true
    this.#server.call('turn/interrupt', texts({ threadId: this.#thread.id, turnId: this.id }), () => {})
  }
}
