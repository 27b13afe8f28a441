import {
  type BackContext,
  type BackLink,
  type BackPorts,
  type CallEnd,
  type Frame,
  frameText,
} from '../../../../src/contract/index.ts'
import type { Command, CommandOf, Id } from '../../../../src/model/index.ts'
import { endingOf, failed, type TurnEnding } from '../../endings.ts'
import { secretsOf } from '../../environment.ts'
import type { AgentProcOptions } from '../../options.ts'
import { otherWire } from '../../versions.ts'
import { prepare } from './call.ts'
import { Reply } from './reply.ts'

/** A turn while its process runs. */
interface Run {
  turn: Id
  reply: Reply
  secrets: readonly string[]
  cancelled: boolean
  /** No line that is not blank has come yet. */
  first: boolean
}

/** The runner of wire 0.1: a process per turn, its input in AGENT_ variables, its answer in sentinel lines. */
class V01Back implements BackLink {
  readonly #context: BackContext<AgentProcOptions>
  readonly #ports: BackPorts
  #run: Run | undefined

  constructor(context: BackContext<AgentProcOptions>, ports: BackPorts) {
    this.#context = context
    this.#ports = ports
  }

  encode(command: Command): void {
    if (command.type === 'turn-start') this.#start(command)
    // The wire has no cancel: the engine stops the process, and its end is read as a cancellation.
    else if (command.type === 'turn-cancel' && this.#run) this.#run.cancelled = true
  }

  decode(frame: Frame): void {
    const run = this.#run
    if (!run) return
    const line = frameText(frame)
    const other = run.first ? otherWire('0.1', line) : undefined
    if (other) {
      this.#finish(run, failed(other))
      return
    }
    run.first &&= line.trim() === ''
    run.reply.line(line)
  }

  decodeEnd(end: CallEnd): void {
    const run = this.#run
    if (!run) return
    this.#finish(run, this.#ending(run, end))
  }

  #ending({ turn, reply, secrets, cancelled }: Run, end: CallEnd): TurnEnding {
    const ending = endingOf({ end, error: reply.error, options: this.#context.options, secrets, cancelled })
    if (ending.outcome === 'completed' && reply.blank) {
      this.#notice(turn, 'info', 'empty-answer', 'The agent ended without an answer.')
    }
    return ending
  }

  #start(start: CommandOf<'turn-start'>): void {
    const { turn } = start
    const prepared = prepare(this.#context, start, (loss) => this.#ports.report(loss, turn))
    if ('code' in prepared) {
      this.#ports.emit({ type: 'turn-end', turn, ...failed(prepared) })
      return
    }
    const reply = new Reply(turn, this.#context.options, this.#ports)
    this.#run = { turn, reply, secrets: secretsOf(this.#context, prepared.call.env), cancelled: false, first: true }
    this.#ports.emit({ type: 'turn-started', turn })
    this.#ports.open(prepared.call)
    if (prepared.input !== undefined) this.#ports.send(prepared.input)
    if (prepared.stdinOnly) {
      const text = 'The message is too long for AGENT_MESSAGE; the agent gets it on stdin alone.'
      this.#notice(turn, 'warning', 'message-on-stdin-only', text)
    }
  }

  #finish(run: Run, end: TurnEnding): void {
    const { turn, reply } = run
    this.#run = undefined
    reply.close()
    if (reply.session !== undefined) {
      this.#ports.emit({ turn: null, type: 'session-bound', agentSession: reply.session })
    }
    this.#ports.emit({ type: 'turn-end', turn, ...end })
  }

  #notice(turn: Id, severity: 'info' | 'warning', code: string, text: string): void {
    this.#ports.emit({ type: 'notice', turn, severity, code, text })
  }
}

/** Opens the back half of wire 0.1. */
export function openBack(context: BackContext<AgentProcOptions>, ports: BackPorts): BackLink {
  return new V01Back(context, ports)
}
