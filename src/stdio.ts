import type { AnyCodec, Carrier, ClientSink, Dialect, Frame, FrontContext } from './contract/index.ts'
import type { ClientLink, Engine } from './engine/index.ts'
import { frameDecoder } from './framing/index.ts'

/** A stand-in on stdio: which protocol, with which arguments, for which agent. */
export interface StdioOptions {
  engine: Engine
  codec: AnyCodec
  argv: readonly string[]
  env: Readonly<Record<string, string | undefined>>
  carrier: Carrier
  tenant: string
  agent?: string
  stdin: NodeJS.ReadStream
  stdout: NodeJS.WritableStream
  stderr: NodeJS.WritableStream
}

/** Serves one client on stdio until its wire closes. Resolves with the exit code once everything is written. */
export async function serveStdio(options: StdioOptions): Promise<number> {
  const { stdin } = options
  const feed = new StdioFeed(stdin)
  const dialect = await chooseDialect(options, feed)
  return new Promise((resolve) => {
    const sink = new StdioSink(options, resolve, () => client.drained())
    const [name, half] = dialect
    const client: ClientLink = options.engine.client({
      codec: options.codec,
      front: name === Object.keys(options.codec.dialects)[0] ? options.codec.name : `${options.codec.name}@${name}`,
      dialect: half,
      input: half.framing,
      context: contextOf(options, half),
      sink,
      carrier: options.carrier,
      tenant: options.tenant,
      ...(options.agent !== undefined && { agent: options.agent }),
    })
    options.stdout.on('error', () => client.disconnect())
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => client.end('signal'))
    client.open()
    feed.connect(client)
  })
}

/** Standard input as text; what was read before a client is connected is kept for it. */
class StdioFeed {
  readonly #stdin: NodeJS.ReadStream
  #waiting: string[] = []
  #ended = false
  #client: ClientLink | undefined
  #heard: (() => void) | undefined

  constructor(stdin: NodeJS.ReadStream) {
    this.#stdin = stdin
    stdin.setEncoding('utf8')
    stdin.on('data', (text) => this.#push(String(text)))
    stdin.on('end', () => this.#end())
    stdin.on('error', () => this.#end())
  }

  /** The first frame of the input, as this dialect frames it, or undefined when the input ends before. */
  first(dialect: Dialect, limit: number): Promise<Frame | undefined> {
    return new Promise((resolve) => {
      const decoder = frameDecoder(dialect.framing, limit, { frame: resolve, fault: () => resolve(undefined) })
      let seen = 0
      this.#heard = () => {
        while (seen < this.#waiting.length) decoder.push(this.#waiting[seen++]!)
        if (!this.#ended) return
        decoder.end()
        resolve(undefined)
      }
      this.#heard()
    })
  }

  /** Hands everything on to a client, what was kept first. */
  connect(client: ClientLink): void {
    this.#heard = undefined
    this.#client = client
    for (const text of this.#waiting) client.push(text)
    this.#waiting = []
    if (this.#ended) client.end('eof')
  }

  #push(text: string): void {
    if (this.#client) this.#client.push(text)
    else this.#waiting.push(text)
    this.#heard?.()
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#client?.end('eof')
    this.#heard?.()
    this.#stdin.pause()
  }
}

/** Writes a client's answer to standard output. */
class StdioSink implements ClientSink {
  readonly #options: StdioOptions
  readonly #closed: (exitCode: number) => void

  constructor(options: StdioOptions, closed: (exitCode: number) => void, drained: () => void) {
    this.#options = options
    this.#closed = closed
    options.stdout.on('drain', drained)
  }

  head(): void {}

  write(text: string): boolean {
    return this.#options.stdout.write(text)
  }

  warn(text: string): void {
    this.#options.stderr.write(`${text}\n`)
  }

  end(exitCode: number): void {
    // The callback of an empty write comes when everything before it is with the reader.
    this.#options.stdout.write('', () => this.#closed(exitCode))
  }

  abort(): void {
    this.#closed(1)
  }
}

/** The dialect that takes the client: asked without a frame first, then with the first one; else the default. */
async function chooseDialect(options: StdioOptions, feed: StdioFeed): Promise<[string, Dialect]> {
  const fronts = Object.entries(options.codec.dialects).filter(([, dialect]) => dialect.front)
  const takes = (frame: Frame | undefined): [string, Dialect] | undefined =>
    fronts.find(([, dialect]) => dialect.front!.accepts?.(frame, contextOf(options, dialect)) ?? true)
  const [, first] = fronts[0]!
  return takes(undefined) ?? takes(await feed.first(first, options.engine.lineLimit)) ?? fronts[0]!
}

function contextOf({ argv, env }: StdioOptions, dialect: Dialect): FrontContext {
  const known: Record<string, string> = {}
  for (const name of dialect.front!.env) {
    const value = env[name]
    if (value !== undefined) known[name] = value
  }
  return { transport: 'stdio', method: '', path: argv[0] ?? '', query: '', headers: {}, argv, env: known }
}
