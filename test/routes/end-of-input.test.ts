/**
 * The standard input of a client ends while its turn runs, or while a question of the agent is open: the turn goes on to
 * its end, which is told, and a question that nobody can answer any more is answered at once, not after its time limit.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { agentLine, agentName } from '../hostile/kit.ts'
import { StandInClient, standIns } from '../hostile/stand-in.ts'
import { startGateway, type TestGateway } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'

const ASKER = join(import.meta.dirname, '../kit/agents/asker.sh')

/** The fronts that can be asked, and what they say by themselves where their program does. */
const ASKED: Readonly<Record<string, { own?: 'Input closed' }>> = {
  native: {},
  qwen: {},
  // The program itself refuses what is open, whatever the policy.
  'qwen-code': { own: 'Input closed' },
  'agentproc@0.4': {},
}

describe('the end of standard input', { timeout: 30_000 }, () => {
  let gateway: TestGateway
  let folder: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-end-'))
    gateway = await startGateway(`
default: asker
limits: { grace: 300ms, ask: 10m, idle: 10m }
agents:
  asker: { protocol: native, command: ${ASKER}, args: [native, "${folder}"], pool: { max: 100 } }
${agentLine('zot', 'waits-for-a-word', `env: { HOSTILE_SIGNS: "${folder}" },`)}
routes:
  - { when: { session: "yes-*" }, agent: asker, approvals: allow }
`)
  })
  afterAll(async () => {
    await gateway.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const ask = (front: string, agent: string, name: string): StandInClient =>
    new StandInClient(gateway.url, front, agent, { text: name, session: name, asks: true })

  test.each(standIns)('%s: a turn that runs goes on, and its answer is written', async (front) => {
    const word = `word-${front.replace('@', '-')}`
    const client = ask(front, agentName('zot', 'waits-for-a-word'), word)
    await until(() => told('reached').includes(word))
    client.endInput()
    writeFileSync(join(folder, word), '')
    expect(await client.ended).toBe(0)
    if (front !== 'agentproc') expect(client.ending).toBe('completed')
    expect(client.read).toContain('three.')
  })

  const cells = Object.keys(ASKED).flatMap((front) =>
    (['yes', 'no'] as const).flatMap((policy) =>
      (['open', 'to come'] as const).map((when) => ({ front, policy, when })),
    ),
  )

  test.each(cells)(
    '$front: a question that is $when, where the policy says $policy',
    async ({ front, policy, when }) => {
      const name = `${policy}-${front.replace('@', '-')}-${when.replace(' ', '-')}`
      const client = ask(front, 'asker', name)
      if (when === 'open') await until(() => client.read.includes('"rm"'))
      client.endInput()
      expect(await client.ended).toBe(0)
      expect([client.ending, client.read.includes('told')]).toEqual(['completed', true])
      const { reply } = JSON.parse(told(name)[0]!) as { reply: object }
      const { own } = ASKED[front]!
      expect(reply).toEqual({
        kind: 'approval',
        option: own === undefined && policy === 'yes' ? 'once' : 'no',
        ...(own && { message: own }),
      })
    },
  )

  /** The lines of a file that an agent writes. */
  function told(name: string): string[] {
    try {
      return readFileSync(join(folder, name), 'utf8').trimEnd().split('\n')
    } catch {
      return []
    }
  }
})
