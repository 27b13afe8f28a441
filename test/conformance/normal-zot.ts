import { faultOfEnd } from '../../src/contract/index.ts'
import { each, type Heard, type Line, type Normalisation, omit, whole, without } from './normal.ts'

const DONE: Line = { type: 'done' }
const ABORTED: Line = { type: 'turn_end', stop: 'aborted' }
const EPOCH = new Date(0).toISOString()

/** What the README of zot lists as written otherwise between two ends of it. */
export const zot: readonly Normalisation[] = [
  each('the stop `end` is written `end_turn`', (line) =>
    line['type'] === 'turn_end' && line['stop'] === 'end' ? { ...line, stop: 'end_turn' } : line,
  ),
  whole(
    '`tool_use_end` stands before the `usage` of its model call, also where the agent left it out',
    withEndsOfArguments,
  ),
  without(
    'a `usage` of zeros is left out',
    ({ type, input, output }) => type === 'usage' && input === 0 && output === 0,
  ),
  whole('a turn that the agent left without an end gets one, with the `error` that says how its process ended', closed),
  whole('an aborted or failed turn ends in the one form above', withOneEnd),
  whole('`compact` ends with `done`', withEndsOfCompactions),
  each('the gateway answers `hello`', (line) =>
    line['type'] === 'response' && line['command'] === 'hello' ? omit(line, 'data') : line,
  ),
  each('an `abort` and an invalid line', (line) =>
    /^malformed json: /.test(String(line['error'])) ? { ...line, error: 'malformed json' } : line,
  ),
  without(
    'the notice `partial-answer` is an `ext_notify` of the extension `turnpike`',
    ({ type, extension }) => type === 'ext_notify' && extension === 'turnpike',
  ),
]

function withEndsOfArguments(lines: readonly Line[]): Line[] {
  const open = new Set<unknown>()
  return lines.flatMap((line): Line[] => {
    if (line['type'] === 'tool_use_start') open.add(line['id'])
    if (line['type'] === 'tool_use_end') open.delete(line['id'])
    if (line['type'] !== 'usage') return [line]
    const ends = [...open].map((id) => ({ type: 'tool_use_end', id }))
    open.clear()
    return [...ends, line]
  })
}

/** The messages with the end of the last turn, where it has none. */
function closed(lines: readonly Line[], { end }: Heard): readonly Line[] {
  const begun = lines.findLastIndex(({ type }) => type === 'user_message')
  const left = lines.slice(begun)
  if (begun < 0 || left.some(({ type }) => type === 'done')) return lines
  const text = left.map(({ type, delta }) => (type === 'text_delta' ? delta : '')).join('')
  return [
    ...lines,
    { type: 'assistant_message', content: [{ type: 'text', text }], time: EPOCH },
    { type: 'turn_end', stop: 'error' },
    { type: 'error', message: faultOfEnd(end).message },
    DONE,
  ]
}

/** All shapes of an abort as `turn_end` aborted, and a refusal by an extension as an `error` too. */
function withOneEnd(lines: readonly Line[]): Line[] {
  return lines.flatMap((line, at): Line[] => {
    const { type, stop, error } = line
    const next = lines[at + 1]?.['type']
    if (type === 'tool_result' && next === 'done') return [line, ABORTED]
    if (type !== 'turn_end' || stop !== 'error') return [line]
    if (String(error).endsWith('context canceled')) return [{ ...line, stop: 'aborted' }]
    return next === 'done' ? [line, { type: 'error', message: error }] : [line]
  })
}

function withEndsOfCompactions(lines: readonly Line[]): Line[] {
  let compacts = false
  return lines.flatMap((line, at): Line[] => {
    const { type, command } = line
    const next = lines[at + 1]?.['type']
    if (type === 'response' && command === 'compact') compacts = line['success'] === true
    if (!compacts) return [line]
    if (type === 'done') compacts = false
    if (type === 'response' && command === 'abort' && next !== 'turn_end') {
      compacts = false
      return [line, ABORTED, DONE]
    }
    return (type === 'compact_done' || type === 'error') && next !== 'done' ? [line, DONE] : [line]
  })
}
