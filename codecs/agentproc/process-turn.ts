import { type CallTurn, type Ending, failedWith, type Report } from '../../src/codec-kit/index.ts'
import { type BackContext, type BackPorts, type CallEnd, type Frame, frameText } from '../../src/contract/index.ts'
import type { CommandOf, Ext, Fault } from '../../src/model/index.ts'
import { COMPLETED, endingOf } from './endings.ts'
import { secretsOf } from './environment.ts'
import type { ProcessCall } from './launch.ts'
import type { AgentProcOptions } from './options.ts'

/** A turn ready to run: its process, what is written to stdin, and what the client should know. */
export interface Prepared {
  call: ProcessCall & { env: Record<string, string> }
  input: string | undefined
  warning?: { code: string; text: string } | undefined
}

/** Reads an agent's stdout as events of its turn. */
export interface AnswerReader {
  /** The error that the turn failed with, once there is one with a text. */
  readonly error: string | undefined
  /** The agent's session id. */
  readonly session: string | undefined
  /** Members of the event that ends the answer without a place in the model. */
  readonly ext?: Ext | undefined
  /** True when there is no text that a reader could see. */
  readonly blank: boolean
  /** The reason why a run that ended well has no answer. */
  readonly incomplete?: Fault | undefined
  line(line: string): void
  /** Nothing more comes: ends the open message. */
  close(): void
}

/** One turn of an agent of any wire: a process of its own, whose output is the answer. */
export abstract class ProcessTurn implements CallTurn {
  readonly ports: BackPorts
  protected readonly context: BackContext<AgentProcOptions>
  protected readonly start: CommandOf<'turn-start'>
  protected abstract readonly answer: AnswerReader
  protected cancelled = false
  protected ended = false
  #secrets: readonly string[] = []

  constructor(context: BackContext<AgentProcOptions>, ports: BackPorts, start: CommandOf<'turn-start'>) {
    this.context = context
    this.ports = ports
    this.start = start
  }

  /** The process and its input, or why it cannot be started. */
  protected abstract prepare(report: Report): Prepared | Fault

  /** Takes a line of its output. */
  protected abstract line(line: string): void

  begin(): void {
    const { turn } = this.start
    const prepared = this.prepare((loss) => this.ports.report(loss, turn))
    if ('code' in prepared) {
      this.finish(failedWith(prepared))
      return
    }
    this.#secrets = secretsOf(this.context, prepared.call.env)
    this.ports.emit({ type: 'turn-started', turn })
    this.ports.open(prepared.call)
    if (prepared.input !== undefined) this.ports.send(prepared.input)
    if (prepared.warning) this.notice('warning', prepared.warning.code, prepared.warning.text)
  }

  /** No wire has a cancel: the engine stops the process, and its end is read as a cancellation. */
  cancel(): void {
    this.cancelled = true
  }

  frame(frame: Frame): void {
    if (!this.ended) this.line(frameText(frame))
  }

  callEnd(end: CallEnd): void {
    if (this.ended) return
    const { cancelled, answer } = this
    const facts = { end, error: answer.error, options: this.context.options, secrets: this.#secrets, cancelled }
    const ending = endingOf(facts)
    if (ending.outcome !== 'completed') this.finish(ending)
    else if (answer.incomplete) this.finish(failedWith(answer.incomplete))
    else this.complete()
  }

  protected complete(): void {
    if (this.answer.blank) this.notice('info', 'empty-answer', 'The agent ended without an answer.')
    this.finish(COMPLETED)
  }

  protected finish(ending: Ending): void {
    const { turn } = this.start
    const { session, ext } = this.answer
    this.ended = true
    this.answer.close()
    if (session !== undefined) this.ports.emit({ turn: null, type: 'session-bound', agentSession: session })
    this.ports.emit({ type: 'turn-end', turn, ...(ext && { ext }), ...ending })
  }

  protected notice(severity: 'info' | 'warning', code: string, text: string): void {
    this.ports.emit({ type: 'notice', turn: this.start.turn, severity, code, text })
  }
}
