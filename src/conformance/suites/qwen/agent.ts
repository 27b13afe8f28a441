import {
  type AgentRun,
  ending,
  every,
  exits,
  expectThat,
  isCount,
  isObject,
  isText,
  type JsonRecord,
  lineRules,
  none,
  objectIn,
  objectsOf,
  rulesForAgents,
  saidBy,
  show,
  skip,
} from '../../kit/index.ts'
import { SECTIONS } from './sections.ts'

const TURNS = ['prompt', 'openai', 'unicode', 'big']
const FINAL_EVENTS: readonly unknown[] = ['Finished', 'USER_CANCELLED', 'MaxSessionTurns', 'MAX_TOKENS']
const OBJECTS: readonly unknown[] = ['chat.completion', 'chat.completion.chunk']
const REASONS: readonly unknown[] = [null, 'stop', 'tool_calls', 'length', 'content_filter', 'error']

/** True when a line ends a turn: a final session event, a fatal error, or the last chunk. */
export function isEnd(line: JsonRecord): boolean {
  const isLastChunk =
    line['object'] === 'chat.completion.chunk' && reasonsOf(line).some((one) => isText(one) && one !== 'tool_calls')
  return isLastChunk || isFinal(line) || isFatal(line)
}

const isFinal = ({ type, event }: JsonRecord): boolean =>
  type === 'x-qwen-session-event' && FINAL_EVENTS.includes(event)
const isFatal = (line: JsonRecord): boolean => isObject(line['error']) && !('object' in line)
const choicesOf = ({ choices }: JsonRecord): JsonRecord[] => (Array.isArray(choices) ? choices.filter(isObject) : [])
const reasonsOf = (line: JsonRecord): unknown[] => choicesOf(line).map(({ finish_reason = null }) => finish_reason)
const completions = (run: AgentRun): JsonRecord[] => objectsOf(run).filter(({ object }) => OBJECTS.includes(object))
const isKnown = (line: JsonRecord): boolean =>
  OBJECTS.includes(line['object']) || isFatal(line) || /^(?:x-qwen-|result\/|control_)/.test(String(line['type']))

