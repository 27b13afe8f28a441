import { dropped, UnaskedTurn, unparsed } from '../../../src/codec-kit/index.ts'
import {
  type BackContext,
  type BackLink,
  type BackPorts,
  type CallEnd,
  type Frame,
  frameText,
} from '../../../src/contract/index.ts'
import {
  type Command,
  type CommandOf,
  type Fault,
  fault,
  type Item,
  isRecord,
  type Loss,
  messagePattern,
  parse,
  quote,
} from '../../../src/model/index.ts'
import type { Options } from '../schema.ts'
import { PROTOCOL, unknownExt } from '../wire.ts'
import { Asks } from './asks.ts'
import { READERS, type Reader } from './events.ts'
import { noticeOf, strayError } from './notices.ts'
import { promptFields } from './prompt.ts'
import { TurnDecoder } from './turn.ts'
import { AgentWire, type Reply } from './wire.ts'

/** A turn on its way: `waiting` was not written yet, `sent` waits for its response, `running` has it. */
interface Work {
  decoder: TurnDecoder
  start: CommandOf<'turn-start'>
  stage: 'waiting' | 'sent' | 'running'
  aborting: boolean
}

const DELTA = new Set(['type', 'delta'])

/** A `text_delta` as it is nearly always written. */
const PLAIN_DELTA = messagePattern('{"type":"text_delta","delta":*}')

/**
 * A running agent (`zot rpc`): one process, one conversation, one prompt at a time. Events name no prompt, so a prompt
 * is sent only after the `done` of the one before, and an abort only after the response of its prompt.
 */
export class ZotBack implements BackLink {
  readonly #ports: BackPorts
  readonly #wire: AgentWire
  readonly #asks: Asks
  /** Its messages were meant for another client. */
  readonly #recorded: 'agent' | 'both' | undefined
  #work: Work | undefined
  readonly #unasked: UnaskedTurn<TurnDecoder>

  constructor(context: BackContext<Options>, ports: BackPorts) {
    this.#ports = ports
    this.#recorded = context.recorded
    this.#wire = new AgentWire(context, ports, (reason) => this.#die(reason, false))
    this.#asks = new Asks(context.agent, this.#wire, ports)
    this.#unasked = new UnaskedTurn(ports, (own) => new TurnDecoder(own, '', 'prompt'))
  }

