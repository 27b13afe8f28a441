import * as v from 'valibot'
import { profile } from '../../codecs/agentproc/profile.ts'
import { type CodecInfos, type Config, ConfigError, type ConfigProblem } from '../../src/config/index.ts'
import { parseConfig } from '../../src/config/load.ts'

const codec = (dialects: readonly string[], entries: v.ObjectEntries = {}): CodecInfos[string] => ({
  dialects,
  options: { schema: v.strictObject(entries), keys: Object.keys(entries) },
})

/** Codecs with the shapes that a configuration may meet. */
export const CODECS: CodecInfos = {
  agentproc: {
    ...codec(['0.1', '0.4'], {
      stdin: v.optional(v.picklist(['none', 'message']), 'none'),
      timeout_secs: v.optional(v.number()),
      kill_grace_secs: v.optional(v.number()),
      streaming: v.optional(v.boolean()),
      expand: v.optional(v.boolean()),
      env_allowlist: v.optional(v.array(v.string())),
    }),
    silent: true,
    multiplexed: ['0.1'],
    profile,
  },
  zot: codec(['rpc'], { token: v.optional(v.strictObject({ env: v.string() })), retries: v.optional(v.number()) }),
  qwen: { ...codec(['rfc', 'qwen-code']), servers: false },
  openharness: { ...codec(['v1']), servers: true },
}

/** The configuration of a text, in the folder `/etc/turnpike`. */
export function parse(text: string, env: Record<string, string> = {}, folder = '/etc/turnpike'): Config {
  return parseConfig(text, { file: 'turnpike.yaml', folder, env, codecs: CODECS })
}

/** The problems of a text that must be refused. */
export function problemsOf(load: () => unknown): readonly ConfigProblem[] {
  try {
    load()
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  throw new Error('The configuration was taken.')
}

/** The lines of the message of a text that must be refused. */
export function linesOf(text: string, env: Record<string, string> = {}): string[] {
  try {
    parse(text, env)
  } catch (error) {
    if (error instanceof ConfigError) return error.message.split('\n')
    throw error
  }
  throw new Error('The configuration was taken.')
}
