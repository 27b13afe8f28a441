import { type CallEnd, type CallHead, type Frame, faultOfEnd } from '../../../src/contract/index.ts'
import type { Fault } from '../../../src/model/index.ts'
import { type EngineAnswer, readAnswer, violation } from './answer.ts'
import type { StreamReader } from './stream.ts'

/** One HTTP call of a turn, and its answer so far: a body, or the events of the streaming profile. */
export class EngineCall {
  /** Names the call. */
  readonly request: string
  readonly stream: StreamReader
  #status = 200
  #body = ''

  constructor(request: string, stream: StreamReader) {
    this.request = request
    this.stream = stream
  }

  head({ status }: CallHead): void {
    this.#status = status
  }

  /** A frame of the answer. True for an event of the streaming profile, which `stream` reads next. */
  frame(frame: Frame): frame is Extract<Frame, object> & { event: string } {
    if (typeof frame !== 'string' && frame.event !== undefined) return true
    this.#body += typeof frame === 'string' ? frame : frame.data
    return false
  }

  /** Reads the answer: the closing `response` of a stream, or the body. */
  read(): EngineAnswer | Fault {
    return readAnswer(this.stream.response ?? this.#body, this.#status)
  }

  /**
   * Reads the answer of a call that ended: only now is one without a `response` event whole, or known to be cut short. An
   * engine that holds its connection open after a whole envelope has answered, too.
   */
  readAtEnd(end: CallEnd): EngineAnswer | Fault {
    if (this.stream.used && end.why === 'closed') return violation('is a stream that was cut short', this.#status)
    const answer = this.read()
    const whole = end.why === 'closed' || (end.why === 'timeout' && !this.stream.used && !('code' in answer))
    return whole ? answer : faultOfEnd(end)
  }
}
