import { ownOptions } from '../../src/codec-kit/index.ts'
import type { Codec } from '../../src/contract/index.ts'
import { ZeneBack } from './back/index.ts'
import { backCapabilities, clawrunCapabilities, frontCapabilities } from './capabilities.ts'
import { ClawrunFront } from './clawrun/front.ts'
import { errors } from './errors.ts'
import { frontEnv, openFront } from './front/index.ts'
import { type Options, optionsSchema } from './schema.ts'

/** Zene Host Protocol v1, and `POST /v1/respond` as its neighbour clawrun calls it. */
export const codec: Codec<Options> = {
  name: 'zene',
  dialects: {
    host: {
      wireVersion: '1',
      framing: 'ndjson',
      front: { capabilities: frontCapabilities, env: frontEnv, open: openFront },
      back: {
        capabilities: backCapabilities,
        memory: () => 'named',
        open: (context, ports) => new ZeneBack(context, ports),
      },
    },
    clawrun: {
      wireVersion: '1',
      framing: 'body',
      front: { capabilities: clawrunCapabilities, env: [], open: (context, ports) => new ClawrunFront(context, ports) },
    },
  },
  errors,
  endpoints: [
    { method: 'POST', path: '/v1/zene', input: 'body' },
    { method: 'POST', path: '/v1/respond', input: 'body', dialect: 'clawrun' },
  ],
  silent: true,
  options: ownOptions(optionsSchema),
}
