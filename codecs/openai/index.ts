import type { Codec, Endpoint } from '../../src/contract/index.ts'
import { back } from './chat/back/index.ts'
import { front } from './chat/front/index.ts'
import { errors } from './errors.ts'
import { type Options, options } from './options.ts'
import { back as responsesBack } from './responses/back/index.ts'
import { front as responsesFront } from './responses/front/index.ts'
import { PROTOCOL } from './wire.ts'

/** The protocols of OpenAI's API, which most servers of models and most clients of them speak. */
export const codec: Codec<Options> = {
  name: PROTOCOL,
  dialects: {
    chat: { wireVersion: '1', framing: 'body', front, back },
    responses: { wireVersion: '1', framing: 'body', front: responsesFront, back: responsesBack },
  },
  servers: true,
  errors,
  endpoints: ['', '/openai'].flatMap((base): Endpoint[] => [
    { method: 'POST', path: `${base}/v1/chat/completions`, input: 'body', dialect: 'chat' },
    { method: 'POST', path: `${base}/v1/responses`, input: 'body', dialect: 'responses' },
    { method: 'GET', path: `${base}/v1/responses/:response`, input: 'body', dialect: 'responses' },
    { method: 'DELETE', path: `${base}/v1/responses/:response`, input: 'body', dialect: 'responses' },
    { method: 'GET', path: `${base}/v1/responses/:response/input_items`, input: 'body', dialect: 'responses' },
    { method: 'POST', path: `${base}/v1/responses/:response/cancel`, input: 'body', dialect: 'responses' },
    { method: 'GET', path: `${base}/v1/models`, input: 'body', dialect: 'chat' },
    { method: 'GET', path: `${base}/v1/models/:model`, input: 'body', dialect: 'chat' },
  ]),
  options,
}
