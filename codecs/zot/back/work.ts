import { dropped } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import { type CommandOf, fault, quote } from '../../../src/model/index.ts'
import { PROTOCOL } from '../wire.ts'
import { promptFields } from './prompt.ts'
import { TurnDecoder } from './turn.ts'
import type { AgentWire, Reply } from './wire.ts'

/**
 * A turn of a client on its way: its model is set, then the agent gets the prompt, and answers that it runs. It is
 * aborted only then, because an abort names no prompt.
 */
export class Work {
  readonly decoder: TurnDecoder
  /** `waiting` was not written yet, `sent` waits for its response, `running` has it. */
  #stage: 'waiting' | 'sent' | 'running' = 'waiting'
  readonly #start: CommandOf<'turn-start'>
  readonly #wire: AgentWire
  #aborting = false

  constructor(start: CommandOf<'turn-start'>, wire: AgentWire, ports: BackPorts) {
    this.#start = start
    this.#wire = wire
    this.decoder = new TurnDecoder(ports, start.turn, start.task)
  }

  /** The agent has answered that it runs the prompt, or shows it. */
  get running(): boolean {
    return this.#stage === 'running'
  }

  /** The prompt is written, and not answered yet. */
  get sent(): boolean {
    return this.#stage === 'sent'
  }

  /** Sends the prompt once the agent is ready; `before` runs a step when nothing else runs. */
  begin(before: (step: () => void) => void): void {
    this.#wire.handshake.whenDone(() => before(() => this.#setModel()))
  }

  /** The prompt runs. */
  run(): void {
    if (this.#stage === 'running') return
    this.#stage = 'running'
    this.decoder.started()
    if (this.decoder.cancelAsked) this.#abort()
  }

  cancel(): void {
    this.decoder.cancelAsked = true
    if (this.#stage === 'running') this.#abort()
    else if (this.#stage === 'waiting') this.decoder.cancelled()
  }

  /** A prompt cannot name a model: another one than its own, or the session's, is set first (in a recording it was, or was not needed). */
  #setModel(): void {
    if (this.decoder.ended) return
    const wire = this.#wire
    const model = wire.recorded ? undefined : (this.#start.options.model ?? wire.own)
    if (model === undefined || model === wire.model) {
      this.#prompt()
      return
    }
    const before = wire.model
    // Until the answer it is not known: a turn that takes the place of a cancelled one sets its own.
    wire.model = undefined
    wire.request('set_model', { model: quote(model) }, (reply) => {
      wire.model = reply?.success ? model : (wire.model ?? before)
      if (!reply || this.decoder.ended) return
      if (!reply.success) this.#keepModel(reply.error ?? `The agent does not take the model "${model}"`)
      this.#prompt()
    })
  }

  /** The client may believe that its model is set, so the loss alone would leave it with answers of another one. */
  #keepModel(refusal: string): void {
    const { model } = this.#wire
    this.decoder.report(dropped('option.model', undefined, 'unknown'))
    const text = `${refusal}; the agent goes on with ${model ? `"${model}"` : 'its own model'}.`
    this.decoder.notice('warning', 'model-refused', text)
  }

  #prompt(): void {
    const { ext, task, options } = this.#start
    const wire = this.#wire
    if (ext && ext.protocol !== PROTOCOL) this.decoder.report(dropped('ext', ext.protocol))
    const compact = task === 'compact'
    const system = options.systemPrompt === wire.system ? undefined : options.systemPrompt
    const fields = compact ? {} : promptFields(this.#start, system, (loss) => this.decoder.report(loss))
    // A compaction may summarise the instruction away: then the next prompt says it again.
    if (compact) wire.system = undefined
    else if (system !== undefined) wire.system = system
    this.#stage = 'sent'
    wire.request(task, fields, (reply) => this.#prompted(reply), ext)
  }

  #prompted(reply: Reply): void {
    if (!reply || this.decoder.ended) return
    if (reply.success) {
      this.run()
      return
    }
    // A system prompt that was put before the prompt is in no transcript either.
    this.#wire.system = undefined
    this.decoder.fail(fault('invalid-request', reply.error ?? 'The agent refused the prompt.'))
  }

  #abort(): void {
    if (this.#aborting) return
    this.#aborting = true
    this.#wire.request('abort', {}, (reply) => {
      // An aborted compact says nothing more; an aborted prompt still ends with `done`.
      if (reply && !this.decoder.ended && this.#start.task !== 'prompt') this.decoder.cancelled()
    })
  }
}
