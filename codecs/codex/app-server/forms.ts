import * as v from 'valibot'
import {
  type AskReply,
  elements,
  isRecord,
  type JsonText,
  member,
  members,
  object,
  type Question,
  quote,
} from '../../../src/model/index.ts'
import { Elicitation, UserInput } from '../schema.ts'
import { urlOf } from './input.ts'
import { texts } from './server.ts'

type Form = Extract<Question, { kind: 'input' }>

/** The questions of `item/tool/requestUserInput` as one form: a field for each, by its id. */
export function userInputForm(params: unknown): Form | undefined {
  const { success, output } = v.safeParse(UserInput, params)
  if (!success) return undefined
  const fields = output.questions.map(({ id, header, question, isOther, options }) => {
    const labels = (options ?? []).map(({ label }) => quote(label))
    const field = object({
      type: '"string"',
      title: quote(header),
      description: quote(question),
      [isOther ? 'examples' : 'enum']: labels.length === 0 ? undefined : `[${labels.join(',')}]`,
    })
    return [id, field] as const
  })
  const message = output.questions.map(({ question }) => question).join('\n')
  return { kind: 'input', message, schema: `{"type":"object","properties":${object(fields)}}` }
}

/** The answer to such questions: a list of texts for each. */
export function userInputAnswer(values: JsonText): JsonText {
  const answers = members(values).map(([id, json]) => {
    const list = json.startsWith('[') ? elements(json) : [json]
    return [id, `{"answers":[${list.map(asText).join(',')}]}`] as const
  })
  return `{"answers":${object(answers)}}`
}

function asText(json: JsonText): JsonText {
  return json.startsWith('"') ? json : quote(json)
}

/** The question of an MCP server of the agent: a form, or a page to open. */
export function elicitationForm(params: unknown, json: JsonText): Form | undefined {
  const { success, output } = v.safeParse(Elicitation, params)
  if (!success) return undefined
  const { message, url } = output
  const schema = member(json, 'requestedSchema')
  return {
    kind: 'input',
    message: url === undefined ? message : `${message}\n${url}`,
    ...(schema !== undefined && { schema }),
  }
}

/** The answer to an MCP server; no values at all mean that its question was declined. */
export function elicitationAnswer(values: JsonText): JsonText {
  const accepted = members(values).length > 0
  return object({ action: accepted ? '"accept"' : '"decline"', content: accepted ? values : 'null', _meta: 'null' })
}

type ToolReply = AskReply & { kind: 'tool' }

/** The result of a tool of the client; what its text cannot say as it was is named in `weakens`. */
export function toolAnswer({ status, parts }: ToolReply): { result: JsonText; weakens: string[] } {
  const weakens = status === 'ok' || status === 'error' ? [] : ['status']
  const items = parts.map((part) => {
    if (part.type === 'text') return texts({ type: 'inputText', text: part.text })
    const url = part.type === 'image' || part.type === 'audio' ? urlOf(part) : undefined
    if (url !== undefined) {
      return part.type === 'image'
        ? texts({ type: 'inputImage', imageUrl: url })
        : texts({ type: 'inputAudio', audioUrl: url })
    }
    weakens.push(part.type)
    const { ext: _, ...said } = part
    return texts({ type: 'inputText', text: part.type === 'data' ? part.json : JSON.stringify(said) })
  })
  return { result: `{"contentItems":[${items.join(',')}],"success":${status === 'ok'}}`, weakens }
}

/** A member of an object that is a text; undefined for everything else. */
export function textMember(value: unknown, key: string): string | undefined {
  const text = isRecord(value) ? value[key] : undefined
  return typeof text === 'string' ? text : undefined
}
