import {
  CHAT_COUNTS,
  keysOf,
  readChatUsage,
  reportFurther,
  scalarText,
  wordTable,
} from '../../../src/codec-kit/index.ts'
import {
  type EventOf,
  type Ext,
  isRecord,
  type JsonText,
  type Loss,
  member,
  members,
  type Stop,
} from '../../../src/model/index.ts'
import { OWN_MESSAGES } from '../ends.ts'
import { CommandResult, SessionEvent } from '../schema.ts'
import { entriesExt, unknownExt } from '../wire.ts'
import { type Reader, reader } from './lines.ts'

/** The events that end a turn, in lower case without separators, and how they end it; undefined: as its last completion says. */
const ENDS = wordTable<Stop | undefined>({
  finished: undefined,
  usercancelled: 'aborted',
  maxsessionturns: 'max-turns',
  maxtokens: 'max-tokens',
})

const KNOWN = keysOf(SessionEvent)
const RESULT: ReadonlySet<string> = new Set(['type', 'session_id', 'prompt_id'])

/** True for a session event that ends the turn it belongs to. */
export function isEnd(value: Record<string, unknown>): boolean {
  return value['type'] === 'x-qwen-session-event' && ENDS.has(plain(scalarText(value['event'])))
}

/** An `x-qwen-session-event`: the end of the turn, or a notice. */
export const SESSION_EVENT: Reader = reader('notice', SessionEvent, (turn, value, json) => {
  const name = plain(value.event)
  if (!ENDS.has(name)) {
    const notice = noticeOf(value, json)
    if (name === 'chatcompressed') turn.compressed(value.message ?? '')
    turn.emit(notice.event, notice.ext)
    return 'read'
  }
  const report = (loss: Loss): void => turn.report(loss)
  const usage = readChatUsage(value.metrics, report)
  turn.countTurn(usage)
  if (usage && isRecord(value.metrics)) reportFurther(value.metrics, CHAT_COUNTS, report, 'usage')
  const metrics = usage ? undefined : member(json, 'metrics')
  const unknown = unknownExt(json, value, KNOWN)
  const ext = entriesExt(members(unknown?.json ?? '{}'), {
    message: value.message && !OWN_MESSAGES.has(value.message) ? member(json, 'message') : undefined,
    metrics: metrics === 'null' ? undefined : metrics,
  })
  turn.finish(ENDS.get(name), ext)
  return 'read'
})

type Notice = Omit<EventOf<'notice'>, 'turn' | 'lane' | 'ext'>

/** A session event that ends nothing, as a notice with the event's own members. */
export function noticeOf(value: Record<string, unknown>, json: JsonText): { event: Notice; ext: Ext | undefined } {
  const { level, message, event } = value
  const text = typeof message === 'string' ? message : ''
  const unknown = unknownExt(json, value, KNOWN)
  const own = ['event', 'metrics'].map((key) => [key, member(json, key)] as const)
  return {
    event: { type: 'notice', severity: severityOf(level), code: kebab(scalarText(event)), text },
    ext: entriesExt([...members(unknown?.json ?? '{}'), ...own]),
  }
}

/**
 * A `result/command`: a message or a dialog is the whole answer of its turn; with a prompt or a tool the turn goes on.
 */
export const COMMAND_RESULT: Reader = reader('command-reply', CommandResult, (turn, value, json) => {
  const { type, content, level } = value.result
  const ext = unknownExt(json, value, RESULT)
  const text = typeof content === 'string' ? content : member(json, 'result')!
  if (type === 'submit_prompt' || type === 'tool') {
    turn.notice(severityOf(level), 'command-result', text, ext)
  } else {
    turn.commandResult(text, ext)
    turn.finish('end')
  }
  return 'read'
})

function severityOf(level: unknown): Notice['severity'] {
  return level === 'error' || level === 'warning' ? level : 'info'
}

/** The name of an event as a code: `ChatCompressed` and `CHAT_COMPRESSED` are `chat-compressed`. */
function kebab(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/[^A-Za-z0-9]+/g, '-')
    .toLowerCase()
}

function plain(name: string): string {
  return kebab(name).replaceAll('-', '')
}
