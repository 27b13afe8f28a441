/** Drives the back of an app-server: the agent's side of the handshake and of its calls. */
import { codec } from '../../../codecs/codex/index.ts'
import type { BackContext, Carrier } from '../../../src/contract/index.ts'
import type { AgentEvent, EventOf } from '../../../src/model/index.ts'
import { type BackDrive, driveBack } from '../../kit/drive.ts'

type Start = Parameters<BackDrive['start']>[1]
type Context = Partial<BackContext<unknown>> & { trace?: Carrier }

/** A message of a wire. */
export interface Message {
  id?: unknown
  method?: string
  params?: Record<string, unknown>
  result?: unknown
  error?: { code: number; message: string }
}

/** A link with its agent. */
export interface Codex extends BackDrive {
  /** What was sent since the last look. */
  sentNow(): Message[]
  /** The newest call of this method. */
  call(method: string): Message
  /** The agent answers the newest call of this method. */
  answer(method: string, result: object): void
  refuse(method: string, message: string, code?: number): void
  /** The agent tells something of the turn: thread `th`, turn `u1`. */
  note(method: string, params?: object): void
  item(what: 'started' | 'completed', item: object): void
  /** The agent ends the turn. */
  completed(turn?: object): void
  of<T extends AgentEvent['type']>(type: T): EventOf<T>[]
}

/** A link whose process has started; nothing is answered yet. */
export function codex(context: Context = {}): Codex {
  const drive = driveBack(codec, context)
  let seen = 0
  const all = (): Message[] => drive.sent.map((line) => JSON.parse(String(line)) as Message)
  const agent: Codex = Object.assign(drive, {
    sentNow() {
      const fresh = all().slice(seen)
      seen = drive.sent.length
      return fresh
    },
    call: (method: string) => all().findLast((message) => message.method === method)!,
    answer: (method: string, result: object) => drive.feed(JSON.stringify({ id: agent.call(method).id, result })),
    refuse: (method: string, message: string, code = -32600) =>
      drive.feed(JSON.stringify({ id: agent.call(method).id, error: { code, message } })),
    note: (method: string, params: object = {}) =>
      drive.feed(JSON.stringify({ method, params: { threadId: 'th', turnId: 'u1', ...params } })),
    item: (what: string, item: object) => agent.note(`item/${what}`, { item }),
    completed: (turn: object = {}) =>
      agent.note('turn/completed', { turnId: undefined, turn: { id: 'u1', status: 'completed', items: [], ...turn } }),
    of: <T extends AgentEvent['type']>(type: T) =>
      drive.events.filter((event): event is never => event.type === type) as EventOf<T>[],
  })
  agent.link.open!()
  return agent
}

/** A link that is ready for its first turn. */
export function greeted(context: Context = {}): Codex {
  const agent = codex(context)
  agent.answer('initialize', { userAgent: 'turnpike/0.171.0 (Linux)' })
  return agent
}

/** A link whose turn `t1` runs in the thread `th`, under the agent's id `u1`. */
export function running(start?: Start, context: Context = {}): Codex {
  const agent = greeted(context)
  agent.start('hi', start)
  agent.answer('thread/start', { thread: { id: 'th' }, model: 'm1', reasoningEffort: 'low' })
  agent.answer('turn/start', { turn: { id: 'u1' } })
  return agent
}

/** A command that runs, and the agent's request for an approval of it. */
export function asking(params: object = {}, method = 'item/commandExecution/requestApproval', id: unknown = 0): Codex {
  const agent = running()
  agent.item('started', { type: 'commandExecution', id: 'c1', command: 'ls', cwd: '/project', status: 'inProgress' })
  agent.feed(
    JSON.stringify({ id, method, params: { threadId: 'th', turnId: 'u1', itemId: 'c1', command: 'ls', ...params } }),
  )
  agent.sentNow()
  return agent
}
