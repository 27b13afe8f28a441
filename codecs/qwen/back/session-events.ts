import * as v from 'valibot'
import { scalarText } from '../../../src/codec-kit/index.ts'
import type { EventOf, Ext, JsonText, Stop } from '../../../src/model/index.ts'
import { member, members } from '../../../src/model/index.ts'
import { CommandResult, SessionEvent } from '../schema.ts'
import { readUsage } from '../usage.ts'
import { entriesExt, unknownExt } from '../wire.ts'
import type { TurnDecoder } from './turn.ts'
import type { Outcome } from './wire.ts'

/** The events that end a turn, in lower case without separators, and how they end it; undefined: as its last completion says. */
const ENDS: ReadonlyMap<string, Stop | undefined> = new Map<string, Stop | undefined>([
  ['finished', undefined],
  ['usercancelled', 'aborted'],
  ['maxsessionturns', 'max-turns'],
  ['maxtokens', 'max-tokens'],
])

const KNOWN: ReadonlySet<string> = new Set(['type', 'session_id', 'prompt_id', 'event', 'message', 'metrics', 'level'])

/** True for a session event that ends the turn it belongs to. */
export function isEnd(value: Record<string, unknown>): boolean {
  return value['type'] === 'x-qwen-session-event' && ENDS.has(plain(scalarText(value['event'])))
}

/** An `x-qwen-session-event`: the end of the turn, or a notice. */
export function readSessionEvent(turn: TurnDecoder, value: Record<string, unknown>, json: JsonText): Outcome {
  const { success, output } = v.safeParse(SessionEvent, value)
  if (!success) return 'misfit'
  const unknown = unknownExt(json, value, KNOWN)
  if (!isEnd(value)) {
    const notice = noticeOf(value, json)
    if (plain(output.event) === 'chatcompressed') turn.compressed(output.message ?? '')
    turn.emit(notice.event, notice.ext)
    return 'read'
  }
  const usage = readUsage(output.metrics, (loss) => turn.report(loss))
  turn.countTurn(usage)
  const metrics = usage ? undefined : member(json, 'metrics')
  const ext = entriesExt([...members(unknown?.json ?? '{}'), ['metrics', metrics === 'null' ? undefined : metrics]])
  turn.finish(ENDS.get(plain(output.event)), ext)
  return 'read'
}

type Notice = Omit<EventOf<'notice'>, 'turn' | 'lane' | 'ext'>

/** A session event that ends nothing, as a notice; its own words ride along. */
export function noticeOf(value: Record<string, unknown>, json: JsonText): { event: Notice; ext: Ext | undefined } {
  const { level, message } = value
  const severity = level === 'error' || level === 'warning' ? level : 'info'
  const event: Notice = {
    type: 'notice',
    severity,
    code: kebab(scalarText(value['event'])),
    text: typeof message === 'string' ? message : '',
  }
  const unknown = unknownExt(json, value, KNOWN)
  return {
    event,
    ext: entriesExt([
      ...members(unknown?.json ?? '{}'),
      ['event', member(json, 'event')],
      ['metrics', member(json, 'metrics')],
    ]),
  }
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

const RESULT: ReadonlySet<string> = new Set(['type', 'session_id', 'prompt_id'])

/**
 * A `result/command`: a message or a dialog is the whole answer of its turn; with a prompt or a tool the turn goes on.
 */
export function readCommandResult(turn: TurnDecoder, value: Record<string, unknown>, json: JsonText): Outcome {
  const { success, output } = v.safeParse(CommandResult, value)
  if (!success) return 'misfit'
  const { type, content, level } = output.result
  const ext = unknownExt(json, value, RESULT)
  const text = typeof content === 'string' ? content : member(json, 'result')!
  if (type === 'submit_prompt' || type === 'tool') {
    const severity = level === 'error' || level === 'warning' ? level : 'info'
    turn.emit({ type: 'notice', severity, code: 'command-result', text }, ext)
  } else {
    turn.commandResult(text, ext)
    turn.finish('end')
  }
  return 'read'
}
