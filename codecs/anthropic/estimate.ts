import { isRecord } from '../../src/model/index.ts'

/** UTF-8 bytes of text for a token: what English, code and Chinese come to, roughly. */
const BYTES_PER_TOKEN = 4
/** The tokens of an image or a document, whatever its size: what a large image costs. */
const TOKENS_PER_FILE = 1600
/** The tokens around a message or a tool. */
const TOKENS_AROUND = 4

/** Types of a `source` whose strings are not text: bytes, or their location. */
const FILES: ReadonlySet<unknown> = new Set(['base64', 'url', 'file'])

const NOT_ASCII = /[^\0-\x7f]/

/**
 * Estimates the tokens of a request: the bytes of all its texts by four, a constant for each image and document, message
 * and tool. Nobody counts: each agent has a tokenizer of its own, and most do not publish it.
 */
export function estimateTokens({ system, messages, tools }: Readonly<Record<string, unknown>>): number {
  const around = lengthOf(messages) + lengthOf(tools)
  return around * TOKENS_AROUND + Math.ceil(bytesOf([system, messages, tools]) / BYTES_PER_TOKEN)
}

function lengthOf(value: unknown): number {
  return Array.isArray(value) ? value.length : 0
}

/** The bytes of every text in a value, however deep; a file counts as many as its tokens have. */
function bytesOf(value: unknown): number {
  let bytes = 0
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === 'string') bytes += utf8Length(next)
    else if (Array.isArray(next)) for (const item of next) open.push(item)
    else if (isRecord(next)) bytes += membersOf(next, open)
  }
  return bytes
}

/** The bytes of the keys of an object, whose values are still to be counted, and of its file. */
function membersOf(value: Record<string, unknown>, open: unknown[]): number {
  let bytes = 0
  for (const key in value) {
    const member = value[key]
    if (key === 'source' && isRecord(member) && FILES.has(member['type'])) bytes += TOKENS_PER_FILE * BYTES_PER_TOKEN
    else {
      bytes += key.length
      open.push(member)
    }
  }
  return bytes
}

function utf8Length(text: string): number {
  if (!NOT_ASCII.test(text)) return text.length
  let bytes = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code < 0x80) bytes += 1
    else if (code < 0x800 || (code & 0xf800) === 0xd800) bytes += 2
    else bytes += 3
  }
  return bytes
}
