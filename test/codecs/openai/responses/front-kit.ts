import { codec } from '../../../../codecs/openai/index.ts'
import { callIdOf } from '../../../../src/codec-kit/index.ts'
import type { TurnEvent } from '../../../../src/model/index.ts'
import { driveFront, type FrontDrive } from '../../../kit/drive.ts'
import { event, json } from '../kit.ts'

export const CONTINUATION = 't1.secret'
export const CALL_ID = callIdOf('call_', { continuation: CONTINUATION, at: 0 })

/** A client that has sent this body. */
export function ask(body: object | string, headers: Record<string, string> = {}, now?: number): FrontDrive {
  const context = { transport: 'http', method: 'POST', path: '/v1/responses', headers } as const
  const drive = driveFront(codec, { dialect: 'responses', ...(now !== undefined && { now }), ...context })
  drive.feed(typeof body === 'string' ? body : json(body))
  return drive
}

/** A client that says hi, with these members besides. */
export const hi = (more: object = {}): FrontDrive => ask({ model: 'coder', input: 'hi', ...more })

/** A client of a response that there is. */
export function stored(id: string, query = '', method: 'GET' | 'POST' = 'GET'): FrontDrive {
  const path = method === 'GET' ? '/v1/responses/:response' : '/v1/responses/:response/cancel'
  const drive = driveFront(codec, {
    dialect: 'responses',
    transport: 'http',
    method,
    path,
    query,
    params: { response: id },
  })
  drive.feed('')
  return drive
}

export interface Response {
  id: string
  status: string
  output: Record<string, unknown>[]
  error: { code: string; message: string } | null
  incomplete_details: { reason: string } | null
  usage: object | null
  metadata: object
  background: boolean
  model: string
}

/** The whole response that was sent last. */
export const responseOf = (drive: FrontDrive): Response => JSON.parse(String(drive.sent.at(-1))) as Response

export interface Sent {
  type: string
  sequence_number: number
  output_index?: number
  delta?: string
  item?: Record<string, unknown>
  response?: Response
}

/** The events of a stream; each says its type twice. */
export function eventsOf(drive: FrontDrive): Sent[] {
  return drive.sent.map((frame) => {
    const { event: name, data } = frame as { event: string; data: string }
    const sent = JSON.parse(data) as Sent
    if (sent.type !== name) throw new Error(`${sent.type} is called ${name}`)
    return sent
  })
}

/** Types without `response.`, in order. */
export const typesOf = (drive: FrontDrive): string[] => eventsOf(drive).map(({ type }) => type.replace('response.', ''))

export const parked = (...asks: object[]): TurnEvent =>
  event('turn-parked', { asks, continuation: CONTINUATION, deadline: 0 })
export const toolAsk = (tool: string): object => ({ ask: tool, question: { kind: 'tool', tool } })
export const call = (tool: string, args: string, more: object = {}): TurnEvent =>
  event('tool-call', { tool, name: 'ls', args, executor: 'client', ...more })
