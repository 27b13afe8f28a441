import type { Codec } from '../../src/contract/index.ts'
import { back } from './back/index.ts'
import { errors } from './errors.ts'
import { front } from './front/index.ts'
import { type Options, options } from './options.ts'
import { VERSION } from './wire.ts'

/** OpenHarness v1: envelopes between a shell and a harness engine, over HTTP and one-shot stdio. */
export const codec: Codec<Options> = {
  name: 'openharness',
  dialects: { v1: { wireVersion: VERSION, framing: 'body', front, back } },
  errors,
  endpoints: [
    { method: 'POST', path: '/v1/openharness', input: 'body' },
    { method: 'POST', path: '/openharness', input: 'body' },
  ],
  options,
}
