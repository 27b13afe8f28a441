import { argumentOf, type Codec, type Dialect } from '../../src/contract/index.ts'
import { dialect as code, errors } from '../qwen-code/index.ts'
import { QwenBack } from './back/index.ts'
import { backCapabilities, frontCapabilities } from './capabilities.ts'
import { accepts } from './front/args.ts'
import { QwenFront } from './front/index.ts'
import { type Options, options } from './options.ts'
import { PROTOCOL_VERSION } from './wire.ts'

/** The RFC's dialect: OpenAI-like completions, Qwen Chat Requests and a control channel. */
const rfc: Dialect<Options> = {
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

/**
 * Structured input and output of Qwen Code as its RFC has it (`rfc`). A client that names the program may also speak the
 * wire that the CLI ships with (`code`); an agent is configured by the codec of its dialect.
 */
export const codec: Codec<Options> = {
  name: 'qwen',
  dialects: { rfc, code },
  errors,
  endpoints: [{ method: 'POST', path: '/v1/qwen', input: 'ndjson' }],
  options,
}
