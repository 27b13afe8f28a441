import { argumentOf, type Dialect } from '../../src/contract/index.ts'
import { QwenBack } from './back/index.ts'
import { backCapabilities, frontCapabilities } from './capabilities.ts'
import { accepts } from './front/args.ts'
import { QwenFront } from './front/index.ts'
import type { Options } from './options.ts'
import { PROTOCOL_VERSION } from './wire.ts'

/** The RFC's dialect: OpenAI-like completions, Qwen Chat Requests and a control channel. */
export const dialect: Dialect<Options> = {
  wireVersion: PROTOCOL_VERSION,
  framing: 'ndjson',
  front: {
    capabilities: frontCapabilities,
    env: [],
    accepts,
    open: (context, ports) => new QwenFront(context, ports),
  },
  back: {
    capabilities: backCapabilities,
    // The RFC does not say that a session outlives its process.
    memory: () => 'process',
    configuredModel: (context) => argumentOf(context, '--model', '-m'),
    open: (context, ports) => new QwenBack(context, ports),
  },
}
