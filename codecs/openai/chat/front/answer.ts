import { citationsOf, joinedCitations, withFurther } from '../../../../src/codec-kit/index.ts'
import {
  type JsonText,
  type Loss,
  type MessageView,
  object,
  quote,
  type TurnEvent,
  type TurnView,
} from '../../../../src/model/index.ts'
import { annotationJson } from '../../annotations.ts'
import type { DeclaredTools } from '../../declared-tools.ts'
import { MESSAGES } from '../../further.ts'
import { joinedMembers } from '../pieces.ts'
import { FINISH } from '../stops.ts'
import { usageJson } from '../usage.ts'
import { callJsons } from './calls.ts'

/** The members that every chunk and every whole answer of a turn have. */
export function headEntries(view: Pick<TurnView, 'turn' | 'startedAt'>, kind: string, model: string) {
  return [
    ['id', quote(`chatcmpl-${view.turn}`)],
    ['object', quote(kind)],
    ['created', String(Math.floor(view.startedAt / 1000))],
    ['model', quote(model)],
  ] as const
}

/** The loss report, as a member that clients ignore; undefined when nothing was lost. */
export function lossEntry(losses: readonly Loss[]): readonly [string, JsonText | undefined] {
  return ['turnpike', losses.length === 0 ? undefined : object([['losses', JSON.stringify(losses)]])]
}

/** The end of a turn that its client waits for, or its park. */
export type Ending = Extract<TurnEvent, { type: 'turn-end' | 'turn-parked' }>

/** The `finish_reason` of a turn that has completed, or that waits for results of tools. */
export function finishOf(ending: Ending): string {
  if (ending.type === 'turn-parked') return 'tool_calls'
  return FINISH[ending.stop ?? 'end']
}

/** The sources of the text of messages that are joined by an empty line; undefined for none. */
export function annotationsJson(messages: readonly MessageView[]): JsonText | undefined {
  const texts = messages.map(({ text, parts }) => ({ text, citations: citationsOf(parts) }))
  const jsons = joinedCitations(texts, '\n\n').flatMap((citation) => annotationJson(citation, 'chat') ?? [])
  return jsons.length === 0 ? undefined : `[${jsons.join(',')}]`
}

/** The parts of a request that its answer repeats, or is written by. */
export interface Asked {
  model: string
  tools: DeclaredTools
}

/** A whole answer, from the view of its turn. */
export function wholeAnswer(
  ending: Ending,
  view: TurnView,
  { model, tools }: Asked,
  losses: readonly Loss[],
): JsonText {
  const said = view.messages.filter(({ role, lane }) => role === 'assistant' && lane === undefined)
  const refused = said.some(({ refuses }) => refuses) || (ending.type === 'turn-end' && ending.stop === 'refusal')
  const calls = ending.type === 'turn-parked' ? callJsons(ending, view, tools, false) : []
  const reasoning = said.map((message) => message.reasoning).join('')
  const text = view.text === '' && calls.length > 0 ? 'null' : quote(view.text)
  const message = object([
    ['role', '"assistant"'],
    ['content', refused ? 'null' : text],
    ['refusal', refused ? quote(view.text) : 'null'],
    ['annotations', refused ? undefined : annotationsJson(view.answers)],
    ['reasoning_content', reasoning === '' ? undefined : quote(reasoning)],
    ['tool_calls', calls.length === 0 ? undefined : `[${calls.join(',')}]`],
  ])
  const choice = object([
    ['index', '0'],
    ['message', withFurther(message, joinedMembers(said.flatMap(({ parts = [] }) => MESSAGES.chat.of(parts) ?? [])))],
    ['logprobs', 'null'],
    ['finish_reason', quote(finishOf(ending))],
  ])
  return object([
    ...headEntries(view, 'chat.completion', model),
    ['choices', `[${choice}]`],
    ['usage', view.answerUsage && usageJson(view.answerUsage)],
    lossEntry(losses),
  ])
}
