import { expect } from 'vitest'
import { MODELS } from '../kit/models/index.ts'
import { type Case, describeClients } from './client-cases.ts'
import { describeWith } from './kit.ts'
import { CLIENTS, FILES } from './openai-clients.ts'

/** The policy of its route answers what a client of Chat Completions cannot be asked. */
const policy =
  (agent: string, told: string): Case =>
  async ({ client, stream }) => {
    const shown = await client.ask({ model: agent, prompt: 'Delete it.', stream })
    expect(shown).toMatchObject({ text: `told: ${told}`, finish: 'stop' })
  }

describeWith('clients of OpenAI’s Chat Completions', FILES, () => {
  describeClients(
    {
      clients: CLIENTS,
      ends: () => ({ whole: 'stop', calls: 'tool_calls' }),
      callId: /^call_/,
      exact: true,
      more: {
        'leaves the questions of an agent to the policy of its route: deny': policy('careful', 'deny'),
        'leaves the questions of an agent to the policy of its route: allow': policy('allowed', 'allow'),
      },
    },
    MODELS['chat']!,
  )
})
