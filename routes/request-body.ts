/** Reads the body of a request. */
export interface BodyReader {
  push(text: string): void
  end(): void
  /** The connection is lost. */
  fail(): void
}

/** The body of a request. As long as another one may have to read it, it is kept, and read from its beginning. */
export class RequestBody {
  #kept: string[] | undefined
  #reader: BodyReader | undefined
  #state: 'open' | 'ended' | 'failed' = 'open'

  constructor(incoming: NodeJS.ReadableStream, keeps: boolean) {
    this.#kept = keeps ? [] : undefined
    incoming.setEncoding('utf8')
    incoming.on('data', (text: string) => this.#push(text))
    incoming.on('end', () => this.#end())
    incoming.on('error', () => this.#fail())
  }

  /** Gives it to a reader, instead of the one before: what has come so far, then the rest. */
  readBy(reader: BodyReader): void {
    this.#reader = reader
    for (const text of this.#kept ?? []) reader.push(text)
    if (this.#state === 'ended') reader.end()
    if (this.#state === 'failed') reader.fail()
  }

  /** Its reader stays the last one. */
  settle(): void {
    this.#kept = undefined
  }

  #push(text: string): void {
    this.#kept?.push(text)
    this.#reader?.push(text)
  }

  #end(): void {
    this.#state = 'ended'
    this.#reader?.end()
  }

  #fail(): void {
    this.#state = 'failed'
    this.#reader?.fail()
  }
}
