/**
 * What is compared when a protocol is on both sides: the messages of a wire, without what the README of their codec
 * names as written otherwise. One function for each protocol, from lines to comparable values.
 */
import { haltReason, isBlank, isPlaceholder } from '../../codecs/zene/text.ts'
import { isRecord, parse } from '../../src/model/index.ts'

type Line = Record<string, unknown>

/** Lines of one wire to what must be equal on both sides. */
export type Normal = (lines: readonly string[]) => unknown

const objects = (lines: readonly string[]): Line[] =>
  lines.flatMap((line) => {
    const value = parse(line)
    return isRecord(value) ? [value] : []
  })

/** zot: the events of each turn in order, and the responses by their ids. */
export const zot: Normal = (lines) => {
  const all = objects(lines)
  const turns: Line[][] = [[]]
  for (const line of all) {
    const { type } = line
    // The original ends a compaction without `done`.
    const over = turns.length > 1 && turns.at(-1)!.length === 0 && type === 'done'
    if (type === 'response' || over) continue
    turns.at(-1)!.push(line)
    if (type === 'done' || type === 'compact_done' || type === 'error') turns.push([])
  }
  const answers = all.filter(({ type, command }) => type === 'response' && command !== 'hello')
  // What is wrong with a line is said in our words, and a wire that was cut has answers only up to there.
  const responses = answers.map(({ id, command, success, data }) => [
    String(id),
    command,
    success,
    success ? data : null,
  ])
  return {
    turns: turns.map(zotTurn).filter((turn) => turn.length > 0),
    responses: responses.map((one) => JSON.stringify(sorted(one))).sort(),
  }
}

/** A turn that did not go as usual ends in one form: only what was shown before is compared. */
function zotTurn(lines: readonly Line[]): Line[] {
  const odd = lines.some(({ type, stop }) => type === 'error' || stop === 'aborted' || stop === 'error')
  const cut = !['done', 'compact_done'].includes(String(lines.at(-1)?.['type']))
  const orphan =
    lines.findLastIndex(({ type }) => type === 'tool_result') > lines.findLastIndex(({ type }) => type === 'turn_end')
  const usual = !odd && !cut && !orphan
  const kept = lines.filter(({ type, input, output, extension }) => {
    if (type === 'tool_use_end' || extension === 'turnpike') return false
    if (type === 'usage') return usual && !(input === 0 && output === 0)
    return (
      usual ||
      ![
        'turn_end',
        'error',
        'done',
        'assistant_message',
        'compact_done',
        'turn_start',
        'assistant_start',
        'user_message',
      ].includes(String(type))
    )
  })
  return kept.map((line) =>
    line['type'] === 'turn_end' && line['stop'] === 'end' ? { ...line, stop: 'end_turn' } : line,
  )
}

/** Zene: the answers; `ack`, `event`, times and token counts are the writer's own. */
export const zene: Normal = (lines) =>
  objects(lines)
    .filter(({ type, status }) => type !== 'event' && !(type === 'ack' && status === 'ACCEPTED'))
    .map((line) => {
      const { request_id: request, session_id: session, type, status, text, error, error_code: flat } = line
      const code = flat ?? (isRecord(error) ? error['code'] : undefined) ?? null
      const ok = line['ok'] === true || status === 'OK'
      if (ok && typeof text === 'string' && (isBlank(text) || isPlaceholder(text) || haltReason(text) !== undefined)) {
        return ['failed']
      }
      if (ok) return [request, session, 'ok', text, usageOf(line['usage'])]
      return type === 'ack' ? [request, status] : [code === 'CANCELED' ? 'canceled' : 'failed']
    })

/** Counts that were made up, or that say nothing, are not compared. */
function usageOf(usage: unknown): unknown {
  if (!isRecord(usage) || usage['estimated'] === true) return null
  return Object.values(usage).every((count) => count === 0 || count === null) ? null : usage
}

/** Qwen Code: what a client is shown, without ids, times, the grouping of lines, and the forms in which a failure is told. */
export const qwenCode: Normal = (lines) =>
  objects(lines)
    .flatMap(shown)
    .filter((one) => !TOLD.test(JSON.stringify(one)))

/** A failure in the middle of a text. */
const IN_TEXT = /\[API Error: .*\]$/

