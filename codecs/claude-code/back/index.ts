import * as v from 'valibot'
import { UnaskedTurn, unparsed } from '../../../src/codec-kit/index.ts'
import {
  type BackContext,
  type BackLink,
  type BackPorts,
  type CallEnd,
  type Frame,
  frameText,
} from '../../../src/contract/index.ts'
import { type Command, type CommandOf, fault, type Item, parseObject } from '../../../src/model/index.ts'
import { Init, Result } from '../schema.ts'
import { PROTOCOL } from '../wire.ts'
import { Asks } from './asks.ts'
import { runCommand } from './commands.ts'
import { LINES, type Line, plainDelta, type Reading } from './lines.ts'
import { ClaudeProcess } from './process.ts'
import { TurnDecoder } from './turn.ts'
import { Work } from './work.ts'

const LOST = fault('session-not-found', 'The agent cannot go on with this session.', { retry: 'fresh-session' })

/** A running `claude -p` with JSON lines both ways: one process, one session, one turn at a time. */
export class ClaudeCodeBack implements BackLink {
  readonly #ports: BackPorts
  readonly #process: ClaudeProcess
  readonly #asks: Asks
  readonly #unasked: UnaskedTurn<TurnDecoder>
  #work: Work | undefined
  #bound: string | undefined
  /** The agent could not continue its session, and no turn has failed with that yet. */
  #lost = false

  constructor(context: BackContext<unknown>, ports: BackPorts) {
    this.#ports = ports
    this.#process = new ClaudeProcess(context, ports)
    this.#asks = new Asks(ports)
    const start = { turn: '', task: 'prompt' } as const
    this.#unasked = new UnaskedTurn(ports, (own) => new TurnDecoder(own, start, this.#process.usage))
  }

  open(bound?: string): void {
    this.#process.open(bound)
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') this.#start(command)
    else if (command.type === 'turn-cancel') this.#current?.cancel()
    else if (command.type === 'turn-steer') this.#current?.steer(command)
    else if (command.type === 'ask-reply') {
      if (this.#asks.reply(command) && this.#current) this.#current.decoder.cancelAsked = true
    } else if (command.type === 'config-set' || command.type === 'query') {
      runCommand(command, this.#process, this.#ports)
    }
  }

  decode(frame: Frame): void {
    if (!this.#process.isCurrent(typeof frame === 'string' ? undefined : frame.call)) return
    const json = frameText(frame)
    const value = parseObject(json)
    if (!value) {
      if (json.trim() !== '') this.#unparsed('foreign')
      return
    }
    const turn = this.#running
    const text = turn && plainDelta(value)
    if (text === undefined) this.#read({ value, json }, turn)
    else turn!.main.text(text)
  }

  decodeEnd(end: CallEnd): void {
    if (!this.#process.isCurrent(end.call)) return
    if (this.#process.startedAnew(end)) {
      this.#lost = true
      this.#failLost()
      return
    }
    const reason = this.#process.reasonOf(end)
    const work = this.#current
    if (work && end.why === 'cancelled') work.decoder.cancelAsked = true
    this.#asks.turnEnds()
    work?.decoder.fail(reason)
    this.#unasked.end()
    this.#process.die(reason)
  }

  #start(start: CommandOf<'turn-start'>): void {
    const work = new Work(start, this.#process, this.#ports)
    this.#work = work
    const bound = start.session?.bound
    const origin = start.session?.origin
    this.#bound = bound
    if ((this.#lost && bound !== undefined) || (origin !== undefined && this.#process.isPinned)) {
      this.#failLost()
      return
    }
    this.#lost = false
    if (this.#process.recorded) {
      work.sent = true
      return
    }
    if (origin !== undefined && !this.#process.dead) this.#process.restart(origin, 'copy')
    else if (!this.#process.dead && this.#process.isElsewhere(bound)) this.#process.restart(bound)
    work.begin((step) => this.#unasked.before(step))
  }

  #failLost(): void {
    const work = this.#current
    if (!work) return
    this.#lost = false
    work.decoder.fail(LOST)
  }

  #read(line: Line, turn: TurnDecoder | undefined): void {
    const { value, json } = line
    switch (value['type']) {
      case 'control_response':
        this.#done(this.#process.controls.answer(value, json), 'command-reply', line)
        return
      case 'control_request':
        this.#done(this.#asks.read(turn, line), 'ask', line)
        return
      case 'control_cancel_request':
        this.#asks.cancelled(line)
        return
      case 'keep_alive':
        return
      case 'result':
        this.#result(line, turn)
        return
      default:
        if (value['type'] === 'system' && value['subtype'] === 'init') this.#init(line, turn)
        else this.#content(line, turn)
    }
  }

  #init({ value }: Line, turn: TurnDecoder | undefined): void {
    if (!v.is(Init, value)) {
      this.#unparsed('turn-started')
      return
    }
    this.#process.session = value.session_id
    if (value.session_id !== this.#bound) {
      this.#bound = value.session_id
      this.#ports.emit({ turn: null, type: 'session-bound', agentSession: value.session_id })
    }
    if (turn) turn.main.out.started()
    else {
      this.#unasked.open()
      this.#unasked.began = true
    }
  }

  #content(line: Line, turn: TurnDecoder | undefined): void {
    const reader = LINES.get(line.value['type'])
    if (!reader) this.#foreign(line)
    else if (turn) {
      turn.main.out.started()
      this.#done(reader.read(turn, line), reader.item, line)
    }
    // Lines between turns without a begin of their own are the state of tasks and of the session, not output.
    else if (this.#unasked.began) reader.read(this.#unasked.open(), line)
    else this.#foreign(line)
  }

  #result({ value }: Line, turn: TurnDecoder | undefined): void {
    const { success, output } = v.safeParse(Result, value)
    if (turn) this.#asks.turnEnds()
    if (turn && !success) {
      this.#unparsed('turn-end')
      turn.fail(fault('protocol-violation', 'The agent ended the turn in a way that cannot be read.'))
    } else if (turn && success) {
      turn.main.out.started()
      turn.result(output)
    } else {
      if (success) this.#unasked.decoder?.result(output)
      this.#unasked.end()
    }
  }

  /** The turn that has no end yet. */
  get #current(): Work | undefined {
    return this.#work?.decoder.ended === false ? this.#work : undefined
  }

  /** The turn whose prompt the agent has got. */
  get #running(): TurnDecoder | undefined {
    const work = this.#current
    return work?.sent ? work.decoder : undefined
  }

  #done(reading: Reading, item: Item, line: Line): void {
    if (reading === 'misfit') this.#unparsed(item)
    else if (reading === 'foreign') this.#foreign(line)
  }

  #foreign({ json }: Line): void {
    this.#ports.emit({ turn: this.#running?.turn ?? null, type: 'foreign', protocol: PROTOCOL, frame: json })
  }

  #unparsed(item: Item): void {
    const turn = this.#current?.decoder.turn
    if (turn !== undefined) this.#ports.report(unparsed(item), turn)
  }
}
