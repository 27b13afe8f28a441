import {
  type Answer,
  type Frame,
  type FrontLink,
  type FrontPorts,
  frameText,
  type InputFate,
} from '../../../src/contract/index.ts'
import {
  type Command,
  type Fault,
  fault,
  type Id,
  type LinkEvent,
  object,
  parseObject,
  type QueryWhat,
  quote,
  type Target,
  type TextRun,
  type TurnEvent,
  type TurnView,
} from '../../../src/model/index.ts'
import { DeltaLines, eventLine, faultLine } from '../lines.ts'
import { readCommand } from '../read.ts'
import { wireData } from '../wire.ts'

/** The client's own ids of an exchange and its turn. */
interface Opened {
  exchange: string | undefined
  /** The client's name of the turn that it shows. */
  named: string | undefined
  /** Its answer holds messages or questions. */
  told: boolean
}

/** The number of names of turns that are remembered: those that the client gave last. */
const MOST_NAMES = 1000

/** Queries whose answers hold messages or questions. */
const TELLING: ReadonlySet<QueryWhat> = new Set(['messages', 'session', 'turn'])

const ANSWER: Answer = { form: 'stream', framing: 'ndjson', onDisconnect: 'cancel', asks: 'inline' }

/** A client on lines: commands in, events out, any number of turns at a time. */
export class NativeFront implements FrontLink {
  readonly #ports: FrontPorts
  readonly #opened = new Map<Id, Opened>()
  /** The gateway's ids of turns by the client's names, also of those that have ended. */
  readonly #turns = new Map<string, Id>()
  /** The client's name of the exchange whose command is being refused. */
  #refused: string | undefined
  readonly #deltas = new DeltaLines()

  constructor(ports: FrontPorts) {
    this.#ports = ports
  }

  /** As an agent of this protocol it says first that it is ready. */
  open(): void {
    this.#ports.send(eventLine({ turn: null, type: 'agent-ready' }, {}))
  }

  decode(frame: Frame): void {
    const line = frameText(frame)
    const value = parseObject(line)
    const read = value ? readCommand(line, value) : { wrong: 'the line is not a JSON object' }
    if ('wrong' in read) {
      this.#refused = read.exchange
      this.#ports.fault(fault('invalid-request', `The command cannot be read: ${read.wrong}.`), 'continues')
      this.#refused = undefined
      return
    }
    const exchange = this.#ports.newId()
    const turn = read.type === 'turn-start' ? this.#ports.newId() : ''
    const said = read.command(exchange, turn)
    const told = said.type === 'query' && TELLING.has(said.what)
    const named = said.type === 'turn-follow' ? nameIn(said.target) : read.turn
    if (read.turn !== undefined && turn !== '') this.#name(read.turn, turn)
    this.#opened.set(exchange, { exchange: read.exchange, named, told })
    this.#ports.command(this.#meant(said), ANSWER)
  }

  encode(event: TurnEvent, exchange: Id, view: TurnView): void {
    const opened = this.#opened.get(exchange)
    const turn = opened?.named ?? event.turn
    const delta = this.#deltas.line(event, turn, view.seq)
    if (delta !== undefined) {
      this.#ports.send(delta)
      return
    }
    const extras = { seq: view.seq, turn }
    if (event.type === 'turn-accepted') {
      this.#ports.send(eventLine(event, { ...extras, exchange: opened?.exchange }))
    } else if (event.type === 'turn-end') {
      this.#opened.delete(exchange)
      const losses = this.#ports.losses(exchange)
      this.#ports.send(eventLine(event, { ...extras, ...(losses.length > 0 && { losses }) }))
    } else this.#ports.send(eventLine(event, extras))
  }

  encodeTexts(run: TextRun, exchange: Id, view: TurnView): void {
    const turn = this.#opened.get(exchange)?.named ?? run.turn
    this.#ports.sendRun(this.#deltas.lines(run, turn, view.seq))
  }

  encodeLink(event: LinkEvent): void {
    if (event.type !== 'command-reply') {
      this.#ports.send(eventLine(event, {}))
      return
    }
    const opened = event.more ? this.#opened.get(event.exchange) : this.#closed(event.exchange)
    const { data } = event
    const exchange = opened?.exchange ?? event.exchange
    const shown = data !== undefined && opened?.told ? wireData(data) : data
    this.#ports.send(eventLine({ ...event, exchange, ...(shown !== undefined && { data: shown }) }, {}))
  }

  encodeFault(found: Fault, exchange: Id | undefined, input: InputFate): void {
    if (exchange === undefined) {
      this.#ports.send(faultLine(found, this.#refused, input, []))
      return
    }
    const named = this.#closed(exchange)?.exchange ?? exchange
    this.#ports.send(faultLine(found, named, input, this.#ports.losses(exchange)))
  }

  /** The exchange is over; gives what was known of it. */
  #closed(exchange: Id): Opened | undefined {
    const opened = this.#opened.get(exchange)
    this.#opened.delete(exchange)
    return opened
  }

  #name(named: string, turn: Id): void {
    this.#turns.delete(named)
    this.#turns.set(named, turn)
    if (this.#turns.size > MOST_NAMES) this.#turns.delete(this.#turns.keys().next().value!)
  }

  /** The command with the gateway's id of the turn that the client calls by its own. */
  #meant(command: Command): Command {
    if ('target' in command) return { ...command, target: this.#targetOf(command.target) }
    if (command.type === 'turn-start') {
      const after = this.#turnOf(command.after)
      return after === undefined ? command : { ...command, after }
    }
    if (command.type !== 'query' || command.what !== 'turn') return command
    const asked = parseObject(command.args ?? '')?.['turn']
    const turn = this.#turnOf(typeof asked === 'string' ? asked : undefined)
    return turn === undefined ? command : { ...command, args: object({ turn: quote(turn) }) }
  }

  #targetOf(target: Target): Target {
    const turn = this.#turnOf(nameIn(target))
    return turn === undefined ? target : { turn }
  }

  /** The gateway's id of the turn that the client calls so. */
  #turnOf(named: Id | undefined): Id | undefined {
    return named === undefined ? undefined : this.#turns.get(named)
  }
}

/** The client's name of the turn that a command targets, if it names one. */
function nameIn(target: Target): string | undefined {
  return target !== 'running' && 'turn' in target ? target.turn : undefined
}
