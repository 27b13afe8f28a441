import { dropped, type Report, weakened } from '../../../src/codec-kit/index.ts'
import { asJson, type JsonText, type Members, type Part, quote, type ToolStatus } from '../../../src/model/index.ts'
import { ALL_KINDS, partLoss, writeBlock } from '../content.ts'
import { readToolContent } from '../tools.ts'

/** The kinds of tools that the protocol knows. */
const KINDS: ReadonlySet<string> = new Set([
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'think',
  'fetch',
  'switch_mode',
  'other',
])

/** The kind of a tool, where the protocol knows it. */
export function kindJson(kind: string | undefined, report: Report): JsonText | undefined {
  const known = kind !== undefined && KINDS.has(kind)
  if (kind !== undefined && !known) report(dropped('tool.kind', undefined, 'unknown'))
  return known ? quote(kind) : undefined
}

/** The arguments of a call as they are; text that is no JSON is a string. */
export function inputJson(args: JsonText): JsonText | undefined {
  return args === '' ? undefined : asJson(args)
}

/** The status of an ended call. The protocol has no status for one that was denied or cancelled. */
export function endJson(status: ToolStatus, report: Report): JsonText {
  if (status === 'denied' || status === 'cancelled') report(weakened('tool-end', 'status', 'too-narrow'))
  return status === 'ok' ? '"completed"' : '"failed"'
}

/** The content of a call, its diffs as such. The first JSON among its parts is its raw output. */
export function resultMembers(parts: readonly Part[], report: Report): Pick<Members, 'content' | 'rawOutput'> {
  const data = parts.find((part) => part.type === 'data' && part.ext === undefined)
  if (data?.type === 'data' && data.mime !== undefined) report(weakened('part.data', 'mime'))
  const content = parts.flatMap((part) => (part === data ? [] : (contentJson(part, report) ?? [])))
  return {
    content: content.length === 0 ? undefined : `[${content.join(',')}]`,
    rawOutput: data?.type === 'data' ? data.json : undefined,
  }
}

/** The content that a call is to have, as its agent showed it with a question: without output of terminals. */
export function proposedJson(content: JsonText | undefined): JsonText | undefined {
  return resultMembers(readToolContent(content).parts, unreported).content
}

/** Ignores losses: other code reports them, or no client is there to hear of them. */
export function unreported(): void {}

function contentJson(part: Part, report: Report): JsonText | undefined {
  if (part.type === 'diff') {
    const before = part.before === null ? 'null' : quote(part.before)
    return `{"type":"diff","path":${quote(part.path)},"oldText":${before},"newText":${quote(part.after)}}`
  }
  const block = writeBlock(part, ALL_KINDS, (lost, field) => report(partLoss(lost, field)))
  return block === undefined ? undefined : `{"type":"content","content":${block}}`
}
