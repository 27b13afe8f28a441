import { countMembers, isUncounted, type Report, readCounts } from '../../../src/codec-kit/index.ts'
import { type Ext, isRecord, type JsonText, object, parse, type Usage } from '../../../src/model/index.ts'
import { unknownExt } from '../ext.ts'

/** The wire's name of every count. */
const NAMES: Readonly<Record<keyof Usage, string>> = {
  input: 'input_tokens',
  output: 'output_tokens',
  total: 'total_tokens',
  cacheRead: 'cache_read_input_tokens',
  cacheWrite: 'cache_creation_input_tokens',
  reasoning: 'reasoning_tokens',
  costUsd: 'cost_usd',
}
const KNOWN: ReadonlySet<string> = new Set(Object.values(NAMES))

/** A usage object with its other members; undefined when it has no counts, or only zeros. */
export function readUsage(json: JsonText, report: Report): { usage: Usage; ext?: Ext } | undefined {
  const value = parse(json)
  if (!isRecord(value)) return undefined
  const usage = readCounts(value, NAMES, report)
  if (isUncounted(usage)) return undefined
  const ext = unknownExt(json, value, KNOWN)
  return ext ? { usage, ext } : { usage }
}

/** The members of a usage object for what is known; an estimate says so. */
export function writeUsage(usage: Usage, estimated: boolean): JsonText {
  return object(countMembers(usage, NAMES), { estimated: estimated ? 'true' : undefined })
}
