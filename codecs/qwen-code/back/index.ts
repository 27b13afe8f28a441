import * as v from 'valibot'
import { keysOf, UnaskedTurn, unknownMembers, unparsed } from '../../../src/codec-kit/index.ts'
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
  parse,
  type Stop,
} from '../../../src/model/index.ts'
import { Result, SystemInit } from '../schema.ts'
import { PROTOCOL } from '../wire.ts'
import { Asks } from './asks.ts'
import { runCommand } from './commands.ts'
import { faultOfText, limitOfExit } from './errors.ts'
import { isOtherDialect, LINES, type Line, plainDelta, type Reading } from './lines.ts'
import { CliProcess } from './process.ts'
import { interrupt, startWork, type Work } from './start.ts'
import { readSystem } from './system.ts'
import { TurnDecoder } from './turn.ts'

const INIT: ReadonlySet<string> = new Set(['type', 'subtype', 'uuid', 'session_id'])
const RESULT = keysOf(Result)

const LOST = fault('session-not-found', 'The agent cannot go on with this session.', { retry: 'fresh-session' })

/**
 * A running Qwen Code CLI: one process, one session, one turn at a time. Lines name no turn, so a message is sent only
 * after the `result` of the one before. A session that the gateway remembers continues in a new process.
 */
export class QwenCodeBack implements BackLink {
  readonly #ports: BackPorts
  readonly #process: CliProcess
  readonly #asks: Asks
  #work: Work | undefined
  readonly #unasked: UnaskedTurn<TurnDecoder>
  /** The version of the CLI. */
  #version: string | undefined
  #bound: string | undefined
  #heard = false
  /** The agent could not continue its session, and no turn has failed with that yet. */
  #lost = false

  constructor(context: BackContext<unknown>, ports: BackPorts) {
    this.#ports = ports
    this.#process = new CliProcess(context, ports)
    this.#asks = new Asks(ports)
    this.#unasked = new UnaskedTurn(ports, (own) => new TurnDecoder(own, '', this.#process.meter))
  }

