import type { FrontPorts } from '../../../src/contract/index.ts'
import type { Id, JsonText, TextRun, TurnEvent, TurnView } from '../../../src/model/index.ts'
import { DeltaLines, eventLine } from '../lines.ts'

/** Writes an answer over HTTP as a stream: events of SSE, or lines. */
export class StreamedAnswer {
  readonly #ports: FrontPorts
  readonly #framing: 'sse' | 'ndjson'
  readonly #deltas = new DeltaLines()

  constructor(ports: FrontPorts, framing: 'sse' | 'ndjson') {
    this.#ports = ports
    this.#framing = framing
  }

  /** Writes an event of the turn under its number; the last one with the losses of the exchange. */
  event(event: TurnEvent, exchange: Id, { seq }: TurnView): void {
    const delta = this.#deltas.line(event, event.turn, seq)
    if (delta !== undefined) {
      this.write(event.type, delta, seq)
      return
    }
    const losses = event.type === 'turn-end' ? this.#ports.losses(exchange) : []
    this.write(event.type, eventLine(event, { seq, ...(losses.length > 0 && { losses }) }), seq)
  }

  /** Writes pieces of text, of which the turn has the last one under its number. */
  texts(run: TextRun, { seq }: TurnView): void {
    const lines = this.#deltas.lines(run, run.turn, seq)
    this.#ports.sendRun(
      this.#framing === 'ndjson' ? lines : { ...lines, event: 'text-delta', id: seq - run.length + 1 },
    )
  }

  /** Writes any message; `id` is for readers that come again. */
  write(event: string, data: JsonText, id?: number): void {
    if (this.#framing === 'ndjson') this.#ports.send(data)
    else this.#ports.send({ event, data, ...(id !== undefined && { id: String(id) }) })
  }

  /** Readers of lines skip empty ones. */
  keepAlive(): void {
    this.#ports.send(this.#framing === 'sse' ? { event: 'ping', data: '{}' } : '')
  }
}
