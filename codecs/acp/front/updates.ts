import { messageLine } from '../../../src/codec-kit/index.ts'
import { type JsonText, type Members, quote } from '../../../src/model/index.ts'

/** The updates that carry a piece of a message. */
export type ChunkKind = 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk'

/** Writes the updates of one session (`session/update`). */
export class Updates {
  readonly #send: (line: string) => void
  readonly #head: string

  constructor(send: (line: string) => void, session: string) {
    this.#send = send
    this.#head = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":${quote(session)},"update":`
  }

  /** The hot path: a piece of text. */
  text(kind: ChunkKind, text: string, message: string): void {
    const content = `{"type":"text","text":${quote(text)}}`
    this.#send(`${this.#head}{"sessionUpdate":"${kind}","content":${content},"messageId":${quote(message)}}}}`)
  }

  /** A piece of a message; `extra` are further members of the update. */
  chunk(kind: ChunkKind, content: JsonText, message: string, extra?: JsonText): void {
    this.write(kind, { content, messageId: quote(message) }, extra)
  }

  /** Any update; `extra` are further members of it. */
  write(kind: string, entries: Members, extra?: JsonText): void {
    this.raw(messageLine({ sessionUpdate: quote(kind), ...entries }, extra))
  }

  /** An update that is written already. It has no line end. */
  raw(update: JsonText): void {
    this.#send(`${this.#head}${update}}}`)
  }
}
