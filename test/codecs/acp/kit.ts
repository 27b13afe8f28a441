import { codec } from '../../../codecs/acp/index.ts'
import type { BackContext } from '../../../src/contract/index.ts'
import { type BackDrive, driveBack } from '../../kit/drive.ts'

/** A message as it is written to the agent. */
export interface Sent {
  id?: unknown
  method?: string
  params?: unknown
  result?: unknown
  error?: { code: number; message: string }
}

/** All messages that were written to the agent. */
export function sent(drive: BackDrive): Sent[] {
  return drive.sent.map((frame) => JSON.parse(String(frame)) as Sent)
}

/** The newest request or notification of this method. */
export function last(drive: BackDrive, method: string): Sent {
  const found = sent(drive).findLast((message) => message.method === method)
  if (!found) throw new Error(`nothing of the method ${method} was sent`)
  return found
}

/** The agent answers the newest request of this method. */
export function answer(drive: BackDrive, method: string, result: unknown = {}): void {
  drive.feed(JSON.stringify({ jsonrpc: '2.0', id: last(drive, method).id, result }))
}

/** The agent refuses the newest request of this method. */
export function refuse(drive: BackDrive, method: string, error: object): void {
  drive.feed(JSON.stringify({ jsonrpc: '2.0', id: last(drive, method).id, error }))
}

/** The line of an update of the session. */
export function updateLine(sessionUpdate: string, more: object = {}, sessionId = 'S'): string {
  const params = { sessionId, update: { sessionUpdate, ...more } }
  return JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params })
}

/** The line of a piece of the answer. */
export function textLine(text: string, more: object = {}): string {
  return updateLine('agent_message_chunk', { content: { type: 'text', text }, ...more })
}

/** What a test's agent is like: its result of `initialize` besides the version, its options. */
export interface AgentLike extends Partial<BackContext<unknown>> {
  about?: object
  options?: object
}

/** An agent that was greeted. */
export function greeted({ about = {}, options = {}, ...context }: AgentLike = {}): BackDrive {
  const drive = driveBack(codec, { options, ...context })
  drive.link.open!()
  answer(drive, 'initialize', { protocolVersion: 1, ...about })
  return drive
}

/** An agent with the session `S`, whose turn `t1` has its prompt. */
export function running(like: AgentLike = {}, state: object = {}): BackDrive {
  const drive = greeted(like)
  drive.start('Hi')
  answer(drive, 'session/new', { sessionId: 'S', ...state })
  return drive
}

/** The types of the events of the turn. */
export function types(drive: BackDrive): string[] {
  return drive.events.filter(({ turn }) => turn === 't1').map(({ type }) => type)
}
