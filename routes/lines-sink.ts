import type { ServerResponse } from 'node:http'
import type { Begun, ClientSink, Detour } from '../src/contract/index.ts'

/** The longest time until a program closes the connection after its exit code, in milliseconds. */
const LINGER_MS = 2000

/** Writes the output of a stand-in's program, as JSON lines. */
export class LinesSink implements ClientSink {
  detour: Detour | undefined
  begun: Begun | undefined
  readonly #response: ServerResponse
  readonly #waiting = new Map<number, () => void>()
  #asked = 0
  #inputClosed = false
  #exitCode: number | undefined
  #lingering: NodeJS.Timeout | undefined

  constructor(response: ServerResponse) {
    this.#response = response
    response.on('error', () => {})
  }

  head(): void {}

  write(text: string): boolean {
    return this.#response.destroyed || this.#response.write(`${JSON.stringify({ out: text })}\n`)
  }

  whenRead(callback: () => void): void {
    if (this.#inputClosed) return
    this.#asked += 1
    this.#waiting.set(this.#asked, callback)
    this.tell({ ask: this.#asked })
  }

  /** A line for the program itself. */
  tell(line: { link: string } | { ask: number } | { err: string } | { closed: number }): void {
    if (!this.#response.destroyed) this.#response.write(`${JSON.stringify(line)}\n`)
  }

  /** The program's reader has all output from before question number `asked`. */
  read(asked: number): void {
    this.#waiting.get(asked)?.()
    this.#waiting.delete(asked)
    this.#maybeExit()
  }

  /** The program has gone, so it answers no question. */
  closeInput(): void {
    this.#inputClosed = true
    this.#waiting.clear()
    this.#maybeExit()
  }

  warn(text: string): void {
    this.tell({ err: text })
  }

  /** Sends the exit code, which ends the exchange, after the open questions. */
  end(exitCode: number): void {
    this.#exitCode = exitCode
    // In the same write as the last output: if the gateway dies from here on, the program has its answer.
    if (this.#waiting.size > 0) this.tell({ closed: exitCode })
    this.#maybeExit()
  }

  #maybeExit(): void {
    if (this.#exitCode === undefined || this.#waiting.size > 0 || this.#lingering || this.#response.destroyed) return
    this.#response.write(`${JSON.stringify({ exit: this.#exitCode })}\n`)
    // The program closes the connection after reading this. If we closed it while the program writes, unread output would be lost.
    this.#lingering = setTimeout(() => this.#response.end(), LINGER_MS)
    this.#response.once('close', () => clearTimeout(this.#lingering))
  }

  abort(): void {
    this.#response.destroy()
  }
}
