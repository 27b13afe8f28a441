import * as v from 'valibot'
import { dropped, unparsed } from '../../../../src/codec-kit/index.ts'
import { type Citation, elements, type JsonText, member, parseObject, type Usage } from '../../../../src/model/index.ts'
import { readAnnotations } from '../../annotations.ts'
import type { Report } from '../../part-loss.ts'
import { readUsage } from '../usage.ts'

/** A piece of a tool call. The first one has its id and name; some servers leave out the id, or the index. */
export interface CallPiece {
  index?: number
  id?: string
  name?: string
  args: string
}

/** The content of one chunk of a stream, or of a whole answer. */
export interface Said {
  text?: string
  reasoning?: string
  refusal?: string
  citations?: readonly Citation[]
  calls: readonly CallPiece[]
  finish?: string
  usage?: Usage
  /** The JSON of an error that came in the place of an answer. */
  error?: JsonText
}

const maybe = <const S extends v.GenericSchema>(schema: S) => v.nullish(schema)

const Call = v.looseObject({
  index: maybe(v.number()),
  id: maybe(v.string()),
  function: maybe(
    v.looseObject({ name: maybe(v.string()), arguments: maybe(v.union([v.string(), v.looseObject({})])) }),
  ),
  custom: maybe(v.looseObject({ name: maybe(v.string()), input: maybe(v.string()) })),
})
/** A part of a content in pieces: text, or reasoning with texts of its own. */
const Content = v.looseObject({
  text: maybe(v.string()),
  thinking: maybe(v.union([v.string(), v.array(v.looseObject({ text: maybe(v.string()) }))])),
})
const Delta = v.looseObject({
  content: maybe(v.union([v.string(), v.array(Content)])),
  reasoning_content: maybe(v.string()),
  reasoning: maybe(v.string()),
  refusal: maybe(v.string()),
  tool_calls: maybe(v.array(Call)),
})
const Choice = v.looseObject({
  delta: maybe(Delta),
  message: maybe(Delta),
  finish_reason: maybe(v.string()),
  usage: maybe(v.looseObject({})),
})
const Chunk = v.looseObject({
  choices: maybe(v.array(Choice)),
  usage: maybe(v.looseObject({})),
  x_groq: maybe(v.looseObject({ usage: maybe(v.looseObject({})) })),
})

/** Reads a chunk of a stream, or a whole answer, which has a `message` where a chunk has a `delta`. */
export function readChunk(data: string, report: Report): Said | undefined {
  const value = parseObject(data)
  if (!value) return undefined
  const error = value['object'] === 'error' ? data : member(data, 'error')
  if (error !== undefined && error !== 'null') return { calls: [], error }
  const checked = v.safeParse(Chunk, value)
  if (!checked.success) return undefined
  const { choices, usage: outer, x_groq: groq } = checked.output
  const [choice] = choices ?? []
  const usage = readUsage(outer ?? choice?.usage ?? groq?.usage, report)
  const delta = choice?.delta ?? choice?.message ?? {}
  if (choice?.['logprobs'] != null) report(dropped('ext', 'logprobs'))
  if (delta['audio'] != null) report(dropped('part.audio'))
  const annotations = delta['annotations'] == null ? [] : readAnnotations(rawDelta(data, 'annotations'))
  if (!annotations) report(unparsed('citation'))
  const text = textOf(delta.content)
  const reasoning = delta.reasoning_content ?? delta.reasoning ?? thinkingOf(delta.content)
  return {
    ...(text && { text }),
    ...(reasoning && { reasoning }),
    ...(delta.refusal && { refusal: delta.refusal }),
    ...(annotations?.length && { citations: annotations }),
    calls: (delta.tool_calls ?? []).map((call, at) => readPiece(call, () => rawArguments(data, at))),
    ...(choice?.finish_reason && { finish: choice.finish_reason }),
    ...(usage && { usage }),
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

function readPiece(
  { index, id, function: called, custom }: v.InferOutput<typeof Call>,
  raw: () => JsonText,
): CallPiece {
  const name = called?.name ?? custom?.name
  const args = called?.arguments
  return {
    ...(index != null && { index }),
    ...(id && { id }),
    ...(name && { name }),
    args: typeof args === 'object' && args !== null ? raw() : (args ?? custom?.input ?? ''),
  }
}

/** The arguments of the call at a place, which some servers send as an object: its JSON as it came. */
function rawArguments(data: string, at: number): JsonText {
  return member(member(elements(rawDelta(data, 'tool_calls'))[at]!, 'function')!, 'arguments')!
}

/** A member of what the chunk brings, as it came. */
function rawDelta(data: string, key: string): JsonText {
  const choice = elements(member(data, 'choices')!)[0]!
  const delta = member(choice, 'delta') ?? 'null'
  return member(delta === 'null' ? member(choice, 'message')! : delta, key)!
}
