import { expect, test } from 'vitest'
import { loadCodecs } from '../../codecs/index.ts'
import type { BackContext } from '../../src/contract/index.ts'
import { optionsOf } from '../kit/mirror.ts'

/** How agents of each dialect keep a conversation: without arguments, and with arguments that name a session. */
const MEMORY: Readonly<Record<string, readonly [plain: string, pinned: string]>> = {
  'native@lines': ['bound', 'bound'],
  'zene@host': ['named', 'named'],
  'zot@rpc': ['process', 'process'],
  'openharness@v1': ['named', 'named'],
  'agentproc@0.1': ['bound', 'bound'],
  'agentproc@0.3': ['bound', 'bound'],
  'agentproc@0.4': ['bound', 'bound'],
  'qwen@rfc': ['process', 'process'],
  // A session that the arguments name is that of every process.
  'qwen@code': ['resumed', 'named'],
  'qwen-code@code': ['resumed', 'named'],
  'claude-code@stream-json': ['resumed', 'named'],
  'codex@app-server': ['bound', 'bound'],
  'codex@exec': ['bound', 'bound'],
  'openai@chat': ['request', 'request'],
  'openai@responses': ['request', 'request'],
  'anthropic@messages': ['request', 'request'],
  'acp@v1': ['bound', 'bound'],
}

test('every dialect says how its agents keep a conversation', async () => {
  const found: Record<string, readonly string[]> = {}
  for (const [name, codec] of Object.entries(await loadCodecs())) {
    for (const [dialect, { back }] of Object.entries(codec.dialects)) {
      if (!back) continue
      const context: BackContext<unknown> = { options: optionsOf(codec), agent: 'a', env: {}, folder: '/' }
      const process = { command: 'agent', env: {}, cwd: '/', args: ['--session-id', 'x'] }
      found[`${name}@${dialect}`] = [back.memory(context), back.memory({ ...context, process })]
    }
  }
  expect(found).toEqual(MEMORY)
})
