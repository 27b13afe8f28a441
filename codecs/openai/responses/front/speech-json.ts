import { type EventOf, type JsonText, object, quote, type Seal } from '../../../../src/model/index.ts'
import { itemId, type ResponseRef } from '../ids.ts'
import { encryptedOf } from '../seals.ts'

/** A message or reasoning, as far as it has come; `at` is its place in the output. */
export interface SpeechItem {
  kind: 'output_text' | 'refusal' | 'reasoning'
  phase: EventOf<'message-start'>['phase']
  at: number
  text: string
  annotations: JsonText[]
}

const PHASES = { commentary: ',"phase":"commentary"', final: ',"phase":"final_answer"', refusal: '' } as const

/** The item of a message; one that is in progress has no content. */
export function messageJson(ref: ResponseRef, item: SpeechItem, status: 'in_progress' | 'completed'): JsonText {
  const id = quote(itemId('msg', ref, item.at))
  const content = status === 'in_progress' ? '' : partJson(item)
  const phase = item.phase === undefined ? '' : PHASES[item.phase]
  return `{"id":${id},"type":"message","status":"${status}","role":"assistant","content":[${content}]${phase}}`
}

/** The item of reasoning, with a summary where it has a text. */
export function reasoningJson(ref: ResponseRef, at: number, text = '', seal?: Seal): JsonText {
  return object([
    ['id', quote(itemId('rs', ref, at))],
    ['type', '"reasoning"'],
    ['summary', text === '' ? '[]' : `[{"type":"summary_text","text":${quote(text)}}]`],
    ['encrypted_content', seal && quote(encryptedOf(seal))],
  ])
}

/** The content of an item so far. */
export function partJson({ kind, text, annotations }: SpeechItem): JsonText {
  if (kind === 'refusal') return `{"type":"refusal","refusal":${quote(text)}}`
  if (kind === 'reasoning') return `{"type":"summary_text","text":${quote(text)}}`
  return `{"type":"output_text","text":${quote(text)},"annotations":[${annotations.join(',')}],"logprobs":[]}`
}