  open(): void {
    this.#wire.open()
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') this.#start(command)
    else if (command.type === 'turn-cancel') this.#cancel()
    else if (command.type !== 'foreign') this.#asks.ask(command)
    else if (command.protocol === PROTOCOL) {
      this.#wire.ready(() => {
        if (!this.#wire.dead) this.#ports.send(command.frame)
      })
    }
  }

  decode(frame: Frame): void {
    if (this.#wire.dead) return
    const line = frameText(frame)
    const work = this.#work
    const plain = work?.stage === 'running' ? PLAIN_DELTA.exec(line) : null
    if (plain) {
      work!.decoder.text(plain[1]!, undefined)
      return
    }
    const value = parse(line)
    if (!isRecord(value)) {
      this.#unparsed('foreign')
      return
    }
    if (value['type'] === 'text_delta' && work?.stage === 'running' && typeof value['delta'] === 'string') {
      work.decoder.text(value['delta'], unknownExt(line, value, DELTA))
    } else this.#decodeOther(value, line)
  }

  decodeEnd(end: CallEnd): void {
    if (!this.#wire.dead) this.#die(this.#wire.reasonOf(end), end.why === 'cancelled')
  }

  #decodeOther(value: Record<string, unknown>, line: string): void {
    const type = value['type']
    if (type === 'response') {
      this.#response(value, line)
    } else if (type === 'ext_notify' || type === 'ext_display') {
      const notice = noticeOf(this.#turnId(), value, line)
      if (notice) this.#ports.emit(notice)
      else this.#unparsed('notice')
    } else if (typeof type === 'string' && READERS.has(type)) this.#decodeEvent(type, value, line)
    else this.#foreign(line)
  }

  #response(value: Record<string, unknown>, line: string): void {
    const outcome = this.#wire.response(value, line)
    if (outcome === 'stray' && this.#recorded) {
      if (this.#recorded === 'agent') this.#foreign(line)
    } else if (outcome !== 'taken') this.#unparsed('command-reply')
  }

  #decodeEvent(type: string, value: Record<string, unknown>, line: string): void {
    const reader = READERS.get(type)!
    const work = this.#work
    // An event that only a running prompt has shows that it runs, wherever its response is.
    if (work?.stage === 'sent' && reader.starts) this.#running(work)
    if (work?.stage !== 'running') {
      this.#decodeUnasked(reader, type, value, line)
      return
    }
    const outcome = reader.read(work.decoder, value, line)
    if (outcome === 'misfit') this.#unparsed(reader.item)
    else if (outcome === 'stray') this.#foreign(line)
    if (work.decoder.ended) this.#work = undefined
  }

  /** Takes the agent's output while no prompt runs, such as a job that it finished by itself. */
  #decodeUnasked(reader: Reader, type: string, value: Record<string, unknown>, line: string): void {
    const unasked = this.#unasked
    // Before the greeting an agent has nothing to say.
    if (reader.starts && this.#wire.greeted) unasked.open()
    const { decoder } = unasked
    if (!decoder) {
      const notice = type === 'error' ? strayError(value) : undefined
      if (notice) this.#ports.emit(notice)
      return
    }
    unasked.began ||= type === 'turn_start'
    reader.read(decoder, value, line)
    if (decoder.ended || (!unasked.began && type === 'assistant_message')) unasked.end()
  }

  #start(start: CommandOf<'turn-start'>): void {
    const decoder = new TurnDecoder(this.#ports, start.turn, start.task)
    if (this.#wire.dead) {
      decoder.fail(this.#wire.dead)
      return
    }
    const work: Work = { decoder, start, stage: 'waiting', aborting: false }
    this.#work = work
    this.#wire.ready(() => this.#unasked.before(() => this.#setModel(work)))
  }

  /** A prompt cannot name a model: another one than its own, or the session's, is set first (in a recording it was, or was not needed). */
  #setModel(work: Work): void {
    if (this.#work !== work) return
    const model = this.#recorded ? undefined : (work.start.options.model ?? this.#wire.own)
    if (model === undefined || model === this.#wire.model) {
      this.#prompt(work)
      return
    }
    const before = this.#wire.model
    // Until the answer it is not known: a turn that takes the place of a cancelled one sets its own.
    this.#wire.model = undefined
    this.#wire.request('set_model', [['model', quote(model)]], (reply) => {
      this.#wire.model = reply?.success ? model : (this.#wire.model ?? before)
      if (!reply || this.#work !== work) return
      if (!reply.success) this.#keepModel(work, reply.error ?? `The agent does not take the model "${model}"`)
      this.#prompt(work)
    })
  }

  /** The client may believe that its model is set, so the loss alone would leave it with answers of another one. */
  #keepModel(work: Work, refusal: string): void {
    this.#report(work, dropped('option.model', undefined, 'unknown'))
    const text = `${refusal}; the agent goes on with ${this.#wire.model ? `"${this.#wire.model}"` : 'its own model'}.`
    this.#ports.emit({ turn: work.decoder.turn, type: 'notice', severity: 'warning', code: 'model-refused', text })
  }

  #prompt(work: Work): void {
    const { start } = work
    if (start.ext && start.ext.protocol !== PROTOCOL) {
      this.#report(work, dropped('ext', start.ext.protocol))
    }
    const compact = start.task === 'compact'
    const wished = start.options.systemPrompt
    const system = wished === this.#wire.system ? undefined : wished
    const fields = compact ? [] : promptFields(start, system, (loss) => this.#report(work, loss))
    // A compaction may summarise the instruction away: then the next prompt says it again.
    if (compact) this.#wire.system = undefined
    else if (system !== undefined) this.#wire.system = system
    work.stage = 'sent'
    this.#wire.request(start.task, fields, (reply) => this.#prompted(work, reply), start.ext)
  }

  #prompted(work: Work, reply: Reply): void {
    if (!reply || this.#work !== work) return
    if (reply.success) {
      this.#running(work)
      return
    }
    // What was folded into the prompt is in no transcript either.
    this.#wire.system = undefined
    work.decoder.fail(fault('invalid-request', reply.error ?? 'The agent refused the prompt.'))
    this.#work = undefined
  }

  #running(work: Work): void {
    if (work.stage === 'running') return
    work.stage = 'running'
    work.decoder.started()
    if (work.decoder.cancelAsked) this.#abort(work)
  }

  #cancel(): void {
    const work = this.#work
    if (!work) return
    work.decoder.cancelAsked = true
    if (work.stage === 'running') this.#abort(work)
    else if (work.stage === 'waiting') {
      work.decoder.cancelled()
      this.#work = undefined
    }
  }

  #abort(work: Work): void {
    if (work.aborting) return
    work.aborting = true
    this.#wire.request('abort', [], (reply) => {
      // An aborted compact says nothing more; an aborted prompt still ends with `done`.
      if (!reply || this.#work !== work || work.start.task === 'prompt') return
      work.decoder.cancelled()
      this.#work = undefined
    })
  }

  #turnId(): string | null {
    return this.#work?.stage === 'running' ? this.#work.decoder.turn : null
  }

  #foreign(line: string): void {
    this.#ports.emit({ turn: this.#turnId(), type: 'foreign', protocol: PROTOCOL, frame: line })
  }

  #unparsed(item: Item): void {
    if (this.#work) this.#report(this.#work, unparsed(item))
  }

  #report(work: Work, loss: Loss): void {
    this.#ports.report(loss, work.decoder.turn)
  }

  #die(reason: Fault, cancelled: boolean): void {
    const work = this.#work
    this.#work = undefined
    this.#unasked.end()
    if (cancelled) work?.decoder.cancelled()
    else work?.decoder.fail(reason)
    this.#wire.die(reason)
  }
}
