import { RPC_CODES } from '../../../src/codec-kit/index.ts'
import { type Fault, fault, type JsonText, type Members, object, quote } from '../../../src/model/index.ts'
import { ACP_CODES, rpcCodeOf } from '../errors.ts'
import type { Client } from './client.ts'

/** A request of the client, until it is answered. */
export interface Request {
  readonly id: JsonText
  readonly method: string
  /** Stops what it asks for, in its own way; without one the request is answered as cancelled. */
  cancel?: () => void
}

/** The requests of one client: each is answered once, under the id that it came with. */
export class Requests {
  readonly #client: Client
  readonly #open = new Set<Request>()
  /** The request that a fault found by the link itself answers. */
  #refused: { id: JsonText; code: number } | undefined

  constructor(client: Client) {
    this.#client = client
  }

  open(id: JsonText, method: string): Request {
    const request = { id, method }
    this.#open.add(request)
    return request
  }

  /** Answers with a result; nothing when it was answered before. */
  answer(request: Request, result: JsonText): void {
    if (this.#open.delete(request)) this.#client.ports.send(this.#client.writer.result(request.id, result))
  }

  /** Answers with what went wrong; `more` are further members of the error's data. */
  fail(request: Request, why: Fault, more: Members = {}): void {
    if (this.#open.delete(request)) this.#error(request.id, rpcCodeOf(why.code), why, more)
  }

  /** Refuses a request by way of the engine, which records the fault. */
  refuse(request: Request, message: string, code: number = RPC_CODES.invalidParams): void {
    this.#open.delete(request)
    this.reject(request.id, message, code)
  }

  /** As `refuse`, for what is no request of its own; `id` is `null` where none can be read. */
  reject(id: JsonText, message: string, code: number): void {
    this.#refused = { id, code }
    this.#client.ports.fault(fault('invalid-request', message), 'continues')
    this.#refused = undefined
  }

  /** Writes a fault that no exchange owns. */
  fault(why: Fault): void {
    const { id, code } = this.#refused ?? { id: 'null', code: RPC_CODES.parse }
    this.#error(id, code, why, {})
  }

  /** The client gives up a request (`$/cancel_request`). */
  cancel(requestId: string | number | null): void {
    for (const request of [...this.#open]) {
      if (JSON.parse(request.id) !== requestId) continue
      if (request.cancel) request.cancel()
      else {
        this.#open.delete(request)
        const { ports, writer } = this.#client
        ports.send(writer.error(request.id, ACP_CODES.cancelled, 'The request was cancelled.'))
      }
    }
  }

  #error(id: JsonText, code: number, { code: word, message, retryable }: Fault, more: Members): void {
    const { ports, writer } = this.#client
    const data = object({ code: quote(word), retryable: String(retryable) }, more)
    ports.send(writer.error(id, code, message, data))
  }
}
