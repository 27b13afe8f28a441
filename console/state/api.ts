import { signal } from '@preact/signals'
import { frameDecoder } from '../../src/framing/index.ts'

/** True when the gateway has refused a request for want of a login. */
export const loginNeeded = signal(false)

/** A refusal of the gateway. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** The longest server-sent event that is read, in characters. */
const LONGEST_EVENT = 64 * 1024 * 1024

/** The root of the gateway, also below the path of a proxy. */
export const ROOT = new URL('..', document.baseURI.replace(/#.*/, ''))

/** Sends a request to the gateway. Rejects with an `ApiError` when it is refused. */
export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(new URL(path.replace(/^\//, ''), ROOT), { credentials: 'same-origin', ...init })
  if (response.ok) return response
  if (response.status === 401) loginNeeded.value = true
  throw await refusalOf(response)
}

/** The JSON of an endpoint. */
export async function get<T>(path: string, stop?: AbortSignal): Promise<T> {
  const response = await ask(path, { headers: { accept: 'application/json' }, ...(stop && { signal: stop }) })
  return (await response.json()) as T
}

/** Sends JSON. */
export function post(path: string, body: unknown = {}): Promise<Response> {
  return ask(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}

/** The error that a refusal has in its body, in the form of the native API or of the gateway. */
async function refusalOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '')
  try {
    const { fault, error } = JSON.parse(text) as Record<'fault' | 'error', { code?: string; message?: string }>
    const { code = 'unknown', message = text } = fault ?? error ?? {}
    return new ApiError(response.status, code, message)
  } catch {
    return new ApiError(response.status, 'unknown', text.slice(0, 500) || `The gateway answered ${response.status}.`)
  }
}

/** Reads the text of an answer piece by piece. */
export async function readText(response: Response, take: (text: string) => void): Promise<void> {
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) take(piece.value)
}

/** Calls `take` with each server-sent event of an endpoint until it ends or `stop` is aborted. */
export async function readEvents(
  path: string,
  stop: AbortSignal,
  take: (event: string, data: string) => void,
): Promise<void> {
  const response = await ask(path, { headers: { accept: 'text/event-stream' }, signal: stop })
  const decoder = frameDecoder('sse', LONGEST_EVENT, {
    frame: (frame) => typeof frame !== 'string' && take(frame.event ?? '', frame.data),
    fault: ({ message }) => {
      throw new Error(message)
    },
  })
  await readText(response, (text) => decoder.push(text))
}

/** The message of anything that was thrown, for people. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message
  return error instanceof TypeError ? 'The gateway does not answer.' : String(error)
}
