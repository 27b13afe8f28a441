import { isRecord, type JsonText, type Members, member, members, object, parseObject, quote } from '../model/index.ts'
import { messageLine } from './lines.ts'
import { scalarText } from './scalar-text.ts'

/** The codes of JSON-RPC 2.0, §5.1. */
export const RPC_CODES = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
} as const

/** A call's answer: its result, or its error object. */
export type RpcAnswer =
  | { kind: 'result'; id: JsonText; result: unknown }
  | { kind: 'error'; id: JsonText; error: RpcError }

/** A message of JSON-RPC 2.0. Ids are raw JSON, so that they go back as they came. */
export type RpcMessage =
  | { kind: 'request'; id: JsonText; method: string; params: unknown }
  | { kind: 'notification'; method: string; params: unknown }
  | RpcAnswer

/** An error object; `message` is empty when it has none. */
export interface RpcError {
  code: number | undefined
  message: string
  data: unknown
}

/**
 * Reads a message, with or without its `jsonrpc` member; undefined for everything else, batches too. A message with a
 * method and an id is a request, whatever the id is. `member` reads the raw text of its parts from the line.
 */
export function readRpc(line: string): RpcMessage | undefined {
  const value = parseObject(line)
  if (value === undefined) return undefined
  const { method, params } = value
  if (typeof method === 'string') {
    if (!('id' in value)) return { kind: 'notification', method, params }
    return { kind: 'request', id: member(line, 'id')!, method, params }
  }
  if (!('id' in value)) return undefined
  if (value['error'] != null) return { kind: 'error', id: member(line, 'id')!, error: readError(value['error']) }
  return 'result' in value ? { kind: 'result', id: member(line, 'id')!, result: value['result'] } : undefined
}

function readError(error: unknown): RpcError {
  const { code, message, data } = isRecord(error) ? error : { code: undefined, message: error, data: undefined }
  return {
    code: typeof code === 'number' ? code : undefined,
    message: typeof message === 'string' ? message : '',
    data,
  }
}

/** The line of a message under another id. */
export function withRpcId(line: string, id: JsonText): string {
  return object(members(line).map(([key, value]) => [key, key === 'id' ? id : value] as const))
}

/** Writes the messages of one wire, each as a line. */
export class RpcWriter {
  readonly #head: Members

  /** `jsonrpc: false` leaves out the member of that name, as some protocols do. */
  constructor({ jsonrpc = true }: { jsonrpc?: boolean } = {}) {
    this.#head = jsonrpc ? { jsonrpc: '"2.0"' } : {}
  }

  /** `more` are further members of the message. */
  request(id: JsonText, method: string, params?: JsonText, more: Members = {}): string {
    return messageLine({ ...this.#head, id, method: quote(method), params, ...more })
  }

  notification(method: string, params?: JsonText): string {
    return messageLine({ ...this.#head, method: quote(method), params })
  }

  result(id: JsonText, result: JsonText): string {
    return messageLine({ ...this.#head, id, result })
  }

  error(id: JsonText, code: number, message: string, data?: JsonText): string {
    const error = messageLine({ code: String(code), message: quote(message), data })
    return messageLine({ ...this.#head, id, error })
  }
}

/** Takes the answer of a call, with its line; undefined when none will come. */
export type TakeAnswer = (answer: RpcAnswer | undefined, line: string) => void

/** The calls of this side that wait for their answers. Their ids are counted from 1. */
export class RpcCalls {
  readonly #send: (line: string) => void
  readonly #writer: RpcWriter
  readonly #open = new Map<string, { method: string; take: TakeAnswer }>()
  #count = 0

  constructor(send: (line: string) => void, writer: RpcWriter) {
    this.#send = send
    this.#writer = writer
  }

  /** Calls a method and returns the call's id; `take` gets the answer, once. `more` are further members of the message. */
  call(method: string, params: JsonText | undefined, take: TakeAnswer, more?: Members): JsonText {
    this.#count += 1
    const id = String(this.#count)
    this.#open.set(id, { method, take })
    this.#send(this.#writer.request(id, method, params, more))
    return id
  }

  /** Hands an answer to its call; false when no call waits for it. An id that came back as text matches too. */
  answer(answer: RpcAnswer, line: string): boolean {
    return this.#settle(scalarText(JSON.parse(answer.id)), answer, line)
  }

  /** Hands a recorded answer, whose id is another client's, to the oldest call of this method. */
  answerTo(method: string, answer: RpcAnswer, line: string): boolean {
    const id = [...this.#open].find(([, call]) => call.method === method)?.[0]
    return id !== undefined && this.#settle(id, answer, line)
  }

  /** Ends every waiting call without an answer. */
  end(): void {
    const calls = [...this.#open.values()]
    this.#open.clear()
    for (const { take } of calls) take(undefined, '')
  }

  #settle(id: string, answer: RpcAnswer, line: string): boolean {
    const call = this.#open.get(id)
    if (!call) return false
    this.#open.delete(id)
    call.take(answer, line)
    return true
  }
}
