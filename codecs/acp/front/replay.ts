import type { Message, Part } from '../../../src/model/index.ts'
import { quote } from '../../../src/model/index.ts'
import { ALL_KINDS, writeBlock } from '../content.ts'
import { endJson, inputJson, resultMembers, unreported } from './tool-entries.ts'
import type { ChunkKind, Updates } from './updates.ts'

/** Writes a transcript as the updates that show it (Loading Sessions). What has no place in them is left out. */
export function replay(messages: readonly Message[], updates: Updates): void {
  for (const [at, { role, parts }] of messages.entries()) {
    const message = `h${at + 1}`
    const kind: ChunkKind = role === 'user' ? 'user_message_chunk' : 'agent_message_chunk'
    for (const part of parts) write(part, kind, message, updates)
  }
}

function write(part: Part, kind: ChunkKind, message: string, updates: Updates): void {
  switch (part.type) {
    case 'text':
      if (part.text !== '') updates.text(kind, part.text, message)
      return
    case 'reasoning':
      if (part.text !== '') updates.text('agent_thought_chunk', part.text, message)
      return
    case 'tool-call':
      updates.write('tool_call', {
        toolCallId: quote(`h.${part.tool}`),
        title: quote(part.name),
        name: quote(part.name),
        status: '"completed"',
        rawInput: inputJson(part.args),
      })
      return
    case 'tool-reply':
      updates.write('tool_call_update', {
        toolCallId: quote(`h.${part.tool}`),
        status: endJson(part.status, unreported),
        ...resultMembers(part.parts, unreported),
      })
      return
    default: {
      const block = writeBlock(part, ALL_KINDS, unreported)
      if (block !== undefined) updates.chunk(kind, block, message)
    }
  }
}
