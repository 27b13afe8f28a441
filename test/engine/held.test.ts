import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Hooks, silentHooks } from '../../src/contract/index.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway } from '../kit/gateway.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** What belongs to each turn, held by nobody here. */
const turns: WeakRef<object>[] = []
const hooks: Hooks = {
  ...silentHooks,
  request(info) {
    const request = silentHooks.request(info)
    return {
      ...request,
      turn(about) {
        const turn = { ...request.turn(about) }
        turns.push(new WeakRef(turn))
        return turn
      },
    }
  },
}

let far: TestGateway
let near: TestGateway

beforeAll(async () => {
  far = await startGateway(`default: helper\nagents:${EXAMPLE_AGENTS}`)
  const engine = `  engine: { protocol: openharness, url: "${far.url}/v1/openharness" }\n`
  near = await startGateway(`default: helper\nagents:${EXAMPLE_AGENTS}${engine}`, { hooks })
})
afterAll(async () => {
  await near.close()
  await far.close()
})

async function ask(agent: string, session: string): Promise<string> {
  const context = { session_id: session, user_intent: 'hi' }
  const body = JSON.stringify({ protocol_version: '1.0.0', request_id: session, request: { context } })
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${near.url}/v1/openharness/${agent}`, { method: 'POST', headers, body })
  return answer.text()
}

test.each(['engine', 'coder', 'helper'])('sessions of %s hold nothing of the turns that they had', async (agent) => {
  const before = turns.length
  for (const session of ['a', 'b', 'a']) expect(await ask(agent, `${agent}-${session}`)).toContain('"success"')
  const mine = turns.slice(before)
  expect(mine).toHaveLength(3)
  // What the last answer leaves to do takes a few steps more.
  for (let step = 0; step < 200 && mine.some((turn) => turn.deref()); step += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10))
    collect()
  }
  expect(mine.filter((turn) => turn.deref())).toEqual([])
})
