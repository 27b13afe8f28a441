import { type Ending, failedWith, type Report } from '../../../../src/codec-kit/index.ts'
import type { BackContext, BackPorts, WireText } from '../../../../src/contract/index.ts'
import type { CommandOf, Fault, TextRun } from '../../../../src/model/index.ts'
import { CANCELLED } from '../../endings.ts'
import type { AgentProcOptions } from '../../options.ts'
import { type Prepared, ProcessTurn } from '../../process-turn.ts'
import type { PermissionEvent, TypedReply, TypedReplyClass } from '../../typed-reply.ts'
import { isSentinel, otherWire } from '../../versions.ts'
import type { ReadLine } from '../schema.ts'
import { Permissions } from './asks.ts'
import { prepare } from './turn.ts'

/** A turn of an agent of a wire of JSON lines: a turn object on its stdin, events on its stdout. */
export class TypedTurn extends ProcessTurn {
  protected readonly answer: TypedReply
  readonly #permissions = new Permissions(this.start.turn, this.ports)
  /** No line has come yet. */
  #first = true

  /** `Reply` reads the events of the wire's version. */
  constructor(
    Reply: TypedReplyClass,
    context: BackContext<AgentProcOptions>,
    ports: BackPorts,
    start: CommandOf<'turn-start'>,
  ) {
    super(context, ports, start)
    this.answer = new Reply(start.turn, context.options, this)
  }

  protected prepare(report: Report): Prepared | Fault {
    return prepare(this.answer.version, this.context, this.start, report)
  }

  /** An agent that waits for an answer gets one. */
  override cancel(): void {
    super.cancel()
    if (!this.ended) this.#permissions.deny()
  }

  reply(command: CommandOf<'ask-reply'>): void {
    if (!this.ended) this.#permissions.reply(command.ask, command.reply)
  }

  protected line(line: string): void {
    if (this.#first && isSentinel(line)) {
      this.finish(failedWith(otherWire(this.answer.version, line)!))
      return
    }
    this.#first = false
    this.answer.line(line)
    if (this.answer.answered) this.#answered()
  }

  texts(wire: WireText): TextRun | undefined {
    return this.ended ? undefined : this.answer.texts?.(wire)
  }

  /** Takes a permission request with a valid id. */
  permission(event: PermissionEvent, ext: ReadLine['ext'], line: string): void {
    this.#permissions.request(event, ext, line)
  }

  /** A failure waits for the exit, which says more of it: the exit code, and stderr. */
  failed(): void {
    this.#stopAsking()
    this.ports.leave?.()
  }

  /** The result is the answer, whatever the process does or says after it; one that was asked to stop is cancelled. */
  #answered(): void {
    this.#stopAsking()
    if (this.cancelled) this.finish(CANCELLED)
    else this.complete()
  }

  /** The agent may wait for the end of its input before it exits. */
  #stopAsking(): void {
    if (!this.context.options.permission) return
    this.#permissions.deny()
    this.ports.end()
  }

  protected override finish(ending: Ending): void {
    this.#permissions.abandon()
    super.finish(ending)
  }
}
