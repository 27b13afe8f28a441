import { limitOfExit } from '../../codecs/qwen-code/back/errors.ts'
import { faultOfEnd } from '../../src/contract/index.ts'
import { isRecord } from '../../src/model/index.ts'
import { each, type Heard, type Line, list, type Normalisation, omit, record, whole, without } from './normal.ts'

const API_ERROR = /\[API Error: (.*)\]$/s

/** What the CLI's own parser says, and what we say there. */
const WRONG = /^(?:Cannot read|Unknown control request subtype: undefined|The message of a user line is null)/

/** What the README of Qwen Code lists as written otherwise between two ends of it. */
export const qwenCode: readonly Normalisation[] = [
  each("Ids (`uuid`, of messages and of sessions that the client did not name) are the gateway's own", withoutIds),
  each("`duration_api_ms` is 0 when no result of the agent contains it; `duration_ms` is the gateway's", (line) =>
    omit(line, 'duration_ms'),
  ),
  each('The gateway answers `initialize` with its own abilities', (line) => {
    const response = record(line['response'])
    const initialized = record(response['response'])['subtype'] === 'initialize'
    return initialized ? { ...line, response: omit(response, 'response') } : line
  }),
  each("The messages about a wrong line of the client are the gateway's own", (line) => {
    const { response, error } = line
    if (WRONG.test(String(record(response)['error']))) return { ...line, response: omit(record(response), 'error') }
    return WRONG.test(String(record(error)['message'])) ? { ...line, error: omit(record(error), 'message') } : line
  }),
  without('An answer that nothing waits for gets an error', (line) =>
    String(record(line['response'])['error']).startsWith('No control request with this request_id'),
  ),
  each('A failure that 0.15 reports as a success is a failure', asFailure),
  each(
    'A failure in the middle of an answer (`[API Error: …]` in its text) becomes the result alone',
    withoutApiErrors,
  ),
  whole('An answer without other content is left out', withoutEmptyAnswers),
  each('The `error` of a result has a `code` of the gateway', (line) => {
    const error = record(line['error'])
    const ours = String(error['code']).startsWith('QWEN_')
    return ours ? { ...line, error: omit(error, 'code') } : line
  }),
  each('`cache_read_input_tokens` of 0 without any other count is left out', (line) => {
    const usage = record(line['usage'])
    const none = Object.values(usage).every((count) => count === 0)
    return none && line['type'] === 'result' ? { ...line, usage: omit(usage, 'cache_read_input_tokens') } : line
  }),
  each('The counts of a resumed session begin with its first turn in the gateway', (line, { args }) =>
    line['type'] === 'result' && args.some((arg) => /^--(?:resume|continue|fork)/.test(arg))
      ? omit(line, 'usage')
      : line,
  ),
  each('Each call has an `assistant` line of its own; the first one has the tokens', onePerCall),
  whole('The ends of an answer follow all of its pieces and precede what comes next', withEndsLast),
  whole('Everything that a wire leaves open gets an end', withoutMadeEnds),
]

function withoutIds(line: Line): Line {
  const message = record(line['message'])
  const event = record(line['event'])
  return {
    ...omit(line, 'uuid', 'session_id'),
    ...(isRecord(line['message']) && { message: omit(message, 'id') }),
    ...(isRecord(event['message']) && { event: { ...event, message: omit(event['message'], 'id') } }),
  }
}

function asFailure(line: Line): Line {
  const told = line['is_error'] === false ? API_ERROR.exec(String(line['result'])) : undefined
  if (!told) return line
  return { ...omit(line, 'result'), subtype: 'error_during_execution', is_error: true, error: { message: told[0] } }
}

function withoutApiErrors(line: Line): Line | readonly Line[] {
  const { type } = line
  const error = record(line['error'])
  if (type === 'result' && 'message' in error) {
    const message = String(error['message'])
    return { ...line, error: { ...error, message: API_ERROR.exec(message)?.[1] ?? message } }
  }
  const { delta } = record(line['event'])
  if (API_ERROR.test(String(record(delta)['text']))) return []
  if (type !== 'assistant') return line
  const message = record(line['message'])
  const content = list(message['content']).flatMap((block) => {
    const { text } = record(block)
    const told = typeof text === 'string' ? API_ERROR.exec(text) : undefined
    const left = told ? String(text).slice(0, told.index) : text
    return told && left === '' ? [] : [told ? { ...record(block), text: left } : block]
  })
  return content.length === 0 ? [] : { ...line, message: { ...message, content } }
}

const isEvent = (line: Line, type: string): boolean => record(line['event'])['type'] === type

/** Without answers of which no piece is left. */
function withoutEmptyAnswers(lines: readonly Line[]): Line[] {
  return answers(lines).flatMap((part) => {
    const said = part.some((line) => isEvent(line, 'content_block_delta') || line['type'] === 'assistant')
    return said || !part.some((line) => isEvent(line, 'message_start'))
      ? part
      : part.filter((line) => line['type'] !== 'stream_event')
  })
}

/** The lines cut before every `message_start`, and before what ends a turn. */
function answers(lines: readonly Line[]): Line[][] {
  const parts: Line[][] = [[]]
  for (const line of lines) {
    if (isEvent(line, 'message_start') || line['type'] === 'result') parts.push([])
    parts.at(-1)!.push(line)
  }
  return parts
}

function onePerCall(line: Line): Line | readonly Line[] {
  const message = record(line['message'])
  const content = list(message['content'])
  if (line['type'] !== 'assistant' || record(content[0])['type'] !== 'tool_use') return line
  const none = { input_tokens: 0, output_tokens: 0 }
  return content.map((block, at) => ({
    ...line,
    message: { ...message, content: [block], ...(at > 0 && { usage: none }) },
  }))
}

/** Ends of blocks, `assistant` lines, the end of the answer: in this order behind its last piece. */
function withEndsLast(lines: readonly Line[]): Line[] {
  return answers(lines).flatMap((part) => {
    if (!part.some((line) => isEvent(line, 'message_start'))) return part
    const ends = [
      part.filter((line) => isEvent(line, 'content_block_stop')),
      part.filter((line) => line['type'] === 'assistant' && line['parent_tool_use_id'] === null),
      part.filter((line) => isEvent(line, 'message_stop')),
    ].flat()
    const others = part.filter((line) => !ends.includes(line))
    const last = others.findLastIndex(
      (line) => isEvent(line, 'content_block_start') || isEvent(line, 'content_block_delta'),
    )
    return [...others.slice(0, last + 1), ...ends, ...others.slice(last + 1)]
  })
}

/** Without a result that only says how the process ended, what it closes, and the greeting of a turn that never ran. */
function withoutMadeEnds(lines: readonly Line[], { end }: Heard): readonly Line[] {
  const said = (limitOfExit(end) ?? faultOfEnd(end)).message
  return lines.filter((line, at) => {
    const after = lines.slice(at + 1)
    const made = (one: Line | undefined): boolean => record(one?.['error'])['message'] === said
    if (made(line)) return false
    if (!after.some(made)) return true
    const greeting = String(line['qwen_code_version']).endsWith('+turnpike')
    const [block] = list(record(line['message'])['content'])
    const unanswered = record(block)['type'] === 'tool_result' && record(block)['content'] === ''
    return !greeting && !(unanswered && made(after[0]))
  })
}
