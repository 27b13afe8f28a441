import * as v from 'valibot'
import { errorTable, ownOptions } from '../../src/codec-kit/index.ts'
import type { Codec, Endpoint } from '../../src/contract/index.ts'
import { NativeBack } from './back.ts'
import { backCapabilities, frontCapabilities, httpCapabilities, resourceCapabilities } from './capabilities.ts'
import { HttpFront } from './front/http.ts'
import { NativeFront } from './front/lines.ts'
import { RESOURCE_ENDPOINTS, ResourceFront } from './front/resource.ts'
import { PROTOCOL } from './wire.ts'

export { eventJson } from './lines.ts'

const Options = v.strictObject({})
/** The codec's own part of an agent's configuration: nothing. */
export type Options = v.InferOutput<typeof Options>

/** The canonical model itself: commands and events as lines of JSON, and one turn a request over HTTP. */
export const codec: Codec<Options> = {
  name: PROTOCOL,
  dialects: {
    lines: {
      wireVersion: '1',
      framing: 'ndjson',
      front: { capabilities: frontCapabilities, env: [], open: (_context, ports) => new NativeFront(ports) },
      back: {
        capabilities: backCapabilities,
        memory: () => 'bound',
        open: (context, ports) => new NativeBack(context, ports),
      },
    },
    http: {
      wireVersion: '1',
      framing: 'body',
      front: {
        capabilities: httpCapabilities,
        env: [],
        namesAgents: true,
        open: (context, ports) => new HttpFront(context, ports),
      },
    },
    resource: {
      wireVersion: '1',
      framing: 'body',
      front: {
        capabilities: resourceCapabilities,
        env: [],
        open: (context, ports) => new ResourceFront(context, ports),
      },
    },
  },
  // The codes are the model's own.
  errors: errorTable(),
  endpoints: [
    ...RESOURCE_ENDPOINTS.map((endpoint) => endpointOf(endpoint)),
    { method: 'POST', path: '/v1/turns', input: 'body', dialect: 'http' },
  ],
  options: ownOptions(Options),
}

/** An endpoint of what there is, from its method and path. */
function endpointOf(endpoint: string): Endpoint {
  const [method, path] = endpoint.split(' ') as [string, string]
  return { method, path, input: 'body', dialect: 'resource' }
}
