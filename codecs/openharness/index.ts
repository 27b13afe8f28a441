import { TurnBack } from '../../src/codec-kit/index.ts'
import type { Codec } from '../../src/contract/index.ts'
import { EngineTurn } from './back/turn.ts'
import { backCapabilities, frontCapabilities } from './capabilities.ts'
import { errors } from './errors.ts'
import { OpenHarnessFront } from './front/index.ts'
import { type Options, options } from './options.ts'
import { VERSION } from './wire.ts'

/** OpenHarness v1: envelopes between a shell and a harness engine, over HTTP and one-shot stdio. */
export const codec: Codec<Options> = {
  name: 'openharness',
  dialects: {
    v1: {
      wireVersion: VERSION,
      framing: 'body',
      front: {
        capabilities: frontCapabilities,
        env: [],
        open: (context, ports) => new OpenHarnessFront(context, ports),
      },
      // One HTTP call a turn, and one more for every approval that the engine asked and got.
      back: {
        capabilities: backCapabilities,
        memory: () => 'named',
        open: ({ options }, ports) => new TurnBack((start) => new EngineTurn(start, options, ports)),
      },
    },
  },
  servers: true,
  errors,
  endpoints: [
    { method: 'POST', path: '/v1/openharness', input: 'body' },
    { method: 'POST', path: '/openharness', input: 'body' },
  ],
  options,
}
