import * as v from 'valibot'
import type { JsonText, Part } from '../../../src/model/index.ts'
import { member } from '../../../src/model/index.ts'
import { Prompt, SetModel } from '../schema.ts'

/** A checked command: its content, or its error. */
export type Checked<T> = { ok: T } | { wrong: string }

/** The content of a `prompt`; `images` is their raw text when one holds fields that a part has not. */
export interface PromptContent {
  input: Part[]
  images: JsonText | undefined
}

const IMAGE_FIELDS = new Set(['mime_type', 'data'])

/** Checks a `prompt`: text and images as parts. A message that is absent is an empty one, as the original takes it. */
export function readPrompt(value: Record<string, unknown>, line: string): Checked<PromptContent> {
  const { success, output, issues } = v.safeParse(Prompt, value)
  if (!success) return { wrong: describe('prompt', issues[0]) }
  const images = output.images ?? []
  const input: Part[] = output.message ? [{ type: 'text', text: output.message }] : []
  let exact = true
  for (const image of images) {
    for (const key in image) if (!IMAGE_FIELDS.has(key)) exact = false
    input.push({ type: 'image', ...(image.mime_type && { mime: image.mime_type }), base64: image.data ?? '' })
  }
  return { ok: { input, images: exact ? undefined : member(line, 'images') } }
}

/** Checks a `set_model`. */
export function readSetModel(value: Record<string, unknown>): Checked<string> {
  const { success, output, issues } = v.safeParse(SetModel, value)
  return success ? { ok: output.model } : { wrong: describe('set_model', issues[0]) }
}

function describe(command: string, issue: v.BaseIssue<unknown>): string {
  return `${command}: ${v.getDotPath(issue)} ${issue.message}`
}
