import * as v from 'valibot'
import {
  dropped,
  furtherMembers,
  hasFurther,
  type KnownMembers,
  looseObject,
  reportFurther,
  unparsed,
  weakened,
} from '../../../../src/codec-kit/index.ts'
import { type Citation, elements, type JsonText, member, parseObject, type Usage } from '../../../../src/model/index.ts'
import { readAnnotations } from '../../annotations.ts'
import type { Report } from '../../part-loss.ts'
import { stopOf } from '../stops.ts'
import { readUsage } from '../usage.ts'
import { type CallPiece, CallSchema, readPiece } from './call-piece.ts'

/** The content of one chunk of a stream, or of a whole answer. */
export interface Said {
  text?: string
  reasoning?: string
  refusal?: string
  citations?: readonly Citation[]
  calls: readonly CallPiece[]
  finish?: string
  usage?: Usage
  /** Members that only servers and clients of this API know. */
  further?: JsonText
  /** The JSON of an error that came in the place of an answer. */
  error?: JsonText
}

const maybe = <const S extends v.GenericSchema>(schema: S) => v.nullish(schema)

/** A part of a content in pieces: text, or reasoning with texts of its own. */
const Content = looseObject({
  text: maybe(v.string()),
  thinking: maybe(v.union([v.string(), v.array(looseObject({ text: maybe(v.string()) }))])),
})
const Delta = looseObject({
  content: maybe(v.union([v.string(), v.array(Content)])),
  reasoning_content: maybe(v.string()),
  reasoning: maybe(v.string()),
  refusal: maybe(v.string()),
  tool_calls: maybe(v.array(CallSchema)),
})
const Choice = looseObject({
  index: v.optional(v.unknown()),
  delta: maybe(Delta),
  message: maybe(Delta),
  finish_reason: maybe(v.string()),
  usage: maybe(looseObject({})),
})
const Chunk = looseObject({
  choices: maybe(v.array(Choice)),
  usage: maybe(looseObject({})),
  x_groq: maybe(looseObject({ usage: maybe(looseObject({})) })),
})

/** The members of a piece of an answer, or of a whole one, that are read. */
const DELTA: KnownMembers = {
  role: true,
  content: true,
  reasoning_content: true,
  reasoning: true,
  refusal: true,
  tool_calls: true,
  annotations: true,
  audio: true,
  function_call: true,
}
/** Those around it that are read, or that the gateway says itself: of them, others are lost. */
const CHOICE: KnownMembers = {
  index: true,
  delta: true,
  message: true,
  finish_reason: true,
  logprobs: true,
  usage: true,
}
const AROUND: KnownMembers = {
  id: true,
  object: true,
  created: true,
  model: true,
  choices: true,
  usage: true,
  system_fingerprint: true,
  service_tier: true,
  obfuscation: true,
  x_groq: true,
}

/** Reads a chunk of a stream, or a whole answer, which has a `message` where a chunk has a `delta`. */
export function readChunk(data: string, report: Report): Said | undefined {
  const value = parseObject(data)
  if (!value) return undefined
  const error = value['object'] === 'error' ? data : member(data, 'error')
  if (error !== undefined && error !== 'null') return { calls: [], error }
  const checked = v.safeParse(Chunk, value)
  if (!checked.success) return undefined
  const chunk = checked.output
  const { choices, usage: outer, x_groq: groq } = chunk
  const at = (choices ?? []).findIndex(isAnswer)
  const choice = choices?.[at]
  const usage = readUsage(outer ?? choice?.usage ?? groq?.usage, report)
  const delta = choice?.delta ?? choice?.message ?? {}
  if (choice?.['logprobs'] != null) report(dropped('ext', 'logprobs'))
  if (delta['audio'] != null) report(dropped('part.audio'))
  // The older form of a call, which no request of the gateway asks for.
  if (delta['function_call'] != null) report(dropped('tool-call', 'function_call'))
  // Of other answers to the same request, one report at the end of each is enough.
  for (const other of choices ?? []) {
    if (other !== choice && other.finish_reason) report(dropped('message-end', 'choices'))
  }
  // All chunks repeat these members: one report at the end of the answer is enough.
  if (choice?.finish_reason) {
    if (stopOf(choice.finish_reason) === undefined) report(weakened('end.stop', choice.finish_reason))
    reportFurther(choice, CHOICE, report)
    reportFurther(chunk, AROUND, report)
  }
  const annotations = delta['annotations'] == null ? [] : readAnnotations(member(rawDelta(data, at), 'annotations'))
  if (!annotations) report(unparsed('citation'))
  reportParts(delta.content, report)
  const text = textOf(delta.content)
  const reasoning = delta.reasoning_content ?? delta.reasoning ?? thinkingOf(delta.content)
  const said: Said = {
    calls: (delta.tool_calls ?? []).map((call, nth) => readPiece(call, () => rawCall(data, at, nth))),
  }
  if (text) said.text = text
  if (reasoning) said.reasoning = reasoning
  if (delta.refusal) said.refusal = delta.refusal
  if (annotations?.length) said.citations = annotations
  if (choice?.finish_reason) said.finish = choice.finish_reason
  if (usage) said.usage = usage
  if (hasFurther(delta, DELTA)) said.further = furtherMembers(rawDelta(data, at), delta, DELTA)!
  return said
}

/** True for the choice that is the answer; a request asks for no other. */
function isAnswer({ index = 0 }: { index?: unknown }): boolean {
  return typeof index !== 'number' || index === 0
}

/** Reports parts of a content that are neither text nor reasoning. */
function reportParts(content: Pieces, report: Report): void {
  if (!Array.isArray(content)) return
  for (const { type, text, thinking } of content) {
    if (text == null && thinking == null) report(dropped('part.data', typeof type === 'string' ? type : undefined))
  }
}

type Pieces = v.InferOutput<typeof Delta>['content']

function textOf(content: Pieces): string {
  return Array.isArray(content) ? content.map(({ text }) => text ?? '').join('') : (content ?? '')
}

function thinkingOf(content: Pieces): string {
  if (!Array.isArray(content)) return ''
  return content.map(({ thinking }) => textOf(thinking)).join('')
}

/** The call at a place in a choice, as it came. */
function rawCall(data: string, choice: number, at: number): JsonText {
  return elements(member(rawDelta(data, choice), 'tool_calls')!)[at]!
}

/** Returns what a choice of the chunk brings, as it came. */
function rawDelta(data: string, at: number): JsonText {
  const choice = elements(member(data, 'choices')!)[at]!
  const delta = member(choice, 'delta') ?? 'null'
  return delta === 'null' ? member(choice, 'message')! : delta
}
