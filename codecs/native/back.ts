import { dropped, readCounts, UnaskedOutput, unparsed } from '../../src/codec-kit/index.ts'
import {
  type BackContext,
  type BackLink,
  type BackPorts,
  type CallEnd,
  type Frame,
  faultOfEnd,
  frameText,
  type WireText,
} from '../../src/contract/index.ts'
import {
  type AgentEvent,
  type Command,
  type CommandOf,
  type Fault,
  fault,
  type Id,
  type Item,
  type LinkEvent,
  type Loss,
  member,
  TextRun,
  type TurnEnd,
  type TurnEvent,
} from '../../src/model/index.ts'
import { commandLine } from './lines.ts'
import { deltasOfTurn, type ReadLine, readLine } from './read.ts'
import { modelData, PROTOCOL } from './wire.ts'

/** The number of ended turns that are remembered. */
const REMEMBERED = 100

/** An agent that speaks the model itself: one process for a session, one turn at a time. */
export class NativeBack implements BackLink {
  readonly #ports: BackPorts
  /** Its messages were meant for another client, whose ids of turns and exchanges are not ours. */
  readonly #recorded: BackContext<unknown>['recorded']
  /** Ids on that wire that are known, whoever's turns they are. */
  readonly #turns: ReadonlySet<Id> | undefined
  #ready: boolean
  #deltas = deltasOfTurn()
  /** The commands that wait until the agent is ready. */
  #waiting: Command[] = []
  #running: CommandOf<'turn-start'> | undefined
  /** Commands of a recorded client, in their order: an answer is of the first that has none. */
  #unanswered: Id[] = []
  /** Questions for messages that are not answered yet. */
  readonly #telling = new Set<Id>()
  #dead: Fault | undefined
  /** A turn that the agent began itself. */
  #unasked: UnaskedOutput | undefined
  /** The newest turns that the agent was given: what still comes of them is late. */
  readonly #over = new Set<Id>()

  constructor({ recorded, turns }: BackContext<unknown>, ports: BackPorts) {
    this.#ports = ports
    this.#recorded = recorded
    this.#turns = turns
    this.#ready = recorded !== undefined
  }