  open(bound?: string): void {
    this.#process.open(bound)
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') this.#start(command)
    else if (command.type === 'turn-cancel') this.#cancel()
    else if (command.type === 'ask-reply') {
      if (this.#asks.reply(command, this.#running())) this.#cancel()
    } else if (command.type === 'config-set' || command.type === 'query' || command.type === 'foreign') {
      runCommand(command, this.#process, this.#ports)
    }
  }

  decode(frame: Frame): void {
    if (!this.#process.isCurrent(typeof frame === 'string' ? undefined : frame.call)) return
    const json = frameText(frame)
    const value = parse(json)
    if (!isRecord(value)) {
      if (json.trim() !== '') this.#unparsed('foreign')
      return
    }
    const turn = this.#running()
    const text = turn && value['type'] === 'stream_event' ? plainDelta(value) : undefined
    if (turn && text !== undefined) {
      turn.started()
      turn.main.text(text)
    } else this.#read({ value, json }, turn)
  }

  decodeEnd(end: CallEnd): void {
    if (!this.#process.isCurrent(end.call)) return
    if (this.#process.startedAnew(end)) {
      this.#lost = true
      if (this.#current) this.#fail(LOST)
      return
    }
    if (this.#work && end.why === 'cancelled') this.#work.decoder.cancelAsked = true
    this.#die(this.#process.reasonOf(end), limitOfExit(end) && 'max-turns')
  }

  #read(line: Line, turn: TurnDecoder | undefined): void {
    const { value, json } = line
    const { type } = value
    if (!this.#heard && isOtherDialect(value)) {
      const text =
        'The agent speaks the protocol of the RFC, not that of the shipped Qwen Code: set `protocol: qwen` in its configuration.'
      const reason = fault('protocol-violation', text)
      this.#die(reason)
      this.#ports.broken(reason)
      return
    }
    this.#heard = true
    if (type === 'control_response') {
      this.#done(this.#process.controls.answer(value, json), 'command-reply', line)
    } else if (type === 'control_request') {
      this.#done(this.#asks.read(turn, line), 'ask', line)
    } else if (type === 'result') this.#result(line, turn)
    else if (type === 'system') this.#system(line, turn)
    else if (turn) this.#content(line, turn)
    else if (!LINES.has(type)) this.#foreign(line)
    // Before the greeting an agent has no output.
    else if (this.#process.handshake.done) this.#content(line, this.#unasked.open())
  }

  #content(line: Line, turn: TurnDecoder): void {
    const reader = LINES.get(line.value['type'])
    if (!reader) {
      this.#foreign(line)
      return
    }
    turn.started()
    this.#done(reader.read(turn, line), reader.item, line)
    if (line.value['type'] === 'user') this.#asks.toolEnded(turn, line)
  }

  #system(line: Line, turn: TurnDecoder | undefined): void {
    if (line.value['subtype'] === 'init') this.#init(line, turn)
    else if (turn) {
      turn.started()
      this.#done(readSystem(turn, line), 'notice', line)
    } else this.#foreign(line)
  }

  #init({ value, json }: Line, turn: TurnDecoder | undefined): void {
    const { success, output } = v.safeParse(SystemInit, value)
    if (!success) {
      this.#unparsed('turn-started')
      return
    }
    const { settings } = this.#process
    if (output.model !== undefined) settings.now.model = output.model
    if (turn && this.#work?.start.options.model === undefined) settings.ownModel = settings.now.model
    this.#version = output.qwen_code_version ?? this.#version
    this.#inSession(output.session_id)
    turn?.started(unknownMembers(json, value, INIT))
    // Only output that begins like a turn ends with a result.
    if (turn || !this.#process.handshake.done) return
    this.#unasked.open()
    this.#unasked.began = true
  }

  /** The session that the agent works in: reported once a turn is in it, and again when the agent changes it. */
  #inSession(session: string | undefined): void {
    if (!session) return
    this.#process.session = session
    if (session === this.#bound) return
    this.#bound = session
    this.#ports.emit({ turn: null, type: 'session-bound', agentSession: session })
  }

  #result({ value, json }: Line, turn: TurnDecoder | undefined): void {
    const { success, output } = v.safeParse(Result, value)
    if (!success) {
      this.#unparsed('turn-end')
      const text = 'The agent ended the turn in a way that cannot be read.'
      this.#fail(fault('protocol-violation', text))
    } else if (turn) {
      turn.started()
      this.#inSession(output.session_id)
      this.#asks.turnEnds(turn)
      turn.result(output, this.#version, unknownMembers(json, value, RESULT))
    } else {
      // An agent that cannot start says why in a result, before it ends.
      if (!this.#process.handshake.done && output.is_error) this.#process.refusal = faultOfText(output.error?.message)
      this.#unasked.decoder?.result(output, this.#version, undefined)
      this.#unasked.end()
    }
  }

  #start(start: CommandOf<'turn-start'>): void {
    const decoder = new TurnDecoder(this.#ports, start.turn, this.#process.meter)
    const work: Work = { decoder, start, stage: 'waiting', interrupting: false }
    this.#work = work
    const bound = start.session?.bound
    this.#bound = bound
    if (this.#lost && bound !== undefined) {
      this.#fail(LOST)
      return
    }
    this.#lost = false
    const process = this.#process
    if (!process.dead && process.isElsewhere(bound)) process.restart(bound ?? process.session)
    // Lines name no turn: those of a turn that the agent began itself would be taken for those of this one.
    process.handshake.whenDone(() => this.#unasked.before(() => startWork(work, process, this.#ports)))
  }

  #cancel(): void {
    const work = this.#current
    if (!work || work.interrupting) return
    work.decoder.cancelAsked = true
    if (work.stage === 'waiting') work.decoder.cancelled()
    else interrupt(work, this.#process)
  }

  #die(reason: Fault, stop?: Stop): void {
    this.#fail(reason, stop)
    this.#unasked.end()
    this.#process.die(reason)
  }

  #fail(reason: Fault, stop?: Stop): void {
    if (reason === LOST) this.#lost = false
    const decoder = this.#current?.decoder
    if (decoder) this.#asks.turnEnds(decoder)
    decoder?.fail(reason, stop)
  }

  /** The turn that has no end yet. */
  get #current(): Work | undefined {
    return this.#work?.decoder.ended === false ? this.#work : undefined
  }

  #running(): TurnDecoder | undefined {
    const work = this.#current
    return work?.stage === 'sent' ? work.decoder : undefined
  }

  #done(reading: Reading, item: Item, line: Line): void {
    if (reading === 'misfit') this.#unparsed(item)
    else if (reading === 'foreign') this.#foreign(line)
  }

  #foreign({ json }: Line): void {
    this.#ports.emit({ turn: this.#running()?.turn ?? null, type: 'foreign', protocol: PROTOCOL, frame: json })
  }

  #unparsed(item: Item): void {
    const turn = this.#current?.decoder.turn
    if (turn !== undefined) this.#ports.report(unparsed(item), turn)
  }
}
