import type { ClientSink } from './contract/index.ts'
import { type Engine, StandIn, type StandInOptions } from './engine/index.ts'

/** The streams of this process. */
export interface Streams {
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WritableStream
  stderr: NodeJS.WritableStream
}

/**
 * Serves the client on this process's own streams until its wire closes. Resolves with the exit code once everything is
 * written, or with that of `unwritten` when the answer cannot be written.
 */
export function serveStdio(
  engine: Engine,
  options: StandInOptions,
  streams: Streams,
  unwritten: (error?: NodeJS.ErrnoException) => number,
): Promise<number> {
  const { stdin, stdout } = streams
  return new Promise((resolve) => {
    const interactive = stdin.isTTY === true
    const sink = new StdioSink(streams, unwritten, resolve)
    const standIn = new StandIn(engine, sink, { ...options, interactive })
    stdout.on('drain', () => standIn.drained())
    stdout.on('error', (error: NodeJS.ErrnoException) => {
      sink.broken(error)
      standIn.disconnect()
    })
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
  readonly #unwritten: (error?: NodeJS.ErrnoException) => number
  readonly #closed: (exitCode: number) => void

  constructor(
    streams: Streams,
    unwritten: (error?: NodeJS.ErrnoException) => number,
    closed: (exitCode: number) => void,
  ) {
    this.#streams = streams
    this.#unwritten = unwritten
    this.#closed = closed
  }

  /** Output can no longer be written. */
  broken(error: NodeJS.ErrnoException): void {
    this.#closed(this.#unwritten(error))
  }

  head(): void {}

  write(text: string): boolean {
    return this.#streams.stdout.write(text)
  }

  whenRead(callback: () => void): void {
    // The callback of an empty write comes when the reader has everything before it.
    this.#streams.stdout.write('', (error) => {
      if (!error) callback()
    })
  }

  warn(text: string): void {
    this.#streams.stderr.write(`${text}\n`)
  }

  end(exitCode: number): void {
    // An unwritten answer is not a success, whatever its content: `broken` handles it.
    this.#streams.stdout.write('', (error) => {
      if (!error) this.#closed(exitCode)
    })
  }

  abort(): void {
    this.#closed(this.#unwritten())
  }
}
