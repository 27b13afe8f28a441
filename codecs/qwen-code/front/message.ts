import * as v from 'valibot'
import { keysOf } from '../../../src/codec-kit/index.ts'
import { elements, isRecord, type JsonText, member, type Part } from '../../../src/model/index.ts'
import { ClientMessage, User } from '../schema.ts'
import { unknownExt } from '../wire.ts'
import type { Waiting } from './queue.ts'

const LINE = keysOf(User)

/** A `user` line as a message that waits; `empty` is one without content, `null` one whose message is null. */
export function readMessage(value: Record<string, unknown>, line: JsonText): Waiting | 'empty' | 'null' {
  if (value['message'] === null) return 'null'
  const read = v.safeParse(ClientMessage, value['message'])
  if (!read.success) return 'empty'
  const { content } = read.output
  const input = typeof content === 'string' ? textParts(content) : blockParts(content, line)
  return input.length === 0 ? 'empty' : { input, ext: unknownExt(line, value, LINE) }
}

function textParts(text: string): Part[] {
  return text === '' ? [] : [{ type: 'text', text }]
}

/** Blocks of text, and others as the JSON that they are in the prompt of the original too. */
function blockParts(content: readonly unknown[], line: JsonText): Part[] {
  const raw = elements(member(member(line, 'message')!, 'content')!)
  return content.flatMap((block, at): Part[] => {
    const text = isRecord(block) && block['type'] === 'text' ? block['text'] : undefined
    return typeof text === 'string' ? textParts(text) : [{ type: 'data', json: raw[at]! }]
  })
}
