import { failedWith, type Report } from '../../../../src/codec-kit/index.ts'
import type { Fault } from '../../../../src/model/index.ts'
import { type Prepared, ProcessTurn } from '../../process-turn.ts'
import { otherWire } from '../../versions.ts'
import { prepare } from './call.ts'
import { Reply } from './reply.ts'

/** A turn of an agent of wire 0.1: its input in AGENT_ variables, its answer in sentinel lines. */
export class V01Turn extends ProcessTurn {
  protected readonly answer = new Reply(this.start.turn, this.context.options, this.ports)
  /** No line that is not blank has come yet. */
  #first = true

  protected prepare(report: Report): Prepared | Fault {
    return prepare(this.context, this.start, report)
  }

  protected line(line: string): void {
    const other = this.#first ? otherWire('0.1', line) : undefined
    if (other) {
      this.finish(failedWith(other))
      return
    }
    this.#first &&= line.trim() === ''
    this.answer.line(line)
  }
}