  open(): void {
    this.#ports.open({ kind: 'process', stdin: 'open' })
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') this.#begin(command)
    else if (this.#recorded) this.#unanswered.push(command.exchange)
    if (command.type === 'query' && command.what === 'messages') this.#telling.add(command.exchange)
    if (this.#dead) this.#endRun(this.#dead)
    else if (this.#ready) this.#send(command)
    else if (command.type === 'turn-cancel') this.#forget()
    else this.#waiting.push(command)
  }

  #begin(command: CommandOf<'turn-start'>): void {
    this.#endUnasked()
    this.#running = command
    this.#deltas = deltasOfTurn()
    this.#over.add(command.turn)
    if (this.#over.size > REMEMBERED) this.#over.delete(this.#over.values().next().value!)
  }

  decode(frame: Frame): void {
    if (this.#dead) return
    const line = frameText(frame)
    const read = readLine(line, this.#deltas)
    if (!this.#ready && !this.#greets(read)) return
    if (read.is === 'event') this.#event(read.event, line, read.losses ?? [])
    else if (read.is === 'fault') this.#fault(read, line)
    else if (read.is === 'foreign') this.#foreign(line, read.turn)
    else this.#wrong(read)
  }

  decodeTexts(wire: WireText): TextRun | undefined {
    const [, type, turn, message] = this.#deltas.known ?? []
    if (this.#dead || type !== 'text-delta' || !this.#isOurs(turn!)) return undefined
    const texts = this.#deltas.textsIn(wire)
    return texts.length > 0 ? TextRun.from(this.#running!.turn, message!, texts) : undefined
  }

  decodeEnd(end: CallEnd): void {
    this.#dead ??= faultOfEnd(end)
    this.#endUnasked()
    this.#endRun(this.#dead)
  }

  /** The first line is the agent's word that it is ready: what waited for it goes now. */
  #greets(read: ReadLine): boolean {
    if (read.is !== 'event' || read.event.type !== 'agent-ready') {
      const message = 'The agent must write {"type":"agent-ready"} as its first line; it wrote something else.'
      this.#dead = fault('protocol-violation', message)
      this.#ports.broken(this.#dead)
      return false
    }
    this.#ready = true
    for (const command of this.#waiting.splice(0)) this.#send(command)
    return true
  }

  #send(command: Command): void {
    const { ext } = command
    if (command.type === 'turn-start' && ext?.protocol === PROTOCOL && member(ext.json, 'session') !== undefined) {
      this.#report(dropped('ext', 'session', 'policy'))
    }
    this.#ports.send(commandLine(command))
  }

  /** A turn that was not sent yet is over without the agent. */
  #forget(): void {
    this.#waiting = this.#waiting.filter(({ type }) => type !== 'turn-start')
    this.#endRun(fault('cancelled', 'The turn was cancelled.'))
  }

  #event(event: AgentEvent, line: string, losses: readonly Loss[]): void {
    if (event.turn === null) this.#link(event, line)
    else if (this.#isOurs(event.turn)) this.#turnEvent(event, losses)
    else if (this.#running || this.#recorded || this.#over.has(event.turn)) this.#unparsed(event.type)
    else this.#unaskedEvent(event)
  }

  /** Takes the agent's output while no turn runs, such as a job that it finished by itself. */
  #unaskedEvent(event: TurnEvent): void {
    this.#unasked ??= new UnaskedOutput(this.#ports)
    this.#unasked.ports.emit(event)
    if (event.type === 'turn-end') this.#endUnasked()
  }

  #endUnasked(): void {
    this.#unasked?.tell()
    this.#unasked = undefined
  }

  #turnEvent(event: TurnEvent, losses: readonly Loss[]): void {
    const turn = this.#running!.turn
    // The gateway itself has reported that it took the turn. A recorded client got it in its time.
    if (event.type === 'turn-accepted' && this.#recorded !== 'both') return
    if (event.type === 'turn-parked') {
      this.#endRun(fault('protocol-violation', 'The agent parked the turn; on this wire it must ask with "ask".'))
      return
    }
    for (const loss of losses) this.#report(loss)
    if (event.type === 'turn-end') this.#running = undefined
    const honest = this.#honest(event)
    // It was made for this.
    honest.turn = turn
    this.#ports.emit(honest)
  }

  /** An event as everybody reads it: a failure has its reason, and counts are counts. */
  #honest(event: TurnEvent): TurnEvent {
    if (event.type === 'turn-end') return withReason(event)
    if (event.type !== 'usage') return event
    // The wire's names of counts are those of the model.
    const names = Object.fromEntries(Object.keys(event.usage).map((name) => [name, name]))
    return { ...event, usage: readCounts(event.usage, names, (loss) => this.#report(loss)) }
  }

  #link(event: LinkEvent, line: string): void {
    if (event.type !== 'command-reply') this.#ports.emit(event)
    else if (!this.#recorded) this.#reply(event)
    else if (this.#unanswered.length === 0) this.#foreign(line, null)
    else this.#reply({ ...event, exchange: this.#unanswered.shift()! })
  }

  #reply(event: LinkEvent & { type: 'command-reply' }): void {
    const telling = this.#telling.delete(event.exchange)
    const { data } = event
    this.#ports.emit(telling && data !== undefined ? { ...event, data: modelData(data) } : event)
  }

  /** Handles a fault: the end of the wire, a refused turn or command, or a notice of the agent's own. */
  #fault({ fault: found, fatal, exchange }: Extract<ReadLine, { is: 'fault' }>, line: string): void {
    const running = this.#running
    if (fatal) {
      this.#dead = found
      this.#ports.broken(found)
    } else if (exchange === undefined) {
      const turn = running?.turn ?? null
      this.#ports.emit({ turn, type: 'notice', severity: 'error', code: found.code, text: found.message })
    } else if (running && (exchange === running.exchange || this.#recorded)) this.#endRun(found)
    else this.#link({ turn: null, type: 'command-reply', exchange, fault: found }, line)
  }

  #foreign(line: string, turn: Id | null): void {
    const owner = turn !== null && this.#isOurs(turn) ? this.#running!.turn : null
    this.#ports.emit({ turn: owner, type: 'foreign', protocol: PROTOCOL, frame: line })
  }

  #wrong({ item, turn, why }: Extract<ReadLine, { is: 'wrong' }>): void {
    if (item === 'turn-end' && turn !== null && this.#isOurs(turn)) {
      this.#endRun(fault('protocol-violation', `The agent ended the turn in a way that cannot be read: ${why}.`))
    } else this.#unparsed(item)
  }

  #isOurs(turn: Id): boolean {
    if (this.#running === undefined) return false
    return turn === this.#running.turn || (this.#recorded !== undefined && !this.#turns?.has(turn))
  }

  #unparsed(item: Item): void {
    this.#report(unparsed(item))
  }

  #report(loss: Loss): void {
    if (this.#running) this.#ports.report(loss, this.#running.turn)
  }

  #endRun(why: Fault): void {
    if (!this.#running) return
    const { turn } = this.#running
    this.#running = undefined
    const outcome = why.code === 'cancelled' ? 'cancelled' : 'failed'
    this.#ports.emit({ turn, type: 'turn-end', outcome, fault: why })
  }
}

const UNSAID = fault('internal', 'The agent failed and did not say why; see its own log.')

/** An end as everybody reads it: a failure has a fault, and what has one is no success. */
function withReason(end: TurnEnd): TurnEnd {
  if (end.outcome === 'failed' && end.fault === undefined) return { ...end, fault: UNSAID }
  return end.outcome === 'completed' && end.fault !== undefined ? { ...end, outcome: 'failed' } : end
}
