import { parse } from '../../src/model/index.ts'
import { each, type Heard, type Line, type Normalisation, omit, whole, without } from './normal.ts'

const PREFIX = /^AGENT_(PARTIAL|SESSION|ERROR):(.*)$/s

/** The lines of wire 0.1 as values: what they are, and their payload. */
export function lines01(wire: string): Line[] {
  const lines = wire.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map((raw) => {
    const text = raw.replace(/\r$/, '')
    const [, kind, payload = ''] = PREFIX.exec(text) ?? []
    if (kind === undefined) return { type: 'body', text }
    const said = parse(payload.trim())
    return { type: kind.toLowerCase(), text: typeof said === 'string' ? said : payload.trim() }
  })
}

/** What the README of AgentProc lists of wire 0.1 as written otherwise between two ends of it. */
export const agentproc01: readonly Normalisation[] = [
  whole('0.1: an error, and what stands behind it | the last error, at the end', withOneError),
  whole('a process that fails without a word | an error that says so', withError),
  whole("0.1: the agent's session id | the gateway's, before the first output", withoutOwnSession),
  whole('0.1: runs of partials and body lines | an empty line apart', asOneText),
]

/** Lines behind an error are no answer, but for the session; the last error with a text is the one that counts. */
function withOneError(lines: readonly Line[]): readonly Line[] {
  const first = lines.findIndex(isError)
  if (first < 0) return lines
  const sessions = lines.slice(first).filter(({ type }) => type === 'session')
  return [...lines.slice(0, first), ...sessions, lines.findLast(isError)!]
}

function isError({ type, text }: Line): boolean {
  return type === 'error' && text !== ''
}

function withError(lines: readonly Line[], { end }: Heard): readonly Line[] {
  const failed = failureOf(end)
  return failed === undefined || lines.some(isError) ? lines : [...lines, { type: 'error', text: failed }]
}

/** What is said of a process that failed without a word; undefined for one that did not. */
function failureOf({ exitCode, signal }: Heard['end']): string | undefined {
  const how = signal ? `signal ${signal}` : exitCode ? `exit code ${exitCode}` : undefined
  return how && `The agent failed (${how}); its stderr is in the gateway log.`
}

/** The last valid id of the agent, first; none where the agent says none. */
function withoutOwnSession(lines: readonly Line[], { read }: Heard): Line[] {
  const ids = (of: readonly Line[]) =>
    of.filter(({ type, text }) => type === 'session' && /^[\w.~=-]+$/.test(String(text)))
  const last = ids(read).length > 0 ? ids(lines).slice(-1) : []
  return [...last, ...lines.filter(({ type }) => type !== 'session')]
}

/** Body lines are a line apart, and runs of either kind an empty line. */
function asOneText(lines: readonly Line[]): Line[] {
  const others = lines.filter(({ type }) => type !== 'partial' && type !== 'body')
  let before: unknown
  let text = ''
  for (const { type, text: said } of lines) {
    if (type !== 'partial' && type !== 'body') continue
    // A blank line between partials is no run of its own.
    if (type === 'body' && said === '' && before !== 'body') continue
    const gap = before === undefined ? '' : before !== type ? '\n\n' : type === 'body' ? '\n' : ''
    text += gap + String(said)
    before = type
  }
  return text === '' ? others : [...others, { type: 'text', text }]
}

/** What the README of AgentProc lists of wire 0.4 as written otherwise between two ends of it. */
export const agentproc04: readonly Normalisation[] = [
  each('0.4: role `output` | no role', (line) =>
    line['type'] === 'partial' && line['role'] !== 'thinking' ? omit(line, 'role') : line,
  ),
  without(
    '0.4: a partial without a text | nothing',
    ({ type, text }) => type === 'partial' && (typeof text !== 'string' || text === ''),
  ),
  whole('0.4: session ids on any event | the first valid one, on the first event and on errors', withOneSession),
  whole('0.4: an error, and what stands behind it | the first error, at the end', (lines) => {
    const error = lines.findIndex(isError04)
    return error < 0 ? lines : lines.slice(0, error + 1)
  }),
  whole("0.4: a failed turn's result | partials before the error", (lines, { end }) => {
    if (failureOf(end) === undefined || lines.some(({ type }) => type === 'error')) return lines
    return lines.map((line) => (line['type'] === 'result' ? { type: 'partial', text: line['text'] } : line))
  }),
  whole('a process that fails without a word | an error that says so', (lines, { end }) => {
    const failed = failureOf(end)
    if (failed === undefined || lines.some(({ type }) => type === 'error')) return lines
    return [...lines, { type: 'error', message: failed }]
  }),
  whole('0.4: no result | a result with the whole reply', (lines) =>
    lines.some(({ type }) => type === 'result' || type === 'error') ? lines : [...lines, { type: 'result', text: '' }],
  ),
  whole('0.4: a result after partials | the whole reply', (lines) => {
    const shown = textOf(lines.filter(({ type, role }) => type === 'partial' && role === undefined))
    return lines.map((line) => {
      return line['type'] === 'result' && shown.endsWith(textOf([line])) ? { ...line, text: shown } : line
    })
  }),
]

/** The first valid session id as a member of the wire; none where the agent names none. */
function withOneSession(lines: readonly Line[], { read }: Heard): Line[] {
  const ids = (of: readonly Line[]) => of.map(({ session_id: id }) => id).filter(isSession)
  const first = ids(read).length > 0 ? ids(lines)[0] : undefined
  return [
    ...(first === undefined ? [] : [{ type: 'partial', session: first }]),
    ...lines.map((line) => omit(line, 'session_id')),
  ]
}

function isSession(id: unknown): boolean {
  return typeof id === 'string' && id !== '' && !/[/\\\p{Cc}]|^\.\.?$/u.test(id)
}

/** What wire 0.4 loses on the way to itself: what stands behind an error, and that nobody can answer a question any more. */
export function losses04({ read }: Heard, answered: number): string[] {
  const failed = read.findIndex(isError04)
  const behind = (type: string) => read.slice(failed).filter((line) => failed >= 0 && line['type'] === type).length
  const asked = read.filter(({ type }) => type === 'permission_request').length
  return [
    ...counted('dropped text-delta', behind('partial')),
    ...counted('dropped message-end', behind('result')),
    ...counted('weakened ask-settled', asked - answered),
  ]
}

function isError04({ type, message }: Line): boolean {
  return type === 'error' && typeof message === 'string' && message !== ''
}

function textOf(lines: readonly Line[]): string {
  return lines.map(({ text }) => (typeof text === 'string' ? text : '')).join('')
}

function counted(loss: string, count: number): string[] {
  return count > 0 ? [`${loss} ${count}`] : []
}
