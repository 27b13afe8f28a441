import {
  commandText,
  dropped,
  messageLine,
  type Report,
  weakened,
  withInstruction,
} from '../../../src/codec-kit/index.ts'
import { type Blob, type JsonText, object, type Part, quote, type TurnStart } from '../../../src/model/index.ts'

/** The `user` line of a turn under an id; `report` gets what it cannot hold. `system` is a system prompt that is folded in. */
export function promptLine(
  { input, task, invocation }: TurnStart,
  uuid: string,
  system: string | undefined,
  extra: JsonText | undefined,
  report: Report,
): string {
  const typed = input.length === 0 && invocation ? commandText(invocation) : undefined
  const command = task === 'compact' ? '/compact' : typed
  const parts: readonly Part[] = command === undefined ? input : [{ type: 'text', text: command }]
  if (system !== undefined) report(weakened('option.systemPrompt'))
  return userLine(system === undefined ? parts : instructed(system, parts), uuid, extra, report)
}

/** A `user` line with these parts under an id. */
export function userLine(parts: readonly Part[], uuid: string, extra: JsonText | undefined, report: Report): string {
  const blocks = parts.flatMap((part) => blockJson(part, report) ?? [])
  const content = blocks.length === 0 ? textBlock('') : blocks.join(',')
  return messageLine(
    {
      type: '"user"',
      uuid: quote(uuid),
      session_id: '""',
      message: `{"role":"user","content":[${content}]}`,
      parent_tool_use_id: 'null',
    },
    extra,
  )
}

/** The parts with the system prompt before the first text. */
function instructed(system: string, parts: readonly Part[]): Part[] {
  const first = parts.find((part) => part.type === 'text')
  const text = withInstruction(system, first?.text ?? '')
  return [{ type: 'text', text }, ...parts.filter((part) => part !== first)]
}

function blockJson(part: Part, report: Report): JsonText | undefined {
  switch (part.type) {
    case 'text':
      return textBlock(part.text)
    case 'data':
      report(weakened('part.data'))
      return textBlock(part.json)
    case 'image':
    case 'file': {
      const source = sourceJson(part)
      if (source !== undefined) return `{"type":"${part.type === 'image' ? 'image' : 'document'}","source":${source}}`
    }
  }
  report(dropped(`part.${part.type}`))
  return undefined
}

/** The bytes of a blob or their address; undefined when neither is known. */
function sourceJson({ type, mime, base64, url }: Blob & { type: string }): JsonText | undefined {
  if (url !== undefined) return `{"type":"url","url":${quote(url)}}`
  if (base64 === undefined) return undefined
  return object({
    type: '"base64"',
    media_type: quote(mime ?? (type === 'image' ? 'image/png' : 'application/pdf')),
    data: quote(base64),
  })
}

function textBlock(text: string): JsonText {
  return `{"type":"text","text":${quote(text)}}`
}
