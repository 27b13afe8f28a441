import type { Operation, Operations } from '../../src/contract/index.ts'
import { ANY_OBJECT, alsoUnder, answer, json, jsonSchema, REFUSALS, wholeOrStreamed } from '../../src/describe/index.ts'
import { Request as ChatRequest } from './chat/front/request.ts'
import { Request as ResponsesRequest } from './responses/front/body.ts'

const whole = { 200: answer('What was asked for.', ANY_OBJECT), ...REFUSALS }

function about(id: string, summary: string): Operation {
  return { id, summary, answers: whole }
}

const ENDPOINTS: Readonly<Record<string, Operation>> = {
  'POST /v1/chat/completions': {
    id: 'createChatCompletion',
    summary: 'OpenAI: answers a conversation. Agents are the models.',
    request: json(jsonSchema(ChatRequest), { model: 'AGENT', messages: [{ role: 'user', content: 'Hello' }] }),
    answers: wholeOrStreamed(),
  },
  'POST /v1/responses': {
    id: 'createResponse',
    summary: 'OpenAI: answers an input. Agents are the models.',
    request: json(jsonSchema(ResponsesRequest), { model: 'AGENT', input: 'Hello' }),
    answers: wholeOrStreamed(),
  },
  'GET /v1/responses/:response': { ...about('getResponse', 'OpenAI: shows a response.'), answers: wholeOrStreamed() },
  'DELETE /v1/responses/:response': about('deleteResponse', 'OpenAI: deletes a response.'),
  'GET /v1/responses/:response/input_items': about('listInputItems', 'OpenAI: lists the input of a response.'),
  'POST /v1/responses/:response/cancel': about('cancelResponse', 'OpenAI: cancels a response.'),
  'GET /v1/models': about('listModels', 'OpenAI: lists the agents as models.'),
  'GET /v1/models/:model': about('getModel', 'OpenAI: shows an agent as a model.'),
}

/** The endpoints of OpenAI's API. */
export const operations: Operations = {
  tag: 'OpenAI',
  about: 'Chat Completions, Responses and models, as OpenAI’s API has them.',
  operations: alsoUnder(ENDPOINTS, '/openai', 'OfOpenAi'),
}
