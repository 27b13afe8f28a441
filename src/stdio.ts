import type { ClientSink } from './contract/index.ts'
import { StandIn, type StandInOptions } from './engine/index.ts'

/** The streams of this process. */
export interface Streams {
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WritableStream
  stderr: NodeJS.WritableStream
}

/** Serves the client on this process's own streams until its wire closes. Resolves with the exit code once everything is written. */
export function serveStdio(options: Omit<StandInOptions, 'sink'>, streams: Streams): Promise<number> {
  const { stdin, stdout } = streams
  return new Promise((resolve) => {
    const interactive = stdin.isTTY === true
    const standIn = new StandIn({ ...options, interactive, sink: new StdioSink(streams, resolve) })
    stdout.on('drain', () => standIn.drained())
    // Whoever started us has stopped reading (EPIPE).
    stdout.on('error', () => standIn.disconnect())
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => standIn.end('signal', signal))
    }
    stdin.setEncoding('utf8')
    stdin.on('data', (text) => standIn.push(String(text)))
    stdin.on('end', () => standIn.end('eof'))
    stdin.on('error', () => standIn.end('eof'))
  })
}

/** Writes a client's answer to standard output. */
class StdioSink implements ClientSink {
  readonly #streams: Streams
  readonly #closed: (exitCode: number) => void

  constructor(streams: Streams, closed: (exitCode: number) => void) {
    this.#streams = streams
    this.#closed = closed
  }

  head(): void {}

  write(text: string): boolean {
    return this.#streams.stdout.write(text)
  }

  whenRead(callback: () => void): void {
    // The callback of an empty write comes when everything before it is with the reader.
    this.#streams.stdout.write('', (error) => {
      if (!error) callback()
    })
  }

  warn(text: string): void {
    this.#streams.stderr.write(`${text}\n`)
  }

  end(exitCode: number): void {
    // An answer that could not be written is no success, whatever it said.
    this.#streams.stdout.write('', (error) => this.#closed(error ? 1 : exitCode))
  }

  abort(): void {
    this.#closed(1)
  }
}
