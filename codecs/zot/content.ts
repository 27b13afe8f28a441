import { dropped, invented, type Report, weakened } from '../../src/codec-kit/index.ts'
import {
  asJson,
  type Ext,
  elements,
  type Id,
  type JsonText,
  member,
  object,
  type Part,
  parseObject,
  quote,
} from '../../src/model/index.ts'
import { base64Bytes, numberJson, ownMember } from './wire.ts'

/** Content blocks of the wire read as parts. `exact` is false when a block held more than its part can say. */
export interface Content {
  parts: Part[]
  exact: boolean
}

/** Gives the id under which the call of a `tool_call` block is known; the wire may use one id for several calls. */
export type ToolName = (wireId: string) => Id

/** Reads an array of content blocks from its raw text; `null` and absent are an empty one. */
export function readContent(json: JsonText | undefined, toolName: ToolName): Content {
  const content: Content = { parts: [], exact: true }
  for (const raw of elements(json ?? '[]')) content.parts.push(readBlock(raw, toolName, content))
  return content
}

type Block = Record<string, unknown>

/** Reads one block. What is not understood becomes a data part, which is never exact. */
function readBlock(raw: JsonText, toolName: ToolName, content: Content): Part {
  const block = parseObject(raw) ?? {}
  const only = (...keys: string[]): void => {
    for (const key in block) if (key !== 'type' && !keys.includes(key)) content.exact = false
  }
  if (block['type'] === 'text' && typeof block['text'] === 'string') {
    only('text')
    return { type: 'text', text: block['text'] }
  }
  if (block['type'] === 'image') {
    only('mime_type', 'bytes')
    return readImage(block)
  }
  const id = block['type'] === 'tool_call' ? block['id'] : block['call_id']
  if (block['type'] === 'tool_call' && isId(id) && typeof block['name'] === 'string') {
    only('id', 'name', 'args')
    content.exact &&= typeof id === 'string'
    return {
      type: 'tool-call',
      tool: toolName(String(id ?? '')),
      name: block['name'],
      args: member(raw, 'args') ?? '{}',
    }
  }
  if (block['type'] === 'tool_result' && isId(id)) {
    only('call_id', 'is_error', 'content')
    const inner = readContent(member(raw, 'content'), toolName)
    content.exact &&= inner.exact && typeof id === 'string'
    const status = block['is_error'] === true ? 'error' : 'ok'
    return { type: 'tool-reply', tool: String(id ?? ''), status, parts: inner.parts }
  }
  content.exact = false
  return { type: 'data', json: raw }
}

/** True for what may stand for an id: it need not be a string, or be there at all. */
function isId(id: unknown): boolean {
  return id == null || typeof id === 'string' || typeof id === 'number'
}

function readImage(block: Block): Part {
  const mime = block['mime_type']
  const bytes = block['bytes']
  return {
    type: 'image',
    ...(typeof mime === 'string' && mime !== '' && { mime }),
    ...(typeof bytes === 'number' && { bytes }),
  }
}

/** Writes parts as an array of content blocks; what has no block is reported. */
export function writeContent(parts: readonly Part[], report: Report): JsonText {
  return `[${parts.flatMap((part) => writeBlock(part, report) ?? []).join(',')}]`
}

/** The content of a message or a result of a tool: as the wire itself had it, where that is known, else from its parts. */
export function contentOf(parts: readonly Part[], ext: Ext | undefined, report: Report): JsonText {
  return ownMember(ext, 'content') ?? writeContent(parts, report)
}

/** One text block. */
export function textBlock(text: string): JsonText {
  return `{"type":"text","text":${quote(text)}}`
}

/** Of an image its type and size are all that a client is shown. */
const UNSHOWN = ['name', 'url', 'ref', 'base64'] as const

function writeBlock(part: Part, report: Report): JsonText | undefined {
  switch (part.type) {
    case 'text':
      return textBlock(part.text)
    case 'image': {
      const bytes = part.bytes ?? (part.base64 === undefined ? undefined : base64Bytes(part.base64))
      if (bytes === undefined) report(invented('part.image', 'bytes'))
      for (const field of UNSHOWN) {
        if (part[field] !== undefined) report(weakened('part.image', field))
      }
      return `{"type":"image","mime_type":${quote(part.mime ?? '')},"bytes":${numberJson(bytes ?? 0)}}`
    }
    case 'tool-call':
      return object({
        type: '"tool_call"',
        id: quote(part.tool),
        name: quote(part.name),
        args: part.args === '' ? '{}' : asJson(part.args),
      })
    case 'tool-reply':
      return object({
        type: '"tool_result"',
        call_id: quote(part.tool),
        is_error: String(part.status !== 'ok'),
        content: writeContent(part.parts, report),
      })
    case 'data':
      report(weakened('part.data'))
      return textBlock(part.json)
    default:
      report(dropped(`part.${part.type}`))
      return undefined
  }
}
