import { elements, isRecord, type JsonText, member, type Part, parseObject } from '../../src/model/index.ts'
import { readBlock } from './content.ts'
import type { ToolUpdate } from './update-schema.ts'

/** Reads the `content` of a tool call (a raw array); `terminals` counts output of terminals, which is with the client. */
export function readToolContent(json: JsonText | undefined): { parts: Part[]; terminals: number } {
  const parts: Part[] = []
  let terminals = 0
  for (const raw of elements(json ?? '')) {
    const item = parseObject(raw) ?? {}
    const diff = item['type'] === 'diff' ? readDiff(item) : undefined
    if (item['type'] === 'terminal') terminals += 1
    else parts.push(diff ?? readBlock(item['type'] === 'content' ? (member(raw, 'content') ?? raw) : raw))
  }
  return { parts, terminals }
}

function readDiff({ path, oldText, newText }: Record<string, unknown>): Part | undefined {
  if (typeof path !== 'string' || typeof newText !== 'string') return undefined
  return { type: 'diff', path, before: typeof oldText === 'string' ? oldText : null, after: newText }
}

/** A text as parts; none for an empty one. */
export function partsOf(text: string): Part[] {
  return text === '' ? [] : [{ type: 'text', text }]
}

/** The name of a tool: older agents have it in `_meta` or before the id of a call, others only a kind, and a title for people, which may be one word. */
export function nameOf({ toolCallId, name, title, kind, _meta: meta }: ToolUpdate): string {
  const own = isRecord(meta) ? meta : {}
  const claude = isRecord(own['claudeCode']) ? own['claudeCode']['toolName'] : undefined
  const sort = kind === 'other' ? undefined : kind
  const word = title != null && /^[A-Za-z_][\w.-]*$/.test(title) ? title : undefined
  const names = [name, own['toolName'], claude, /^(\w+?)__/.exec(toolCallId)?.[1], word, sort, title]
  return names.find((one): one is string => typeof one === 'string' && one !== '') ?? 'tool'
}

/** The text of parts that are nothing but text. */
export function textOnly(parts: readonly Part[]): string | undefined {
  let text = ''
  for (const part of parts) {
    if (part.type !== 'text') return undefined
    text += part.text
  }
  return text
}

/** The raw output of a tool that has no content. */
export function outputOf(json: JsonText | undefined): Part[] {
  if (json === undefined || json === 'null' || json === '""') return []
  if (json.startsWith('"')) return [{ type: 'text', text: String(JSON.parse(json)) }]
  return [{ type: 'data', json }]
}
