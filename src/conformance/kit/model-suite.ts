import { firstModel } from './endpoint.ts'
import { isObject } from './judges.ts'
import { type AgentRule, type ClientRule, type HttpRequests, type JsonRecord, MODEL, type Suite } from './suite.ts'

/** The suite of an API of models, without what all of them have in common. */
export interface ModelApi extends Pick<Suite, 'scenarios' | 'agent' | 'client' | 'play'> {
  /** The prefix of its rule ids. */
  prefix: string
  /** The section about a request. */
  section: string
  /** The requests for an answer. */
  http: HttpRequests
  /** The request for an answer to this prompt, without its model. */
  ask: (prompt: string) => JsonRecord
  /** True for a whole answer. */
  isAnswer: (said: JsonRecord) => boolean
  /** A text that a whole answer has, and nothing before its end. */
  end: string
}

/** The tests of an API of models: of servers at a URL, and of clients that call one. */
export function modelSuite({ prefix, section, ask, isAnswer, end, agent, client, ...own }: ModelApi): Suite {
  return {
    ...own,
    agent: bySection(agent),
    client: bySection(client),
    framing: 'body',
    onlyHttp: true,
    env: [],
    values: { [MODEL]: firstModel },
    hostile: {
      prefix,
      form: 'body',
      section,
      isLast: (frame) => frame.includes(end),
      clients: { 'unknown-messages-and-fields': 'answer', banner: 'honest', 'answers-twice': 'honest' },
      agents: { 'unknown-messages-and-fields': 'advised' },
      turns: {
        many: false,
        request: (_id, prompt) => ({ model: MODEL, ...ask(prompt) }),
        endOf: (said) => (isAnswer(said) ? '' : isObject(said['error']) ? 'refused' : undefined),
      },
    },
  }
}

/** Rules in the order of the sections that they are about: those of an API are mixed with those of all. */
function bySection<R extends AgentRule | ClientRule>(rules: readonly R[]): R[] {
  return rules.toSorted((one, other) => Number.parseInt(one.section, 10) - Number.parseInt(other.section, 10))
}
