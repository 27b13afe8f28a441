import { ownOptions } from '../../src/codec-kit/index.ts'
import { argumentOf, type Codec } from '../../src/contract/index.ts'
import { ZotBack } from './back/index.ts'
import { backCapabilities, frontCapabilities } from './capabilities.ts'
import { errors } from './errors.ts'
import { readArguments } from './front/args.ts'
import { ZotFront } from './front/index.ts'
import { PrintSession } from './front/print.ts'
import { Options } from './schema.ts'
import { PROTOCOL, TOKEN_VARIABLE } from './wire.ts'

export type { Options }

/** True for the modes with one prompt; what is printed instead of serving is printed by the loop. */
function isSingle(argv: readonly string[]): boolean {
  const { mode, print } = readArguments(argv)
  return mode !== 'rpc' && print === undefined
}

/** zot RPC: lines of JSON between a client and `zot rpc`. */
export const codec: Codec<Options> = {
  name: PROTOCOL,
  dialects: {
    rpc: {
      wireVersion: '1',
      framing: 'ndjson',
      front: {
        capabilities: frontCapabilities,
        env: [TOKEN_VARIABLE],
        input: ({ argv }) => (isSingle(argv) ? 'body' : 'ndjson'),
        open: (context, ports) => new (isSingle(context.argv) ? PrintSession : ZotFront)(context, ports),
      },
      back: {
        capabilities: backCapabilities,
        memory: () => 'process',
        configuredModel: (context) => argumentOf(context, '--model'),
        open: (context, ports) => new ZotBack(context, ports),
      },
    },
  },
  errors,
  endpoints: [{ method: 'POST', path: '/v1/zot', input: 'ndjson' }],
  options: ownOptions(Options),
}
