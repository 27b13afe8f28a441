/** Drives the back of Claude Code: the agent's side of the handshake and of its lines. */
import { codec } from '../../../codecs/claude-code/index.ts'
import type { BackContext } from '../../../src/contract/index.ts'
import type { AgentEvent, EventOf } from '../../../src/model/index.ts'
import { type BackDrive, driveBack } from '../../kit/drive.ts'

type Start = Parameters<BackDrive['start']>[1]

/** A line that was sent. */
export interface Sent {
  type: string
  uuid?: string
  request_id?: string
  request?: { subtype: string } & Record<string, unknown>
  response?: Record<string, unknown>
  message?: { content: unknown[] }
}

/** A link with its agent. */
export interface Claude extends BackDrive {
  /** What was sent since the last look. */
  sentNow(): Sent[]
  /** The agent answers the newest control request of this subtype. */
  answer(subtype: string, response?: object): void
  refuse(subtype: string, error: string): void
  line(value: object): void
  stream(event: object, more?: object): void
  system(subtype: string, more?: object): void
  init(session?: string): void
  /** The agent says what has become of a message: the last one that it was sent, or the one with this id. */
  reports(state: string, uuid?: string): void
  result(more?: object): void
  ask(request: object, id?: string): void
  of<T extends AgentEvent['type']>(type: T): EventOf<T>[]
}

/** A link whose process has started; nothing is answered yet. */
export function claude(context: Partial<BackContext<unknown>> = {}, bound?: string): Claude {
  const drive = driveBack(codec, context)
  let seen = 0
  /** Lines of a later process are marked as its own. */
  const feed = (json: string): void => {
    const call = drive.calls.at(-1)?.call
    drive.feed(call === undefined ? json : { data: json, call })
  }
  const all = (): Sent[] => drive.sent.map((line) => JSON.parse(String(line)) as Sent)
  const reply = (subtype: string, response: object): void => {
    const request = all().findLast(({ request: asked }) => asked?.subtype === subtype)!
    agent.line({ type: 'control_response', response: { request_id: request.request_id, ...response } })
  }
  const agent: Claude = Object.assign(drive, {
    sentNow() {
      const fresh = all().slice(seen)
      seen = drive.sent.length
      return fresh
    },
    answer: (subtype: string, response: object = {}) => reply(subtype, { subtype: 'success', response }),
    refuse: (subtype: string, error: string) => reply(subtype, { subtype: 'error', error }),
    line: (value: object) => feed(JSON.stringify(value)),
    stream: (event: object, more: object = {}) =>
      agent.line({ type: 'stream_event', event, parent_tool_use_id: null, ...more }),
    system: (subtype: string, more: object = {}) => agent.line({ type: 'system', subtype, ...more }),
    init: (session = 's') => agent.system('init', { session_id: session, model: 'opus' }),
    reports: (state: string, uuid = all().findLast(({ type }) => type === 'user')?.uuid) =>
      agent.line({ type: 'command_lifecycle', command_uuid: uuid, state }),
    result: (more: object = {}) => agent.line({ type: 'result', subtype: 'success', is_error: false, ...more }),
    ask: (request: object, id = 'q1') => agent.line({ type: 'control_request', request_id: id, request }),
    of: <T extends AgentEvent['type']>(type: T) =>
      drive.events.filter((event): event is never => event.type === type) as EventOf<T>[],
  })
  agent.link.open!(bound)
  return agent
}

/** A link that is ready for its first turn. */
export function greeted(context: Partial<BackContext<unknown>> = {}, bound?: string): Claude {
  const agent = claude(context, bound)
  agent.answer('initialize', { models: [{ value: 'default' }, { value: 'haiku' }] })
  return agent
}

/** A link whose turn `t1` runs in the session `s`. */
export function running(start?: Start): Claude {
  const agent = greeted()
  agent.start('hi', start)
  agent.init()
  agent.sentNow()
  return agent
}

/** An answer of the model that streams: the events of its blocks. */
export function streamed(
  agent: Claude,
  id: string,
  blocks: readonly { block: object; deltas: readonly object[] }[],
): void {
  agent.stream({ type: 'message_start', message: { id } })
  for (const [index, { block, deltas }] of blocks.entries()) {
    agent.stream({ type: 'content_block_start', index, content_block: block })
    for (const delta of deltas) agent.stream({ type: 'content_block_delta', index, delta })
    agent.stream({ type: 'content_block_stop', index })
  }
  agent.stream({ type: 'message_stop' })
}
