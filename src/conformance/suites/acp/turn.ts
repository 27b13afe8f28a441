import {
  type AgentRow,
  type AgentRun,
  areUnique,
  every,
  expectThat,
  fits,
  isObject,
  isText,
  type JsonRecord,
  none,
  objectIn,
  objectsOf,
  recordsIn,
  show,
  skip,
} from '../../kit/index.ts'
import {
  answerTo,
  calls,
  inSession,
  KINDS,
  OF_TURNS,
  OPTION_KINDS,
  PROMPTS,
  resultOf,
  STATUSES,
  STOPS,
  updates,
} from './read.ts'
import { isAnswer, updateOf } from './scenarios.ts'

const WITH_PROMPTS = Object.keys(PROMPTS)

/** The answer to a prompt, and whether it has a stop reason. */
const stopOf = (run: AgentRun, id: string): unknown => resultOf(run, id)['stopReason']

/** Updates of a turn after the answer to the last prompt. */
function late(run: AgentRun): JsonRecord[] {
  const all = objectsOf(run)
  const last = all.findLastIndex((one) => PROMPTS[run.scenario]!.some((id) => isAnswer(one, id)))
  return last < 0 ? [] : all.slice(last + 1).filter((one) => OF_TURNS.includes(updateOf(one)['sessionUpdate']))
}

const optional = (value: unknown, allowed: readonly unknown[]): boolean =>
  value === undefined || value === null || allowed.includes(value)

/** The number of steps of the scenario `cancel` until the prompt is cancelled. */
const CANCELLED = 6

function isContent(update: JsonRecord): boolean {
  return isText(objectIn(update, 'content')['type'])
}

/** True when the text is all that was asked for: the end of the turn and the cancel have met. */
function isCounted(run: AgentRun): boolean {
  const texts = updates(run, 'agent_message_chunk').map((update) => objectIn(update, 'content')['text'])
  return /500|five hundred/i.test(texts.join(''))
}

/** The rules about turns and their tools. */
export const turnRows = {
  '5.stop-reason': {
    expects: 'a prompt, also one of 200 KB or with U+2028, is answered with a stopReason of the text',
    on: ['turn', 'tool', 'big', 'line-separator'],
    needs: ['3.session-id'],
    judge: inSession((run) => every([...PROMPTS[run.scenario]!], 'prompt', (id) => STOPS.includes(stopOf(run, id)))),
  },
  '5.text': {
    expects: 'the answer is text in `agent_message_chunk`',
    on: ['turn'],
    needs: ['5.stop-reason'],
    judge: inSession((run) => {
      const texts = updates(run, 'agent_message_chunk').map((update) => objectIn(update, 'content')['text'])
      return expectThat(texts.some(isText), show(texts))
    }),
  },
  '5.update': {
    expects: 'an update names its session, and its kind; the content of a chunk has a type',
    on: WITH_PROMPTS,
    needs: ['3.session-id', '3.no-early-update'],
    judge: inSession((run) => {
      const { sessionId: id } = resultOf(run, 'n1')
      return every(calls(run, 'session/update'), 'update', (message) => {
        const update = updateOf(message)
        const isSound = isText(update['sessionUpdate']) && objectIn(message, 'params')['sessionId'] === id
        return isSound && (!String(update['sessionUpdate']).endsWith('_chunk') || isContent(update))
      })
    }),
  },
  '5.none-after': {
    expects: 'no update of a turn follows the answer to its prompt',
    on: WITH_PROMPTS,
    needs: ['5.stop-reason'],
    judge: inSession((run) => none(late(run))),
  },
  '5.unknown-session': {
    expects: 'a prompt for an unknown session is answered with an error',
    on: ['mistakes'],
    judge: (run) => fits(answerTo(run, 'x2'), (one) => isObject(one?.['error'])),
  },
  '5.cancel': {
    expects: 'a cancelled prompt is answered with the stopReason `cancelled`, not with an error',
    on: ['cancel'],
    needs: ['3.session-id'],
    judge: inSession((run) => {
      const answer = run.lines.find(({ object }) => isAnswer(object, 'p3'))
      if (answer && (answer.step < CANCELLED || isCounted(run)))
        return skip('the turn had ended before it was cancelled')
      return fits(answer?.object, () => stopOf(run, 'p3') === 'cancelled')
    }),
  },
  '6.tool-call': {
    expects: 'a `tool_call` has an id and a title, and a kind and a status of the text',
    on: WITH_PROMPTS,
    needs: ['3.session-id'],
    judge: (run) =>
      every(
        updates(run, 'tool_call'),
        'tool call',
        ({ toolCallId, title, kind, status }) =>
          isText(toolCallId) && typeof title === 'string' && optional(kind, KINDS) && optional(status, STATUSES),
      ),
  },
  '6.tool-call-update': {
    expects: 'a `tool_call_update` names a call that there is, and has a status of the text',
    on: WITH_PROMPTS,
    needs: ['6.tool-call'],
    judge: (run) => {
      const ids = updates(run, 'tool_call').map(({ toolCallId }) => toolCallId)
      return every(
        updates(run, 'tool_call_update'),
        'update of a tool call',
        ({ toolCallId, status }) => ids.includes(toolCallId) && optional(status, STATUSES),
      )
    },
  },
  '6.permission': {
    expects: 'a request for a permission names its session and its call, and has options with an id, a name and a kind',
    on: WITH_PROMPTS,
    judge: (run) =>
      every(calls(run, 'session/request_permission'), 'request for a permission', ({ params }) => {
        const options = recordsIn(params as JsonRecord, 'options')
        const ids = options.map(({ optionId }) => optionId)
        return (
          isObject(params) &&
          params['sessionId'] === resultOf(run, 'n1')['sessionId'] &&
          isText(objectIn(params, 'toolCall')['toolCallId']) &&
          options.length > 0 &&
          areUnique(ids) &&
          options.every((one) => isText(one['optionId']) && isText(one['name']) && OPTION_KINDS.includes(one['kind']))
        )
      }),
  },
  '7.not-offered': {
    expects: 'a client without files and terminals is not asked for them',
    on: WITH_PROMPTS,
    judge: (run) => none(objectsOf(run).filter(({ method }) => /^(fs|terminal)\//.test(String(method)))),
  },
} as const satisfies Readonly<Record<string, AgentRow>>