/** The rules for agents that speak the structured-IO RFC. */
export const agentRules = rulesForAgents('qwen', SECTIONS, {
  ...lineRules('8'),
  '8.event-kind': {
    expects: 'a line is a chat.completion, its chunk, an x-qwen event, a result/… or the control channel, or an error',
    judge: (run) => every(objectsOf(run), 'line', isKnown),
  },
  '10.ending': {
    expects: 'a turn ends: with a final session event, a last chunk, a fatal error, or a finish_reason before the exit',
    on: TURNS,
    judge: (run) => {
      const last = completions(run).at(-1)
      const isDone = objectsOf(run).some(isEnd) || reasonsOf(last ?? {}).includes('stop')
      return expectThat(isDone, show(objectsOf(run).at(-1)))
    },
  },
  '5.one-ending': {
    expects: 'a turn has one final session event at most',
    on: TURNS,
    judge: (run) => {
      const finals = objectsOf(run).filter(isFinal)
      return expectThat(finals.length <= 1, `${finals.length} final session events`)
    },
  },
  '4.nothing-after-end': {
    expects: 'no completion follows the end of its turn',
    on: TURNS,
    needs: ['10.ending'],
    judge: (run) => {
      const all = objectsOf(run)
      const at = all.findIndex(isEnd)
      if (at < 0) return skip('the turn was ended by the exit')
      return none(all.slice(at + 1).filter(({ object }) => OBJECTS.includes(object)))
    },
  },
  '4.choices': {
    expects: 'a completion has choices with index and message, a chunk with delta',
    judge: (run) =>
      every(completions(run), 'completion', (line) => {
        const key = line['object'] === 'chat.completion' ? 'message' : 'delta'
        const choices = choicesOf(line)
        return choices.length > 0 && choices.every((choice) => isCount(choice['index'] ?? 0) && isObject(choice[key]))
      }),
  },
  '4.role-first': {
    expects: 'the first completion or chunk names the role assistant',
    on: TURNS,
    needs: ['4.choices'],
    judge: (run) => {
      const [first] = completions(run)
      if (!first) return skip('no completion was seen')
      const [choice] = choicesOf(first)
      const role = objectIn(choice, 'message')['role'] ?? objectIn(choice, 'delta')['role']
      return expectThat(role === 'assistant', show(first))
    },
  },
  '4.finish-reason': {
    expects: 'finish_reason is null, stop, tool_calls, length, content_filter or error',
    judge: (run) =>
      every(completions(run), 'completion', (line) => reasonsOf(line).every((one) => REASONS.includes(one))),
  },
  '4.identity': {
    expects: 'a completion has id (string) and created (whole number)',
    on: TURNS,
    judge: (run) => every(completions(run), 'completion', ({ id, created }) => isText(id) && isCount(created)),
  },
  '4.usage': {
    expects: 'usage has prompt_tokens, completion_tokens and total_tokens as whole numbers',
    on: TURNS,
    judge: (run) =>
      every(
        completions(run).flatMap(({ usage }) => (isObject(usage) ? [usage] : [])),
        'usage',
        ({ prompt_tokens, completion_tokens, total_tokens }) =>
          [prompt_tokens, completion_tokens, total_tokens].every(isCount),
      ),
  },
  '10.metadata': {
    expects:
      'the first completion names protocol_version, input_format, output_format and capabilities in its metadata',
    on: ['prompt'],
    judge: (run) => {
      const [first] = completions(run)
      if (!first) return skip('no completion was seen')
      const told = isObject(first['metadata']) ? first['metadata'] : first['system_fingerprint']
      const text = JSON.stringify(told) ?? ''
      const names = ['protocol_version', 'input_format', 'output_format', 'capabilities']
      return expectThat(
        names.every((name) => text.includes(name)),
        show(told),
      )
    },
  },
  '7.heartbeat': {
    expects: 'a heartbeat_request is answered with result/heartbeat, status ok and the session’s id',
    on: ['heartbeat'],
    judge: (run) => {
      const [beat] = saidBy(run, 'result/heartbeat')
      return expectThat(beat?.['status'] === 'ok' && beat['session_id'] === `conformance-${run.id}`, show(beat))
    },
  },
  '7.hint': {
    expects: 'a command_hint_request is answered with result/command_hint: its prompt_id, trigger, status, suggestions',
    on: ['hint'],
    judge: (run) => {
      const hint = saidBy(run, 'result/command_hint').at(-1)
      const { prompt_id, trigger, status, suggestions } = hint ?? {}
      const holds = prompt_id === `conformance-${run.id}########preview` && trigger === 'slash'
      return expectThat(holds && (status === 'error' || status === 'loading' || Array.isArray(suggestions)), show(hint))
    },
  },
  '7.cancel-noop': {
    expects: 'control/cancel with nothing to cancel is answered with result/cancel, status noop',
    on: ['cancel-nothing'],
    judge: (run) => {
      const [result] = saidBy(run, 'result/cancel')
      return expectThat(result?.['status'] === 'noop', show(result))
    },
  },
  '9.control-request': {
    expects: 'a control_request has request_id and subtype, strings',
    judge: (run) =>
      every(
        saidBy(run, 'control_request'),
        'control_request',
        ({ request_id, subtype }) => isText(request_id) && isText(subtype),
      ),
  },
  '10.malformed-line': {
    expects: 'a line that is not JSON is answered: by a completion with the error in metadata, or by an error object',
    on: ['malformed'],
    judge: (run) => {
      const all = objectsOf(run)
      const isNamed = all.some(
        (line) =>
          isFatal(line) || 'error' in objectIn(line, 'metadata') || 'control_errors' in objectIn(line, 'metadata'),
      )
      return expectThat(isNamed, `${show(all[0])}; ${ending(run)}`)
    },
  },
  '10.fatal-exit': {
    expects: 'a fatal error has a message, and the process exits with another code than 0',
    judge: (run) => {
      const fatal = objectsOf(run).find(isFatal)
      return fatal === undefined
        ? skip('no fatal error was seen')
        : expectThat(
            isText(objectIn(fatal, 'error')['message']) && run.exitCode !== 0,
            `${show(fatal)}; ${ending(run)}`,
          )
    },
  },
  '8.exits-at-end-of-input': {
    expects: 'the process ends by itself when stdin ends, with 0 when nothing was fatal',
    on: [...TURNS, 'heartbeat', 'hint', 'cancel-nothing', 'malformed'],
    judge: (run) =>
      expectThat(run.end === 'exited' && (run.exitCode === 0 || objectsOf(run).some(isFatal)), ending(run)),
  },
  '8.sigterm': {
    expects: 'SIGTERM ends the process within its grace',
    on: ['terminate'],
    judge: exits,
  },
})
