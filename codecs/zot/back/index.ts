import { DeltaShape, UnaskedTurn, unparsed } from '../../../src/codec-kit/index.ts'
import {
  type BackContext,
  type BackLink,
  type BackPorts,
  type CallEnd,
  type Frame,
  frameText,
  type WireText,
} from '../../../src/contract/index.ts'
import {
  type Command,
  type CommandOf,
  type Fault,
  type Item,
  isRecord,
  messagePattern,
  parse,
  type TextRun,
} from '../../../src/model/index.ts'
import type { Options } from '../schema.ts'
import { PROTOCOL, unknownExt } from '../wire.ts'
import { Asks } from './asks.ts'
import { READERS, type Reader } from './events.ts'
import { noticeOf, strayError } from './notices.ts'
import { TurnDecoder } from './turn.ts'
import { AgentWire } from './wire.ts'
import { Work } from './work.ts'

const DELTA = new Set(['type', 'delta'])

/** A `text_delta` as it is nearly always written. */
const PLAIN_DELTA = messagePattern('{"type":"text_delta","delta":*}')
/** The same without a place for anything else. */
const DELTAS = new DeltaShape('{"type":"text_delta","delta":"', '"}', undefined)

/**
 * A running agent (`zot rpc`): one process, one conversation, one prompt at a time. Events name no prompt, so a prompt
 * is sent only after the `done` of the one before, and an abort only after the response of its prompt.
 */
export class ZotBack implements BackLink {
  readonly #ports: BackPorts
  readonly #wire: AgentWire
  readonly #asks: Asks
  #work: Work | undefined
  readonly #unasked: UnaskedTurn<TurnDecoder>

  constructor(context: BackContext<Options>, ports: BackPorts) {
    this.#ports = ports
    this.#wire = new AgentWire(context, ports, (reason) => this.#die(reason, false))
    this.#asks = new Asks(context.agent, this.#wire, ports)
    this.#unasked = new UnaskedTurn(ports, (own) => new TurnDecoder(own, '', 'prompt'))
  }

  open(): void {
    this.#wire.open()
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') this.#start(command)
    else if (command.type === 'turn-cancel') this.#current?.cancel()
    else if (command.type !== 'foreign') this.#asks.ask(command)
    else if (command.protocol === PROTOCOL) {
      this.#wire.handshake.whenDone(() => {
        if (!this.#wire.dead) this.#ports.send(command.frame)
      })
    }
  }

  decode(frame: Frame): void {
    if (this.#wire.dead) return
    const line = frameText(frame)
    const work = this.#current
    const decoder = work?.running ? work.decoder : undefined
    const plain = decoder && PLAIN_DELTA.exec(line)
    if (plain) {
      decoder.text(plain[1]!, undefined)
      return
    }
    const value = parse(line)
    if (!isRecord(value)) {
      this.#unparsed('foreign')
      return
    }
    if (decoder && value['type'] === 'text_delta' && typeof value['delta'] === 'string') {
      decoder.text(value['delta'], unknownExt(line, value, DELTA))
    } else this.#decodeOther(value, line)
  }

  decodeTexts(wire: WireText): TextRun | undefined {
    const work = this.#current
    return work?.running && !this.#wire.dead ? work.decoder.texts(DELTAS.textsIn(wire)) : undefined
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
    if (outcome === 'stray' && this.#wire.recorded) {
      if (this.#wire.recorded === 'agent') this.#foreign(line)
    } else if (outcome !== 'taken') this.#unparsed('command-reply')
  }

  #decodeEvent(type: string, value: Record<string, unknown>, line: string): void {
    const reader = READERS.get(type)!
    const work = this.#current
    // An event that only a running prompt has shows that it runs, wherever its response is.
    if (work?.sent && reader.starts) work.run()
    if (!work?.running) {
      this.#decodeUnasked(reader, type, value, line)
      return
    }
    const outcome = reader.read(work.decoder, value, line)
    if (outcome === 'misfit') this.#unparsed(reader.item)
    else if (outcome === 'stray') this.#foreign(line)
  }

  /** Takes the agent's output while no prompt runs, such as a job that it finished by itself. */
  #decodeUnasked(reader: Reader, type: string, value: Record<string, unknown>, line: string): void {
    const unasked = this.#unasked
    // Before the greeting an agent has no output.
    if (reader.starts && this.#wire.handshake.done) unasked.open()
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
    const work = new Work(start, this.#wire, this.#ports)
    if (this.#wire.dead) {
      work.decoder.fail(this.#wire.dead)
      return
    }
    this.#work = work
    work.begin((step) => this.#unasked.before(step))
  }

  /** The turn that has no end yet. */
  get #current(): Work | undefined {
    return this.#work?.decoder.ended === false ? this.#work : undefined
  }

  #turnId(): string | null {
    const work = this.#current
    return work?.running ? work.decoder.turn : null
  }

  #foreign(line: string): void {
    this.#ports.emit({ turn: this.#turnId(), type: 'foreign', protocol: PROTOCOL, frame: line })
  }

  #unparsed(item: Item): void {
    this.#current?.decoder.report(unparsed(item))
  }

  #die(reason: Fault, cancelled: boolean): void {
    const decoder = this.#current?.decoder
    this.#work = undefined
    this.#unasked.end()
    if (cancelled) decoder?.cancelled()
    else decoder?.fail(reason)
    this.#wire.die(reason)
  }
}
