import type { Operation, Operations } from '../../src/contract/index.ts'
import { ANY_OBJECT, alsoUnder, answer, json, jsonSchema, REFUSALS, wholeOrStreamed } from '../../src/describe/index.ts'
import { Counted, Request } from './front/body.ts'

const MESSAGES = { model: 'AGENT', max_tokens: 1024, messages: [{ role: 'user', content: 'Hello' }] }

const whole = { 200: answer('What was asked for.', ANY_OBJECT), ...REFUSALS }
const parameters = [
  { name: 'anthropic-version', in: 'header', description: 'The version of the API.', schema: { type: 'string' } },
] as const

const ENDPOINTS: Readonly<Record<string, Operation>> = {
  'POST /v1/messages': {
    id: 'createMessage',
    summary: 'Anthropic: answers a conversation. Agents are the models.',
    parameters,
    request: json(jsonSchema(Request), MESSAGES),
    answers: wholeOrStreamed(),
  },
  'POST /v1/messages/count_tokens': {
    id: 'countTokens',
    summary: 'Anthropic: estimates the tokens of a request.',
    parameters,
    request: json(jsonSchema(Counted), MESSAGES),
    answers: whole,
  },
  'GET /v1/models': {
    id: 'listModelsOfAnthropic',
    summary: 'Anthropic: lists the agents as models.',
    parameters,
    answers: whole,
  },
  'GET /v1/models/:model': {
    id: 'getModelOfAnthropic',
    summary: 'Anthropic: shows an agent as a model.',
    parameters,
    answers: whole,
  },
}

/** The endpoints of Anthropic's API. */
export const operations: Operations = {
  tag: 'Anthropic',
  about: 'Messages and models, as Anthropic’s API has them.',
  operations: alsoUnder(ENDPOINTS, '/anthropic', 'AtAnthropic'),
}
