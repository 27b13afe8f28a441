import * as v from 'valibot'
import { type JsonLine, StreamJsonBack } from '../../../src/codec-kit/index.ts'
import type { BackContext, BackPorts } from '../../../src/contract/index.ts'
import { type Command, type CommandOf, fault } from '../../../src/model/index.ts'
import { Init, Result } from '../schema.ts'
import { PROTOCOL } from '../wire.ts'
import { Asks } from './asks.ts'
import { runCommand } from './commands.ts'
import { LINES, plainDelta } from './lines.ts'
import { ClaudeProcess } from './process.ts'
import { TurnDecoder } from './turn.ts'
import { Work } from './work.ts'

/** A running `claude -p` with JSON lines both ways. */
export class ClaudeCodeBack extends StreamJsonBack<TurnDecoder, Work, ClaudeProcess> {
  protected readonly plainDelta = plainDelta
  readonly #asks: Asks

  constructor(context: BackContext<unknown>, ports: BackPorts) {
    const process = new ClaudeProcess(context, ports)
    super(PROTOCOL, process, ports, (own) => new TurnDecoder(own, { turn: '', task: 'prompt' }, process.usage))
    this.#asks = new Asks(ports)
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') this.#start(command)
    else if (command.type === 'turn-cancel') this.current?.cancel()
    else if (command.type === 'turn-steer') this.current?.steer(command)
    else if (command.type === 'ask-reply') {
      if (this.#asks.reply(command) && this.current) this.current.decoder.cancelAsked = true
    } else if (command.type === 'config-set' || command.type === 'query') {
      runCommand(command, this.process, this.ports)
    }
  }

  protected turnFails(): void {
    this.#asks.turnEnds()
  }

  #start(start: CommandOf<'turn-start'>): void {
    const process = this.process
    const work = new Work(start, process, this.ports)
    const { bound, origin } = start.session ?? {}
    if (!this.begin(work, bound, origin === undefined || !process.isPinned)) return
    if (process.recorded) {
      work.replayed()
      return
    }
    if (origin !== undefined && !process.dead) process.restart(origin, 'copy')
    else if (!process.dead && process.isElsewhere(bound)) process.restart(bound)
    work.begin((step) => this.unasked.before(step))
  }

  protected read(line: JsonLine, turn: TurnDecoder | undefined): void {
    const { value, json } = line
    switch (value['type']) {
      case 'control_response':
        this.done(this.process.controls.answer(value, json), 'command-reply', line)
        return
      case 'control_request':
        this.done(this.#asks.read(turn, line), 'ask', line)
        return
      case 'control_cancel_request':
        this.#asks.cancelled(line)
        return
      case 'keep_alive':
        return
      case 'command_lifecycle':
        this.#lifecycle(value)
        return
      case 'result':
        this.#result(line, turn)
        return
      default:
        if (value['type'] === 'system' && value['subtype'] === 'init') this.#init(line, turn)
        else this.#content(line, turn)
    }
  }

  #lifecycle({ command_uuid: uuid, state }: Record<string, unknown>): void {
    this.process.reportsLifecycle = true
    this.current?.lifecycle(uuid, state)
    // A turn that the agent began itself has taken the prompt up: the rest of it is the answer.
    if (this.running && this.unasked.decoder) this.unasked.end()
  }

  #init({ value }: JsonLine, turn: TurnDecoder | undefined): void {
    if (!v.is(Init, value)) {
      this.unparsed('turn-started')
      return
    }
    this.inSession(value.session_id)
    if (turn) turn.started()
    else {
      this.unasked.open()
      this.unasked.began = true
    }
  }

  #content(line: JsonLine, turn: TurnDecoder | undefined): void {
    const reader = LINES.get(line.value['type'])
    if (!reader) this.foreign(line)
    else if (turn) {
      turn.started()
      this.done(reader.read(turn, line), reader.item, line)
    }
    // Lines between turns without a begin of their own are the state of tasks and of the session, not output.
    else if (this.unasked.began) reader.read(this.unasked.open(), line)
    else this.foreign(line)
  }

  #result({ value }: JsonLine, turn: TurnDecoder | undefined): void {
    const { success, output } = v.safeParse(Result, value)
    if (turn) this.#asks.turnEnds()
    if (turn && !success) {
      this.unparsed('turn-end')
      turn.fail(fault('protocol-violation', 'The agent ended the turn in a way that cannot be read.'))
    } else if (turn && success) {
      turn.started()
      this.current?.result(output)
    } else {
      if (success) this.unasked.decoder?.result(output)
      this.unasked.end()
    }
  }
}