/** A failure in the text, one that ends what was open, a greeting that was never sent. */
const TOLD =
  /"\[API Error: |^\["result",true|^\["user",null,\{"content":"","is_error":true|^\["init",\[\],""\]$|"tool_result".*"content":""|"type":"text","text":""|"text":"","type":"text"/

function shown(value: Line): unknown[] {
  const { type, subtype, event, message, data, parent_tool_use_id: lane } = value
  if (type === 'assistant' || type === 'user') {
    const { content } = isRecord(message) ? message : {}
    return Array.isArray(content) ? content.map((block) => [type, lane, plain(block)]) : [[type, lane, content]]
  }
  if (type === 'system') return subtype === 'init' ? [['init', value['tools'], value['cwd']]] : [[subtype, data]]
  if (type === 'result') return [['result', value['is_error'], value['result']]]
  if (type !== 'stream_event' || !isRecord(event)) return []
  // A call is shown with its whole arguments at once, here or a line later.
  if (isRecord(event['delta']) && event['delta']['type'] === 'input_json_delta') return []
  return event['type'] === 'content_block_delta' || event['type'] === 'goal_state' ? [event] : []
}

function plain(block: unknown): unknown {
  const text = record(block)['text']
  return typeof text === 'string' ? { ...record(block), text: text.replace(IN_TEXT, '') } : block
}

/** AgentProc 0.1: the text of the reply (runs are an empty line apart) and the error; the session id is the gateway's. */
export const agentproc01: Normal = (lines) => {
  let text = ''
  let error: string | undefined
  for (const line of lines) {
    if (line.startsWith('AGENT_PARTIAL:')) {
      const said = parse(line.slice('AGENT_PARTIAL:'.length).trim())
      text += typeof said === 'string' ? said : line.slice('AGENT_PARTIAL:'.length)
    } else if (line.startsWith('AGENT_ERROR:'))
      error = String(parse(line.slice('AGENT_ERROR:'.length)) ?? line.slice('AGENT_ERROR:'.length)).trim()
    else if (!line.startsWith('AGENT_SESSION:')) text += line
  }
  return { text: error === undefined ? text.replace(/\s/g, '') : '', error }
}

/** AgentProc 0.4: partials as one text, the result where there were none, usage, questions and the error. */
export const agentproc04: Normal = (lines) => {
  const all = objects(lines)
  const error = all.find(({ type }) => type === 'error')?.['message']
  const said = (role: boolean): string =>
    all
      .filter(({ type, role: of }) => type === 'partial' && (of === 'thinking') === role)
      .map(({ text }) => (typeof text === 'string' ? text : ''))
      .join('')
  const result = all.find(({ type }) => type === 'result')
  const asked = all
    .filter(({ type }) => type === 'permission_request')
    .map(({ request_id: _id, session_id: _session, ...question }) => question)
  if (error !== undefined) return { error, asked }
  const partials = said(false)
  return {
    partials: partials || (result?.['text'] ?? ''),
    thinking: said(true),
    usage: result?.['usage'] ?? null,
    asked,
  }
}

/** OpenHarness: the answer without what the README calls the gateway's own, and our extension. */
export const openharness: Normal = (lines) =>
  objects(lines).map((line) => {
    const { supported_protocol_versions: _v, supported_capabilities: _c, request_id: _r, ...all } = line
    // What the gateway itself does not give is refused by it, when the engine says nothing of it.
    const { capability_denials: denials, ...rest } = all
    const engine = list(denials).filter((one) => record(one)['code'] !== 'not_supported')
    const kept = { ...rest, ...(engine.length > 0 && { capability_denials: engine }) }
    const { engine_latency_ms: _ms, extensions, action_directives: directives, ...response } = record(line['response'])
    const { 'urn:turnpike:turn': _turn, ...others } = record(extensions)
    return {
      ...kept,
      response: {
        ...response,
        action_directives: list(directives).map((one) => ({ priority: 'normal', risk_tier: 'safe', ...record(one) })),
        extensions: others,
      },
    }
  })

function record(value: unknown): Line {
  return isRecord(value) ? value : {}
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

/** The value with its keys in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isRecord(value)) return value
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, held]) => [key, sorted(held)]))
}
