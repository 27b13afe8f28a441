import * as v from 'valibot'
import { argumentOf, type Codec } from '../../src/contract/index.ts'
import { ClaudeCodeBack } from './back/index.ts'
import { pinsSession } from './back/process.ts'
import { backCapabilities } from './capabilities.ts'
import { errors } from './errors.ts'

/**
 * Claude Code as released: `claude -p` with JSON lines both ways. Its agents are configured by their arguments alone.
 */
export const codec: Codec = {
  name: 'claude-code',
  dialects: {
    'stream-json': {
      wireVersion: '2.1',
      framing: 'ndjson',
      back: {
        capabilities: backCapabilities,
        // A session that its arguments name is that of every process.
        memory: ({ process }) => (pinsSession(process?.args) ? 'named' : 'resumed'),
        copiesSessions: true,
        configuredModel: (context) => argumentOf(context, '--model'),
        open: (context, ports) => new ClaudeCodeBack(context, ports),
      },
    },
  },
  errors,
  endpoints: [],
  options: { schema: v.strictObject({}), keys: [] },
}
