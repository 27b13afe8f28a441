import { ownOptions } from '../../src/codec-kit/index.ts'
import type { Codec } from '../../src/contract/index.ts'
import { AcpBack } from './back/index.ts'
import { AcpMultiplexer } from './back/multiplexer.ts'
import { backCapabilities } from './capabilities.ts'
import { errors } from './errors.ts'
import { frontCapabilities } from './front/capabilities.ts'
import { AcpFront } from './front/index.ts'
import { Options } from './options.ts'
import { PROTOCOL } from './wire.ts'

export type { Options }

/** The Agent Client Protocol: JSON-RPC 2.0 in lines, between an editor and a coding agent. */
export const codec: Codec<Options> = {
  name: PROTOCOL,
  dialects: {
    v1: {
      wireVersion: '1',
      framing: 'ndjson',
      front: {
        capabilities: frontCapabilities,
        env: [],
        open: (_, ports) => new AcpFront(ports),
      },
      back: {
        capabilities: backCapabilities,
        // One that cannot go on with a session never says its id, and a session without one is lost with the process.
        memory: () => 'bound',
        copiesSessions: true,
        multiplex: (ports) => new AcpMultiplexer(ports),
        open: (context, ports) => new AcpBack(context, ports),
      },
    },
  },
  errors,
  endpoints: [],
  options: ownOptions(Options),
}
