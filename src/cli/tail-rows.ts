import type { TurnInfoReply } from '../model/index.ts'

/** The text of a column for a turn; absent when it is empty. */
type Cell = (turn: TurnInfoReply) => string | number | undefined

/** A column: heading, width and content. A longer text moves the rest of its row. */
export type Column = readonly [name: string, width: number, cell: Cell]

const ALL: readonly Column[] = [
  ['STARTED', 8, ({ startedAt }) => clock(startedAt)],
  ['TURN', 22, ({ turn }) => turn],
  ['CLIENT', 11, ({ front }) => front],
  ['ROUTE', 12, ({ route }) => route],
  ['AGENT', 20, ({ agent, back }) => (back === undefined ? agent : `${agent}/${back}`)],
  ['STATE', 10, stateOf],
  ['QUEUED', 7, ({ timings }) => duration(timings?.queue)],
  ['START', 7, ({ timings }) => duration(timings?.agentStart)],
  ['FIRST', 7, ({ timings }) => duration(timings?.firstEvent)],
  ['TOTAL', 7, ({ timings }) => duration(timings?.total)],
  ['TOKENS', 11, tokens],
  ['LOST', 5, ({ losses }) => losses?.reduce((sum, { count }) => sum + count, 0)],
  ['ENDING', 20, ({ code, error }) => (error === undefined ? code : `${code} ${error}`)],
]

/** The columns that are left out on a narrow terminal, in this order. */
const LEFT_OUT = ['ROUTE', 'QUEUED', 'START', 'FIRST', 'CLIENT', 'TOKENS', 'TURN', 'STARTED', 'LOST']
const GAP = '  '

/** The columns that fit into so many characters; the outcome and its reason always stay. */
export function fitting(width: number): readonly Column[] {
  let columns = ALL
  for (const name of LEFT_OUT) {
    const taken = columns.reduce((sum, [, own]) => sum + own + GAP.length, -GAP.length)
    if (taken <= width) return columns
    columns = columns.filter((column) => column[0] !== name)
  }
  return columns
}

const COLOURS: Readonly<Record<TurnInfoReply['state'], number>> = {
  running: 36,
  completed: 32,
  failed: 31,
  cancelled: 33,
}

/** The line of the headings. */
export function heading(columns = ALL): string {
  return line(columns.map(([name, width]) => name.padEnd(width)))
}

/** The line of a turn; its state has a colour on a terminal. */
export function row(turn: TurnInfoReply, colour: boolean, columns = ALL): string {
  return line(
    columns.map(([name, width, cell]) => {
      const text = visible(String(cell(turn) ?? '-')).padEnd(width)
      return colour && name === 'STATE' ? `\u001b[${COLOURS[turn.state]}m${text}\u001b[0m` : text
    }),
  )
}

/** A turn as one line of JSON, without control characters. */
export function wireJson(turn: TurnInfoReply): string {
  return `${visible(JSON.stringify(turn))}\n`
}

function line(cells: readonly string[]): string {
  return `${cells.join(GAP).trimEnd()}\n`
}

function stateOf({ state, phase }: TurnInfoReply): string {
  return phase ?? state
}

/** Hours, minutes and seconds in local time. */
function clock(at: number): string {
  return new Date(at).toTimeString().slice(0, 8)
}

/** Milliseconds in three or four characters. */
function duration(ms: number | undefined): string | undefined {
  if (ms === undefined) return undefined
  if (ms < 1_000) return `${Math.round(ms)}ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)}s`
  return `${Math.floor(ms / 60_000)}m${Math.floor((ms % 60_000) / 1_000)}s`
}

/** Input and output tokens; `?` for counts that the agent does not report. */
function tokens({ usage }: TurnInfoReply): string | undefined {
  if (usage?.input === undefined && usage?.output === undefined) return usage?.total?.toString()
  return `${usage.input ?? '?'}/${usage.output ?? '?'}`
}

/** Text with its control characters as escapes: ids come from clients. */
export function visible(text: string): string {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
