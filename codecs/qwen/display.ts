import { dropped, type Report, weakened, wordTable } from '../../src/codec-kit/index.ts'
import {
  type JsonText,
  object,
  type Part,
  parse,
  parseObject,
  quote,
  rest,
  type ToolStatus,
} from '../../src/model/index.ts'

/** `status` of a tool display for every end of a tool. The wire does not distinguish a refusal from a cancellation. */
export const STATUS: Readonly<Record<ToolStatus, string>> = {
  ok: 'Success',
  error: 'Error',
  denied: 'Canceled',
  cancelled: 'Canceled',
}

/** The outcome of a tool by the lower-case `status` of its display; a tool with another status runs on. */
export const ENDED = wordTable<ToolStatus>({
  success: 'ok',
  error: 'error',
  canceled: 'cancelled',
  cancelled: 'cancelled',
})

/** Reads a `result_display`. `exact` is false when the parts cannot hold all of it. */
export function readDisplay(json: JsonText | undefined): { parts: Part[]; exact: boolean } {
  if (json === undefined || json === 'null' || json === '""') return { parts: [], exact: true }
  const value = parse(json)
  if (typeof value === 'string') return { parts: [{ type: 'text', text: value }], exact: true }
  const shown = parseObject(json)
  if (shown?.['kind'] !== 'file_diff') return { parts: [{ type: 'data', json }], exact: true }
  const { file_name: path, original, modified, diff } = shown
  if (typeof path !== 'string' || typeof modified !== 'string') return { parts: [{ type: 'data', json }], exact: true }
  const before = typeof original === 'string' ? original : null
  const exact = diff === unifiedDiff(path, before, modified) && rest(json, FILE_DIFF) === undefined
  return { parts: [{ type: 'diff', path, before, after: modified }], exact }
}

const FILE_DIFF: ReadonlySet<string> = new Set(['kind', 'file_name', 'diff', 'original', 'modified'])

/** Parts of a tool's result as displays, one after the other; texts that follow each other are one. */
export function writeDisplays(parts: readonly Part[], report: Report): JsonText[] {
  const displays: Shown[] = []
  for (const part of parts) {
    const shown = displayOf(part, report)
    const last = displays.at(-1)
    if (typeof shown === 'string' && typeof last === 'string') displays.splice(-1, 1, `${last}\n${shown}`)
    else if (shown !== undefined) displays.push(shown)
  }
  return displays.map((shown) => (typeof shown === 'string' ? quote(shown) : shown.json))
}

/** A display: a text, or one that is an object as JSON. */
type Shown = string | { json: JsonText }

function displayOf(part: Part, report: Report): Shown | undefined {
  switch (part.type) {
    case 'text':
      return part.text
    case 'diff':
      return { json: fileDiff(part.path, part.before, part.after) }
    case 'data':
      if (typeof parseObject(part.json)?.['kind'] === 'string') return { json: part.json }
      report(weakened('part.data'))
      return part.json
    default:
      report(dropped(`part.${part.type}`))
      return undefined
  }
}

function fileDiff(path: string, before: string | null, after: string): JsonText {
  return object({
    kind: '"file_diff"',
    file_name: quote(path),
    diff: quote(unifiedDiff(path, before, after)),
    original: before === null ? 'null' : quote(before),
    modified: quote(after),
  })
}

/** A unified diff of one hunk without context: the lines between what both versions begin and end with. */
export function unifiedDiff(path: string, before: string | null, after: string): string {
  const old = linesOf(before ?? '')
  const now = linesOf(after)
  const shorter = Math.min(old.length, now.length)
  let head = 0
  while (head < shorter && old[head] === now[head]) head += 1
  let tail = 0
  while (tail < shorter - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1
  const gone = old.slice(head, old.length - tail)
  const come = now.slice(head, now.length - tail)
  const names = [`--- ${before === null ? '/dev/null' : `a/${path}`}`, `+++ b/${path}`]
  if (gone.length === 0 && come.length === 0) return names.join('\n')
  const hunk = `@@ -${range(head, gone.length)} +${range(head, come.length)} @@`
  return [...names, hunk, ...gone.map((line) => `-${line}`), ...come.map((line) => `+${line}`)].join('\n')
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}

/** The range of a hunk: where it begins (an empty one: the line before it) and how many lines it has. */
function range(head: number, count: number): string {
  if (count === 1) return String(head + 1)
  return count === 0 ? `${head},0` : `${head + 1},${count}`
}
