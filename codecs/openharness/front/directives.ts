import * as v from 'valibot'
import { dropped, type Report, weakened } from '../../../src/codec-kit/index.ts'
import {
  type Ask,
  asJson,
  elements,
  type JsonText,
  members,
  object,
  type Part,
  parse,
  parseObject,
  quote,
  type TurnView,
} from '../../../src/model/index.ts'
import { references } from '../attachments.ts'
import { directiveMembers } from '../schema.ts'
import { at, markContinuation } from '../wire.ts'

/** The directive that shows text, with references to what came with it. */
export function messageDirective(shown: string, attachments: readonly JsonText[]): JsonText {
  const payload = object({
    text: quote(shown),
    attachments: attachments.length === 0 ? undefined : `[${attachments.join(',')}]`,
  })
  return `{"action_type":"render_message","priority":"normal","risk_tier":"safe","payload":${payload}}`
}

/**
 * An agent's directive as it came, without members that would make the envelope invalid (they are reported). One that
 * names no type of its own gets the type of its event; undefined when neither is a name.
 */
export function directiveJson(action: string, json: JsonText, report: Report): JsonText | undefined {
  const given = parseObject(json) ? members(json) : []
  const kept = given.filter(([key, raw]) => {
    const schema = Object.hasOwn(directiveMembers, key)
      ? directiveMembers[key as keyof typeof directiveMembers]
      : undefined
    if (schema === undefined || v.is(schema, parse(raw))) return true
    report(weakened('directive', key, 'unknown'))
    return false
  })
  if (kept.some(([key]) => key === 'action_type')) return object(kept)
  if (action !== '') return object({ action_type: quote(action) }, kept)
  report(dropped('directive', undefined, 'unknown'))
  return undefined
}

/** A directive is the engine's own object: whose it was has no place in it. */
export function reportLane(lane: string | undefined, report: Report): void {
  if (lane !== undefined) report(weakened('directive', 'lane'))
}

/** The turn's output in order: the engine's own list if it sent one, else the text and then the directives. */
export function shownDirectives(view: TurnView, own: JsonText | undefined, report: Report): JsonText[] {
  const list = at(own, 'response', 'action_directives')
  if (list !== undefined) return elements(list).flatMap((json) => directiveJson('', json, report) ?? [])
  const attachments: JsonText[] = []
  for (const message of view.messages) {
    const inAnswer = message.role === 'assistant' && message.lane === undefined
    if (inAnswer) attachments.push(...partReferences(message.parts ?? [], view, report))
  }
  const directives = view.directives.flatMap(({ action, json, lane }) => {
    reportLane(lane, report)
    return directiveJson(action, json, report) ?? []
  })
  if (view.text === '' && attachments.length === 0) return directives
  return [messageDirective(view.text, attachments), ...directives]
}

/** References to the bytes of a message; what can be no reference is reported, unless events of its own show it. */
export function partReferences(parts: readonly Part[], view: TurnView, report: Report): JsonText[] {
  return references(parts, (part) => {
    if (part.type !== 'reasoning' && !isToldTool(part, view)) report(dropped(`part.${part.type}`))
  })
}

function isToldTool(part: Part, view: TurnView): boolean {
  return (part.type === 'tool-call' || part.type === 'tool-reply') && view.tool(part.tool) !== undefined
}

/** An open approval as a `request_approval` directive; undefined for questions of another kind. */
export function approvalDirective(
  ask: Ask,
  parked: { turn: string; continuation: string; leftMs: number },
): JsonText | undefined {
  const { question } = ask
  if (question.kind !== 'approval') return undefined
  const options = question.options.map(({ id, kind, scope, label }) => ({ id, kind, scope, label }))
  const token = markContinuation(parked.continuation)
  const payload = object({
    approval_id: quote(ask.ask),
    message: quote(question.description ?? `${question.name} needs your approval.`),
    tool: quote(question.name),
    args: asJson(question.args),
    options: JSON.stringify(options),
    continuation: JSON.stringify({ run_id: parked.turn, continuation_token: token }),
  })
  return object({
    action_type: '"request_approval"',
    priority: '"high"',
    risk_tier: '"caution"',
    requires_user_approval: 'true',
    deadline_ms: String(Math.max(0, Math.round(parked.leftMs))),
    payload,
  })
}
