import { dropped, Uuids, wordTable } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import { type CommandOf, fault, type Loss, member, quote } from '../../../src/model/index.ts'
import type { Result } from '../schema.ts'
import { ownExt } from '../wire.ts'
import type { ClaudeProcess } from './process.ts'
import { promptLine, userLine } from './prompt.ts'
import { succeeded, TurnDecoder } from './turn.ts'

/** The fate of a message by the `state` of its `command_lifecycle`. */
const FATES = wordTable<'taken' | 'over' | 'left'>({
  started: 'taken',
  completed: 'over',
  cancelled: 'left',
  discarded: 'left',
  refused: 'left',
})

const NOT_TAKEN = fault('agent-unavailable', 'The agent did not take the message up.', { retryable: false })

/** A turn of a client: its model is set, then the agent gets the prompt; it may be steered and interrupted. */
export class Work {
  readonly decoder: TurnDecoder
  readonly #start: CommandOf<'turn-start'>
  readonly #process: ClaudeProcess
  readonly #ports: BackPorts
  readonly #uuids: Uuids
  /** The id of the prompt on the wire, once it is written. */
  #prompt: string | undefined
  /** The messages that the agent has not taken up yet, the prompt and further input, by their ids. */
  readonly #queued = new Set<string>()
  #interrupting = false
  #withdrawn = false

  constructor(start: CommandOf<'turn-start'>, process: ClaudeProcess, ports: BackPorts) {
    this.#start = start
    this.#process = process
    this.#ports = ports
    this.#uuids = new Uuids(start.turn)
    this.decoder = new TurnDecoder(ports, start, process.usage)
  }

  /** The lines of the agent are about this turn: it works on the prompt, or does not say on what it works. */
  get sent(): boolean {
    const prompt = this.#prompt
    return prompt !== undefined && !(this.#process.reportsLifecycle && this.#queued.has(prompt))
  }

  /** The turn is recorded: its prompt was meant for another agent. */
  replayed(): void {
    this.#prompt = ''
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
    if (this.#prompt === undefined) this.decoder.cancelled()
    else if (!this.#interrupting) {
      this.#interrupting = true
      this.#withdraw()
      if (this.sent) this.#interrupt()
      this.decoder.noMore()
    }
  }

  /**
   * Gives the agent further input, which it takes up between two model calls, or after its answer. An agent that does not
   * say when gets none: its next answer could be that to the input or that to the next prompt.
   */
  steer({ input }: CommandOf<'turn-steer'>): void {
    const takes = this.#prompt !== undefined && this.#process.reportsLifecycle && !this.decoder.cancelAsked
    if (takes) this.#ports.send(userLine(input, this.#queue(), undefined, this.#report))
    else this.#report(dropped('turn-steer'))
  }

  /** `command_lifecycle`: what has become of a message. */
  lifecycle(uuid: unknown, state: unknown): void {
    const fate = FATES.get(state)
    if (typeof uuid !== 'string' || fate === undefined || !this.#queued.delete(uuid)) return
    if (uuid === this.#prompt) {
      if (fate !== 'taken') this.decoder.fail(NOT_TAKEN)
    } else if (fate !== 'left') this.decoder.resume()
    else {
      if (!this.decoder.cancelAsked) this.#report(dropped('turn-steer'))
      if (this.#queued.size === 0) this.decoder.noMore()
    }
  }

  /** `result`: the turn is over, unless further input waits: the agent answers that next. */
  result(result: Result): void {
    const waits = this.#process.reportsLifecycle && this.#queued.size > 0
    if (waits && succeeded(result) && !this.decoder.cancelAsked) {
      this.decoder.pause(result)
      return
    }
    if (waits && !this.decoder.cancelAsked) this.#report(dropped('turn-steer'))
    this.#withdraw()
    this.decoder.result(result)
  }

  readonly #report = (loss: Loss): void => this.#ports.report(loss, this.#start.turn)

  #interrupt(): void {
    this.#process.controls.send('interrupt', {}, () => {})
  }

  /**
   * Takes back, once, what the agent has not taken up, because it would work on it later. A prompt that it has begun
   * meanwhile is interrupted.
   */
  #withdraw(): void {
    if (this.#withdrawn || !this.#process.reportsLifecycle) return
    this.#withdrawn = true
    for (const uuid of this.#queued) {
      this.#process.controls.send('cancel_async_message', { message_uuid: quote(uuid) }, (reply) => {
        if (uuid !== this.#prompt || !reply || this.decoder.ended) return
        if (reply.success && member(reply.raw, 'cancelled') === 'true') this.decoder.cancelled()
        else this.#interrupt()
      })
    }
  }

  /** The id of a new message. */
  #queue(): string {
    const uuid = this.#uuids.next()
    this.#queued.add(uuid)
    return uuid
  }

  /** A prompt cannot name a model: another one than that of the process is set first. */
  #setModel(): void {
    const { model } = this.#process
    const wanted = this.#start.options.model ?? model.own
    if (this.decoder.ended) return
    if (wanted === undefined ? model.now === undefined : wanted === model.now) {
      this.#send()
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
      this.#send()
    })
  }

  #send(): void {
    const { ext, options } = this.#start
    const extra = ownExt(ext)
    if (ext && extra === undefined) this.#report(dropped('ext', ext.protocol))
    const { instructions } = this.#process
    const system = options.systemPrompt === instructions ? undefined : options.systemPrompt
    if (this.#start.task === 'prompt') this.#process.instructions = options.systemPrompt ?? instructions
    this.#prompt = this.#queue()
    this.#ports.send(promptLine(this.#start, this.#prompt, system, extra, this.#report))
  }
}
