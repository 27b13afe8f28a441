import { type BackLink, type BackPorts, type CallEnd, type Frame, frameText } from '../contract/index.ts'
import {
  type Command,
  type Fault,
  fault,
  type Id,
  type Item,
  type JsonText,
  parseObject,
  type Stop,
} from '../model/index.ts'
import { unparsed } from './losses.ts'
import type { StreamJsonProcess } from './stream-json-process.ts'
import { UnaskedTurn } from './unasked.ts'

/** One line, parsed and raw. */
export interface JsonLine {
  value: Record<string, unknown>
  json: JsonText
}

/** The result of reading a line: read; not the shape of its type; not known, or about something that is not there. */
export type Reading = 'read' | 'misfit' | 'foreign'

/** Reads the lines of one type into a turn; `item` is what is lost when a line has not the shape of its type. */
export interface LineReader<Turn> {
  item: Item
  read(turn: Turn, line: JsonLine): Reading
}

/** The decoder of one turn. */
interface Decoder {
  readonly turn: Id
  readonly ended: boolean
  /** The client asked to cancel: whatever ends the turn from here on, it is cancelled. */
  cancelAsked: boolean
  /** The main agent's answer. */
  readonly main: { text(text: string): void }
  /** The agent took the turn. */
  started(): void
  /** The turn never ran, or its process is gone. */
  fail(reason: Fault, stop?: Stop): void
}

/** A turn of a client; `sent`: the agent has got its prompt, so that its lines are about this turn. */
interface Work<Turn> {
  readonly decoder: Turn
  readonly sent: boolean
}

const LOST = fault('session-not-found', 'The agent cannot go on with this session.', { retry: 'fresh-session' })

/**
 * The link of an agent that is such a process: one session, one turn at a time. Lines name no turn, so a prompt is sent
 * only after the end of the turn before.
 */
export abstract class StreamJsonBack<
  Turn extends Decoder,
  TurnWork extends Work<Turn>,
  Process extends StreamJsonProcess,
> implements BackLink
{
  protected readonly ports: BackPorts
  protected readonly process: Process
  /** The turn that the agent began itself. */
  protected readonly unasked: UnaskedTurn<Turn>
  readonly #protocol: string
  #work: TurnWork | undefined
  #bound: string | undefined
  /** The agent could not continue its session, and no turn has failed with that yet. */
  #lost = false

  constructor(protocol: string, process: Process, ports: BackPorts, decoderOn: (ports: BackPorts) => Turn) {
    this.#protocol = protocol
    this.process = process
    this.ports = ports
    this.unasked = new UnaskedTurn(ports, decoderOn)
  }

  abstract encode(command: Command): void

  /** The text of the hottest line, a piece of the main answer; undefined for every other line. */
  protected abstract readonly plainDelta: (value: Record<string, unknown>) => string | undefined

  /** Reads any other line; `turn` is the one that runs. */
  protected abstract read(line: JsonLine, turn: Turn | undefined): void

  /** A turn is about to fail: none of its questions can be answered any more. */
  protected abstract turnFails(): void

  open(bound?: string): void {
    this.process.open(bound)
  }

  decode(frame: Frame): void {
    if (!this.process.isCurrent(typeof frame === 'string' ? undefined : frame.call)) return
    const json = frameText(frame)
    const value = parseObject(json)
    if (!value) {
      if (json.trim() !== '') this.unparsed('foreign')
      return
    }
    const turn = this.running
    const text = turn && this.plainDelta(value)
    if (text === undefined) this.read({ value, json }, turn)
    else {
      turn!.started()
      turn!.main.text(text)
    }
  }

  decodeEnd(end: CallEnd): void {
    if (!this.process.isCurrent(end.call)) return
    if (this.process.startedAnew(end)) {
      this.#lost = true
      this.#failLost()
      return
    }
    if (this.current && end.why === 'cancelled') this.current.decoder.cancelAsked = true
    this.die(this.process.reasonOf(end), this.process.stopOf(end))
  }

  /** The turn that has no end yet. */
  protected get current(): TurnWork | undefined {
    return this.#work?.decoder.ended === false ? this.#work : undefined
  }

  /** The turn whose prompt the agent has got. */
  protected get running(): Turn | undefined {
    const work = this.current
    return work?.sent ? work.decoder : undefined
  }

  /** A turn begins in the session `bound`; false when it fails, because that is lost or cannot be had (`goesOn`). */
  protected begin(work: TurnWork, bound: string | undefined, goesOn = true): boolean {
    this.#work = work
    this.#bound = bound
    if (!goesOn || (this.#lost && bound !== undefined)) {
      this.#failLost()
      return false
    }
    this.#lost = false
    return true
  }

  /** The session that the agent works in: reported once a turn is in it, and again when the agent changes it. */
  protected inSession(session: string): void {
    this.process.session = session
    if (session === this.#bound) return
    this.#bound = session
    this.ports.emit({ turn: null, type: 'session-bound', agentSession: session })
  }

  /** Fails the turn that has no end. */
  protected fail(reason: Fault, stop?: Stop): void {
    const turn = this.current?.decoder
    if (!turn) return
    this.turnFails()
    turn.fail(reason, stop)
  }

  /** The process is gone, or cannot be used any more. */
  protected die(reason: Fault, stop?: Stop): void {
    this.fail(reason, stop)
    this.unasked.end()
    this.process.die(reason)
  }

  /** A line was read, or was not. */
  protected done(reading: Reading, item: Item, line: JsonLine): void {
    if (reading === 'misfit') this.unparsed(item)
    else if (reading === 'foreign') this.foreign(line)
  }

  protected foreign({ json }: JsonLine): void {
    this.ports.emit({ turn: this.running?.turn ?? null, type: 'foreign', protocol: this.#protocol, frame: json })
  }

  protected unparsed(item: Item): void {
    const turn = this.current?.decoder.turn
    if (turn !== undefined) this.ports.report(unparsed(item), turn)
  }

  #failLost(): void {
    if (!this.current) return
    this.#lost = false
    this.fail(LOST)
  }
}
