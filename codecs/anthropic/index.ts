import type { Codec, Endpoint } from '../../src/contract/index.ts'
import { back } from './back/index.ts'
import { errors } from './errors.ts'
import { front } from './front/index.ts'
import { type Options, options } from './options.ts'
import { PROTOCOL } from './wire.ts'

/** The header of this API's clients, which distinguishes their `/v1/models` from that of other APIs. */
function only(base: string): Pick<Endpoint, 'header'> {
  return base === '' ? { header: 'anthropic-version' } : {}
}

/** The Messages API, which coding agents and other clients of Anthropic's models speak, and the servers of them. */
export const codec: Codec<Options> = {
  name: PROTOCOL,
  dialects: {
    messages: { wireVersion: '2023-06-01', framing: 'body', front, back },
  },
  servers: true,
  errors,
  endpoints: ['', '/anthropic'].flatMap((base): Endpoint[] => [
    { method: 'POST', path: `${base}/v1/messages/count_tokens`, input: 'body' },
    { method: 'POST', path: `${base}/v1/messages`, input: 'body' },
    { method: 'GET', path: `${base}/v1/models`, ...only(base), input: 'body' },
    { method: 'GET', path: `${base}/v1/models/:model`, ...only(base), input: 'body' },
  ]),
  options,
}
