import { isRecord, type JsonText, parse, quote } from '../../../src/model/index.ts'

const STATUS: Readonly<Record<string, string>> = {
  pending: 'pending',
  in_progress: 'in_progress',
  inProgress: 'in_progress',
  completed: 'completed',
  done: 'completed',
}
const PRIORITIES: ReadonlySet<string> = new Set(['high', 'medium', 'low'])

/**
 * The entries of a plan, which agents write as an array of steps or as an object with one; undefined for anything else.
 */
export function planEntries(json: JsonText): JsonText | undefined {
  const value = parse(json)
  const list = Array.isArray(value) ? value : isRecord(value) ? Object.values(value).find(Array.isArray) : undefined
  if (list === undefined) return undefined
  const entries = list.map(entryOf)
  return entries.includes(undefined) ? undefined : `[${entries.join(',')}]`
}

function entryOf(step: unknown): JsonText | undefined {
  const { content, step: named, title, text, status, priority } = isRecord(step) ? step : { content: step }
  const words = [content, named, title, text].find((word) => typeof word === 'string')
  if (words === undefined) return undefined
  const state = typeof status === 'string' && Object.hasOwn(STATUS, status) ? STATUS[status]! : 'pending'
  const level = typeof priority === 'string' && PRIORITIES.has(priority) ? priority : 'medium'
  return `{"content":${quote(words)},"priority":"${level}","status":"${state}"}`
}
