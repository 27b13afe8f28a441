import * as v from 'valibot'
import { argumentOf, type Codec } from '../../src/contract/index.ts'
import { AppServerBack } from './app-server/index.ts'
import { appServerCapabilities, execCapabilities } from './capabilities.ts'
import { errors } from './errors.ts'
import { ExecBack } from './exec/index.ts'

/**
 * Codex as released: its app-server, and `codex exec`. Agents are configured by their arguments and their own files.
 */
export const codec: Codec = {
  name: 'codex',
  dialects: {
    'app-server': {
      wireVersion: '2',
      framing: 'ndjson',
      back: {
        capabilities: appServerCapabilities,
        memory: () => 'bound',
        copiesSessions: true,
        configuredModel: (context) => argumentOf(context, '--model', '-m'),
        open: (context, ports) => new AppServerBack(context, ports),
      },
    },
    exec: {
      wireVersion: '1',
      // A prompt keeps its line breaks.
      framing: 'text',
      back: {
        capabilities: execCapabilities,
        memory: () => 'bound',
        configuredModel: (context) => argumentOf(context, '--model', '-m'),
        open: (context, ports) => new ExecBack(context, ports),
      },
    },
  },
  errors,
  endpoints: [],
  options: { schema: v.strictObject({}), keys: [] },
}
