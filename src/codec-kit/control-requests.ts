import type { BackContext, BackPorts } from '../contract/index.ts'
import { isRecord, type JsonText, type Members, member, oneLine, parseObject, quote } from '../model/index.ts'
import { messageLine } from './lines.ts'

/** The answer to a control request, with its payload as raw JSON; undefined when the process ended without one. */
export type ControlReply = { success: true; raw: JsonText } | { success: false; error: string } | undefined

/**
 * The control requests that wait for their answers, on the wires of CLIs that read and write `control_request` and
 * `control_response` lines.
 */
export class ControlRequests {
  readonly #ports: BackPorts
  readonly #recorded: BackContext<unknown>['recorded']
  readonly #open = new Map<string, { subtype: string; take: (reply: ControlReply) => void }>()

  /** `recorded`: answers have the ids of another client, so that they are matched by their subtypes. */
  constructor(ports: BackPorts, recorded: BackContext<unknown>['recorded']) {
    this.#ports = ports
    this.#recorded = recorded
  }

  /** Sends a control request; `then` is called once, with its answer. */
  send(subtype: string, fields: Members, then: (reply: ControlReply) => void): void {
    this.sendRaw(messageLine({ subtype: quote(subtype), ...fields }), then)
  }

  /** Sends a control request whose `request` is given as JSON. */
  sendRaw(request: JsonText, then: (reply: ControlReply) => void): void {
    const id = `turnpike-${this.#ports.newId()}`
    this.#open.set(id, { subtype: String(parseObject(request)?.['subtype']), take: then })
    this.#ports.send(oneLine(`{"type":"control_request","request_id":${quote(id)},"request":${request}}`))
  }

  /**
   * Takes a `control_response`. `misfit` for one that is not valid or for which nothing waits; `foreign` for a recorded
   * one whose request is not recorded. One of a recorded client is read by that client's front.
   */
  answer(value: Record<string, unknown>, json: JsonText): 'read' | 'foreign' | 'misfit' {
    const response = value['response']
    if (!isRecord(response) || typeof response['request_id'] !== 'string') return 'misfit'
    const raw = member(member(json, 'response')!, 'response') ?? '{}'
    const id = this.#recorded ? this.#recordedId(raw) : response['request_id']
    const request = this.#open.get(id)
    if (!request) return this.#recorded === 'both' ? 'read' : this.#recorded ? 'foreign' : 'misfit'
    this.#open.delete(id)
    const refusal = {
      success: false,
      error: controlErrorText(response['error']) || 'The agent refused the request.',
    } as const
    request.take(response['subtype'] === 'success' ? { success: true, raw } : refusal)
    return 'read'
  }

  /** Ends every waiting request: the process gives no answer. */
  forget(): void {
    const requests = [...this.#open.values()]
    this.#open.clear()
    for (const { take } of requests) take(undefined)
  }

  /**
   * The id of the request that a recorded answer is about: the oldest of the subtype that it names. An answer that
   * names none belongs to the oldest, but never to the greeting, whose answer always names it.
   */
  #recordedId(raw: JsonText): string {
    const named = parseObject(raw)?.['subtype']
    const fits = (subtype: string): boolean => (named === undefined ? subtype !== 'initialize' : subtype === named)
    return [...this.#open].find(([, { subtype }]) => fits(subtype))?.[0] ?? ''
  }
}

/** A `control_response`: its payload, or the error of a refusal. `id` is raw, as the other side wrote it. */
export function controlResponse(id: JsonText, said: { payload: JsonText } | { error: string }): string {
  const [subtype, key, json] =
    'payload' in said ? ['success', 'response', said.payload] : ['error', 'error', quote(said.error)]
  return oneLine(`{"type":"control_response","response":{"subtype":"${subtype}","request_id":${id},"${key}":${json}}}`)
}

/** The text of an error in a `control_response`, which is a string or an object with one; else undefined. */
export function controlErrorText(error: unknown): string | undefined {
  const text = isRecord(error) ? error['message'] : error
  return typeof text === 'string' ? text : undefined
}
