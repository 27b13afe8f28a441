import * as v from 'valibot'
import { type JsonText, member, type Part } from '../../../src/model/index.ts'
import { Prompt } from '../schema.ts'

/** The content of a `prompt`; `images` is their raw text when one holds fields that a part has not. */
export interface PromptContent {
  input: Part[]
  images: JsonText | undefined
}

const IMAGE_FIELDS = new Set(['mime_type', 'data'])

/**
 * Reads the text and the images of a `prompt` as parts, or says what is wrong with it. A message that is absent is an
 * empty one, as the original takes it.
 */
export function readPrompt(value: Record<string, unknown>, line: string): PromptContent | string {
  const { success, output, issues } = v.safeParse(Prompt, value)
  if (!success) return `prompt: ${v.getDotPath(issues[0])} ${issues[0].message}`
  const input: Part[] = output.message ? [{ type: 'text', text: output.message }] : []
  let exact = true
  for (const image of output.images ?? []) {
    for (const key in image) if (!IMAGE_FIELDS.has(key)) exact = false
    input.push({ type: 'image', ...(image.mime_type && { mime: image.mime_type }), base64: image.data ?? '' })
  }
  return { input, images: exact ? undefined : member(line, 'images') }
}
