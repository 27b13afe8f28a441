import { type AgentRun, type JsonRecord, objectIn, objectsOf, saidBy } from '../../kit/index.ts'

/** The ids that each scenario sends, with the command of each. */
export const SENT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  prompt: { h1: 'hello', p1: 'prompt', p2: 'prompt' },
  commands: {
    i1: 'ping',
    s1: 'get_state',
    m1: 'get_messages',
    l1: 'get_models',
    c1: 'clear',
    a1: 'abort',
  },
  mistakes: { u1: 'no_such_command', i2: 'ping' },
  abort: { p3: 'prompt', a3: 'abort' },
  'end-of-input': { p4: 'prompt' },
  big: { p5: 'prompt' },
}

/** The number of prompts that end in each scenario. */
export const PROMPTS: Readonly<Record<string, number>> = { prompt: 2, abort: 1, unicode: 1, big: 1 }

/** The scenarios whose prompts are waited for. */
export const WITH_PROMPTS = Object.keys(PROMPTS)
/** Events that carry no id of anything; those of tools name their call. */
export const NAMELESS = [
  'turn_start',
  'assistant_start',
  'text_delta',
  'usage',
  'assistant_message',
  'turn_end',
  'done',
]

/** The reasons for which a model call ends. */
export const STOPS: readonly unknown[] = ['end_turn', 'end', 'tool_use', 'length', 'error', 'aborted']
/** Extensions of the agent may speak outside of a turn. */
export const OUTSIDE: readonly unknown[] = ['response', 'ext_notify', 'ext_display', 'compact_done', 'error']

/** Types of content blocks. */
export const BLOCKS: readonly unknown[] = ['text', 'image', 'tool_call', 'tool_result', 'reasoning', 'thinking']

/** The responses of a run. */
export const responses = (run: AgentRun): JsonRecord[] => saidBy(run, 'response')

/** The response to the command with the id. */
export const responseTo = (run: AgentRun, id: string): JsonRecord | undefined =>
  responses(run).find((one) => one['id'] === id)

/** The data of the response to the command with the id. */
export const dataOf = (run: AgentRun, id: string): JsonRecord => objectIn(responseTo(run, id), 'data')

/** The commands of the run’s scenario by id. */
export const idsOf = ({ scenario }: AgentRun): [string, string][] => Object.entries(SENT[scenario]!)

/** The events of a type that lie between the turn_start and the turn_end of no turn. */
export function outsideTurns(run: AgentRun, type: string): JsonRecord[] {
  let isOpen = false
  return objectsOf(run).filter((object) => {
    if (object['type'] === 'turn_start') isOpen = true
    if (object['type'] === 'turn_end') isOpen = false
    return object['type'] === type && !isOpen
  })
}
