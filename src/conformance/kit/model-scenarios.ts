import { fetches, leaves, request, streaming } from './endpoint-scenarios.ts'
import { bigText } from './judges.ts'
import { type AgentRun, type JsonRecord, MODEL, RUN_ID, type Scenario } from './suite.ts'

/** A prompt for a short answer. */
export const OK = 'Reply with the word ok.'
/** A prompt for an answer with a call of the tool. */
export const WEATHER = 'Please call get_weather for Paris.'
/** The result of a call of the tool. */
export const SUNNY = 'Sunny, 21 degrees.'
const BOTH = 'Please call get_weather for Paris and for Rome, both at once.'
const COUNT = 'Count from one to five hundred, one number a line.'

/** The tool that models under test may call. */
export const TOOL = {
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const

/** The requests of an API of models. */
export interface ModelWords {
  /** The members of a request with this prompt, without its model. */
  ask: (prompt: string) => JsonRecord
  /** The members that offer the tool, and the choice of none. */
  tools: JsonRecord
  none: unknown
  /** The member that limits the tokens of an answer. */
  limit: string
  /** The path of the list of models. */
  models: string
  /** The conversation with the result of each call of the scenario `tool`, or of a made-up one. */
  withResult: (earlier: readonly AgentRun[]) => JsonRecord
}

/** The requests that every server of models is sent; the list of models comes first. */
export function modelScenarios({ ask, tools, none, limit, models, withResult }: ModelWords): readonly Scenario[] {
  const body = (prompt: string, more: JsonRecord = {}): JsonRecord => ({ model: MODEL, ...ask(prompt), ...more })
  const unknown = body(OK, { model: `no-such-model-${RUN_ID}` })
  return [
    fetches('models', models),
    request('whole', body(OK)),
    request('unicode', body('Reply with this line: \u2028 “é” 😀')),
    request('big', body(bigText(200_000))),
    request('limit', body(COUNT, { [limit]: 16 })),
    request('tool', body(WEATHER, tools)),
    request('parallel', body(BOTH, tools)),
    request('no-tools', body(WEATHER, { ...tools, tool_choice: none })),
    { ...request('tool-result', ''), steps: (earlier) => [{ write: JSON.stringify(withResult(earlier)) }] },
    streaming('stream', body(OK)),
    streaming('stream-tool', body(WEATHER, tools)),
    request('no-json', '{"model":'),
    request('unknown-model', unknown),
    streaming('unknown-model-stream', unknown),
    leaves('cut', body(COUNT)),
    request('after-cut', body(OK)),
  ]
}
