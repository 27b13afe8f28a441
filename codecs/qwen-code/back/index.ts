import * as v from 'valibot'
import { type JsonLine, keysOf, StreamJsonBack } from '../../../src/codec-kit/index.ts'
import type { BackContext, BackPorts } from '../../../src/contract/index.ts'
import { type Command, type CommandOf, fault } from '../../../src/model/index.ts'
import { Result, SystemInit } from '../schema.ts'
import { PROTOCOL, unknownExt } from '../wire.ts'
import { Asks } from './asks.ts'
import { runCommand } from './commands.ts'
import { faultOfText } from './errors.ts'
import { isOtherDialect, LINES, plainDelta } from './lines.ts'
import { CliProcess } from './process.ts'
import { interrupt, startWork, type Work } from './start.ts'
import { readSystem } from './system.ts'
import { TurnDecoder } from './turn.ts'

const INIT: ReadonlySet<string> = new Set(['type', 'subtype', 'uuid', 'session_id'])
const RESULT = keysOf(Result)

/** A running Qwen Code CLI. A session that the gateway remembers continues in a new process. */
export class QwenCodeBack extends StreamJsonBack<TurnDecoder, Work, CliProcess> {
  protected readonly plainDelta = plainDelta
  readonly #asks: Asks
  /** The version of the CLI. */
  #version: string | undefined
  #heard = false

  constructor(context: BackContext<unknown>, ports: BackPorts) {
    const process = new CliProcess(context, ports)
    super(PROTOCOL, process, ports, (own) => new TurnDecoder(own, '', process.meter))
    this.#asks = new Asks(ports)
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') this.#start(command)
    else if (command.type === 'turn-cancel') this.#cancel()
    else if (command.type === 'ask-reply') {
      if (this.#asks.reply(command)) this.#cancel()
    } else if (command.type === 'config-set' || command.type === 'query' || command.type === 'foreign') {
      runCommand(command, this.process, this.ports)
    }
  }

  protected turnFails(): void {
    this.#asks.turnEnds()
  }

  protected read(line: JsonLine, turn: TurnDecoder | undefined): void {
    const { value, json } = line
    const { type } = value
    if (!this.#heard && isOtherDialect(value)) {
      const text =
        'The agent speaks the protocol of the RFC, not that of the shipped Qwen Code: set `protocol: qwen` in its configuration.'
      const reason = fault('protocol-violation', text)
      this.die(reason)
      this.ports.broken(reason)
      return
    }
    this.#heard = true
    if (type === 'control_response') {
      this.done(this.process.controls.answer(value, json), 'command-reply', line)
    } else if (type === 'control_request') {
      this.done(this.#asks.read(turn, line), 'ask', line)
    } else if (type === 'result') this.#result(line, turn)
    else if (type === 'system') this.#system(line, turn)
    else if (turn) this.#content(line, turn)
    else if (!LINES.has(type)) this.foreign(line)
    // Before the greeting an agent has no output.
    else if (this.process.handshake.done) this.#content(line, this.unasked.open())
  }

  #content(line: JsonLine, turn: TurnDecoder): void {
    const reader = LINES.get(line.value['type'])
    if (!reader) {
      this.foreign(line)
      return
    }
    turn.started()
    this.done(reader.read(turn, line), reader.item, line)
    if (line.value['type'] === 'user') this.#asks.toolEnded(turn, line)
  }

  #system(line: JsonLine, turn: TurnDecoder | undefined): void {
    if (line.value['subtype'] === 'init') this.#init(line, turn)
    else if (turn) {
      turn.started()
      this.done(readSystem(turn, line), 'notice', line)
    } else this.foreign(line)
  }

  #init({ value, json }: JsonLine, turn: TurnDecoder | undefined): void {
    const { success, output } = v.safeParse(SystemInit, value)
    if (!success) {
      this.unparsed('turn-started')
      return
    }
    const { settings } = this.process
    if (output.model !== undefined) settings.now.model = output.model
    if (turn && this.current?.start.options.model === undefined) settings.ownModel = settings.now.model
    this.#version = output.qwen_code_version ?? this.#version
    if (output.session_id) this.inSession(output.session_id)
    turn?.started(unknownExt(json, value, INIT))
    // Only output that begins like a turn ends with a result.
    if (turn || !this.process.handshake.done) return
    this.unasked.open()
    this.unasked.began = true
  }

  #result({ value, json }: JsonLine, turn: TurnDecoder | undefined): void {
    const { success, output } = v.safeParse(Result, value)
    if (!success) {
      this.unparsed('turn-end')
      const text = 'The agent ended the turn in a way that cannot be read.'
      this.fail(fault('protocol-violation', text))
    } else if (turn) {
      turn.started()
      if (output.session_id) this.inSession(output.session_id)
      this.#asks.turnEnds()
      turn.result(output, this.#version, unknownExt(json, value, RESULT))
    } else {
      // An agent that cannot start says why in a result, before it ends.
      if (!this.process.handshake.done && output.is_error) this.process.refusal = faultOfText(output.error?.message)
      this.unasked.decoder?.result(output, this.#version, undefined)
      this.unasked.end()
    }
  }

  #start(start: CommandOf<'turn-start'>): void {
    const process = this.process
    const decoder = new TurnDecoder(this.ports, start.turn, process.meter)
    const work: Work = { decoder, start, sent: false, interrupting: false }
    const bound = start.session?.bound
    if (!this.begin(work, bound)) return
    if (!process.dead && process.isElsewhere(bound)) process.restart(bound ?? process.session)
    // Lines name no turn: those of a turn that the agent began itself would be taken for those of this one.
    process.handshake.whenDone(() => this.unasked.before(() => startWork(work, process, this.ports)))
  }

  #cancel(): void {
    const work = this.current
    if (!work || work.interrupting) return
    work.decoder.cancelAsked = true
    if (work.sent) interrupt(work, this.process)
    else work.decoder.cancelled()
  }
}
