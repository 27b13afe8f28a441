import { codec } from '../../../codecs/acp/index.ts'
import type { BackContext, Carrier } from '../../../src/contract/index.ts'
import type { AgentEvent, EventOf, TurnEvent } from '../../../src/model/index.ts'
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

/** The methods that were called, in order. */
export function methods(drive: BackDrive): (string | undefined)[] {
  return sent(drive).map(({ method }) => method)
}

/** The newest request or notification of this method. */
export function last(drive: BackDrive, method: string): Sent {
  const found = sent(drive).findLast((message) => message.method === method)
  if (!found) throw new Error(`nothing of the method ${method} was sent`)
  return found
}

/** The answer that was sent to the agent's request of this id. */
export function answerOf(drive: BackDrive, id: unknown): Pick<Sent, 'result' | 'error'> | undefined {
  const found = sent(drive).find((message) => message.method === undefined && message.id === id)
  return found && (found.error ? { error: found.error } : { result: found.result })
}

/** The agent answers the newest request of this method. */
export function answer(drive: BackDrive, method: string, result: unknown = {}): void {
  drive.feed(JSON.stringify({ jsonrpc: '2.0', id: last(drive, method).id, result }))
}

/** The agent refuses the newest request of this method. */
export function refuse(drive: BackDrive, method: string, error: object): void {
  drive.feed(JSON.stringify({ jsonrpc: '2.0', id: last(drive, method).id, error }))
}

/** The line of a request of the agent. */
export function requestLine(id: unknown, method: string, params: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

/** The line of an update of the session. */
export function updateLine(sessionUpdate: string, more: object = {}, sessionId = 'S'): string {
  const params = { sessionId, update: { sessionUpdate, ...more } }
  return JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params })
}

/** The line of a piece of the answer; members of `more` come first. */
export function textLine(text: string, more: object = {}): string {
  return updateLine('agent_message_chunk', { ...more, content: { type: 'text', text } })
}

/** A test's agent: its result of `initialize` besides the version, and its options. */
export interface AgentLike extends Partial<BackContext<unknown>> {
  about?: object
  options?: object
  trace?: Carrier
}

/** The line in which an agent asks for permission to call a tool. */
export function permissionLine(id: unknown, toolCall: object, options: readonly object[], sessionId = 'S'): string {
  return requestLine(id, 'session/request_permission', { sessionId, toolCall, options })
}

/** Two options as most agents name them. */
export const OPTIONS = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
] as const

/** An agent that was started, and has answered nothing. */
export function started({ about: _, options = {}, ...context }: AgentLike = {}): BackDrive {
  const drive = driveBack(codec, { options, ...context })
  drive.link.open!()
  return drive
}

/** An agent that was greeted. */
export function greeted(like: AgentLike = {}): BackDrive {
  const drive = started(like)
  answer(drive, 'initialize', { protocolVersion: 1, ...like.about })
  return drive
}

/** An agent with the session `S`, whose turn `t1` has its prompt. */
export function running(like: AgentLike = {}, state: object = {}): BackDrive {
  const drive = greeted(like)
  drive.start('Hi')
  answer(drive, 'session/new', { sessionId: 'S', ...state })
  return drive
}

/** The agent ends the turn that runs. */
export function finish(drive: BackDrive, stopReason = 'end_turn', more: object = {}): void {
  answer(drive, 'session/prompt', { stopReason, ...more })
}

/** The events of the turn, without their turn. */
export function events(drive: BackDrive): object[] {
  return drive.events.flatMap(({ turn, ...event }) => (turn === 't1' ? [event] : []))
}

/** The events of one type. */
export function ofType<T extends AgentEvent['type']>(drive: BackDrive, type: T): EventOf<T & TurnEvent['type']>[] {
  return drive.events.filter((event) => event.type === type) as never
}
