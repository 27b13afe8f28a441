import * as v from 'valibot'
import { type Entry, messageLine } from '../../../src/codec-kit/index.ts'
import type { BackPorts } from '../../../src/contract/index.ts'
import { type JsonText, member, oneLine, parseObject, quote } from '../../../src/model/index.ts'
import { ControlResponse } from '../schema.ts'
import { errorText } from '../wire.ts'

/** The answer to a control request, with its payload as raw JSON; undefined when the process ended without one. */
export type Reply = { success: true; raw: JsonText } | { success: false; error: string } | undefined

/** The control requests that wait for their answers. */
export class Requests {
  readonly #ports: BackPorts
  readonly #recorded: boolean
  readonly #open = new Map<string, { subtype: string; take: (reply: Reply) => void }>()

  /** `recorded`: answers have the ids of another client, so that they are matched by their subtypes. */
  constructor(ports: BackPorts, recorded: boolean) {
    this.#ports = ports
    this.#recorded = recorded
  }

  /** Sends a control request; `then` is called once, with its answer. */
  send(subtype: string, fields: readonly Entry[], then: (reply: Reply) => void): void {
    this.sendRaw(messageLine([['subtype', quote(subtype)], ...fields]), then)
  }

  /** Sends a control request whose `request` is there as JSON. */
  sendRaw(request: JsonText, then: (reply: Reply) => void): void {
    const id = `turnpike-${this.#ports.newId()}`
    this.#open.set(id, { subtype: String(parseObject(request)?.['subtype']), take: then })
    this.#ports.send(oneLine(`{"type":"control_request","request_id":${quote(id)},"request":${request}}`))
  }

  /** Takes a `control_response`: `stray` when nothing waits for it. */
  answer(value: object, json: JsonText): 'taken' | 'stray' | 'misfit' {
    const { success, output } = v.safeParse(ControlResponse, value)
    if (!success) return 'misfit'
    const { subtype, error, request_id } = output.response
    const raw = member(member(json, 'response')!, 'response') ?? '{}'
    const id = this.#recorded ? this.#recordedId(raw) : request_id
    const request = this.#open.get(id)
    if (!request) return 'stray'
    this.#open.delete(id)
    const refusal = { success: false, error: errorText(error) || 'The agent refused the request.' } as const
    request.take(subtype === 'success' ? { success: true, raw } : refusal)
    return 'taken'
  }

  /** Whoever waits for an answer of the process learns that there is none. */
  forget(): void {
    const requests = [...this.#open.values()]
    this.#open.clear()
    for (const { take } of requests) take(undefined)
  }

  /**
   * The id of the request that a recorded answer is about: the oldest of the subtype that it names. One that names none
   * answers the oldest, but never the greeting, which always names it.
   */
  #recordedId(raw: JsonText): string {
    const named = parseObject(raw)?.['subtype']
    const fits = (subtype: string): boolean => (named === undefined ? subtype !== 'initialize' : subtype === named)
    return [...this.#open].find(([, { subtype }]) => fits(subtype))?.[0] ?? ''
  }
}
