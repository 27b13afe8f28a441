import type { JsonText } from './json.ts'
import type { Role, ToolStatus } from './words.ts'

/** An opaque identifier. */
export type Id = string

/** Fields of a wire message that the model has no place for, as one JSON object; set only when there are any. */
export interface Ext {
  readonly protocol: string
  readonly json: JsonText
}

/** Bytes by value (`base64`) or by reference (`url`, or `ref`, an id the agent knows). `bytes` is their count. */
export interface Blob {
  mime?: string
  name?: string
  url?: string
  ref?: string
  base64?: string
  bytes?: number
}

/**
 * Opaque data by which a provider recognises its own reasoning: a signature of the text, or, by its kind, the encrypted
 * text or text that the provider hides. Only that provider can read it, and only unchanged.
 */
export interface Seal {
  provider: string
  kind?: 'encrypted' | 'redacted'
  data: string
}

/**
 * A source of a text: a page or a document by its title, its URL, or the id by which the agent's provider knows it, and
 * what is quoted of it. `start` and `end` are the place in the text that it supports, in Unicode characters; without
 * them it supports the whole text. `ext` has the place within the source, and what only its provider can read.
 */
export interface Citation {
  title?: string
  url?: string
  ref?: string
  quote?: string
  start?: number
  end?: number
  ext?: Ext
}

/**
 * One piece of content of a message, a prompt or a tool's result. `ext` has the fields of a protocol that the model has
 * no place for, such as marks for a provider's cache.
 */
export type Part = { ext?: Ext } & (
  | { type: 'text'; text: string; citations?: readonly Citation[] }
  | ({ type: 'image' | 'audio' | 'file' } & Blob)
  | { type: 'data'; json: JsonText; mime?: string }
  | { type: 'reasoning'; text: string; seal?: Seal }
  | { type: 'tool-call'; tool: Id; name: string; args: JsonText }
  | { type: 'tool-reply'; tool: Id; status: ToolStatus; parts: readonly Part[] }
  | { type: 'diff'; path: string; before: string | null; after: string }
)

/** A message of a transcript. `at` is milliseconds since the epoch. */
export interface Message {
  role: Role
  parts: readonly Part[]
  at?: number
}

/** Tokens, by kind; absent is unknown, not zero. */
export interface Usage {
  input?: number
  output?: number
  reasoning?: number
  cacheRead?: number
  cacheWrite?: number
  total?: number
  costUsd?: number
}

/** The text of the text parts, joined by a line feed. */
export function textOf(parts: readonly Part[]): string {
  let text = ''
  for (const part of parts) if (part.type === 'text') text += (text === '' ? '' : '\n') + part.text
  return text
}

/** A usage without one that it includes: counts never become negative. */
export function usageWithout(all: Usage, part: Usage): Usage {
  const rest: Usage = { ...all }
  for (const key of Object.keys(all) as (keyof Usage)[]) rest[key] = Math.max(0, all[key]! - (part[key] ?? 0))
  return rest
}

/** The sum of two usages; counts that neither has stay absent. */
export function addUsage(a: Usage, b: Usage): Usage {
  const sum: Usage = { ...a }
  for (const name in b) {
    const key = name as keyof Usage
    const value = b[key]
    if (value !== undefined) sum[key] = (sum[key] ?? 0) + value
  }
  return sum
}
