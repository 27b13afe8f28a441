import { dropped } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import { type CommandOf, type Loss, quote } from '../../../src/model/index.ts'
import { ownExt } from '../wire.ts'
import type { ClaudeProcess } from './process.ts'
import { promptLine, userLine } from './prompt.ts'
import { TurnDecoder } from './turn.ts'

/** A turn of a client: its model is set, then the agent gets the prompt; it may be steered and interrupted. */
export class Work {
  readonly decoder: TurnDecoder
  /** The agent has got the prompt. */
  sent = false
  readonly #start: CommandOf<'turn-start'>
  readonly #process: ClaudeProcess
  readonly #ports: BackPorts
  #interrupting = false

  constructor(start: CommandOf<'turn-start'>, process: ClaudeProcess, ports: BackPorts) {
    this.#start = start
    this.#process = process
    this.#ports = ports
    this.decoder = new TurnDecoder(ports, start, process.usage)
  }

  /** Sends the prompt once the agent is ready; `before` runs a step while nothing else runs. */
  begin(before: (step: () => void) => void): void {
    this.#process.handshake.whenDone(() => {
      if (this.decoder.ended) return
      if (this.#process.dead) this.decoder.fail(this.#process.dead)
      else before(() => this.#setModel())
    })
  }

  /** Ends a turn that the agent has not got yet; interrupts any other one, once. */
  cancel(): void {
    this.decoder.cancelAsked = true
    if (!this.sent) this.decoder.cancelled()
    else if (!this.#interrupting) {
      this.#interrupting = true
      this.#process.controls.send('interrupt', {}, () => {})
    }
  }

  /** Gives the agent further input, which it takes up between two model calls. */
  steer({ input }: CommandOf<'turn-steer'>): void {
    if (this.sent) this.#ports.send(userLine(input, undefined, this.#report))
    else this.#report(dropped('turn-steer'))
  }

  readonly #report = (loss: Loss): void => this.#ports.report(loss, this.#start.turn)

  /** A prompt cannot name a model: another one than that of the process is set first. */
  #setModel(): void {
    const { model } = this.#process
    const wanted = this.#start.options.model ?? model.own
    if (this.decoder.ended) return
    if (wanted === undefined ? model.now === undefined : wanted === model.now) {
      this.#prompt()
      return
    }
    const value = wanted === undefined ? 'null' : quote(wanted)
    this.#process.controls.send('set_model', { model: value }, (reply) => {
      if (!reply || this.decoder.ended) return
      if (reply.success) model.now = wanted
      else {
        this.#report(dropped('option.model', undefined, 'unknown'))
        this.decoder.main.out.notice(
          'warning',
          'model-refused',
          `${reply.error}; the agent goes on with its own model.`,
        )
      }
      this.#prompt()
    })
  }

  #prompt(): void {
    const { ext, options } = this.#start
    const extra = ownExt(ext)
    if (ext && extra === undefined) this.#report(dropped('ext', ext.protocol))
    const { instructions } = this.#process
    const system = options.systemPrompt === instructions ? undefined : options.systemPrompt
    if (this.#start.task === 'prompt') this.#process.instructions = options.systemPrompt ?? instructions
    this.sent = true
    this.#ports.send(promptLine(this.#start, system, extra, this.#report))
  }
}
