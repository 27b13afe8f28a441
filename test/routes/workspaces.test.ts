import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../kit/gateway.ts'

/** Agents that say where they run: a process a turn, and one that lives as long as its session. */
const KEPT = `
const say = (event) => console.log(JSON.stringify(event))
say({ type: 'agent-ready', turn: null })
require('node:readline').createInterface(process.stdin).on('line', (line) => {
  const { type, turn } = JSON.parse(line)
  if (type !== 'turn-start') return
  say({ type: 'message-start', turn, message: 'm', role: 'assistant' })
  say({ type: 'message-end', turn, message: 'm', parts: [{ type: 'text', text: process.cwd() }] })
  say({ type: 'turn-end', turn, outcome: 'completed' })
})`

describe('an agent with workspaces', () => {
  let gateway: TestGateway
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'turnpike-workspaces-')))
  const [home, project, outside] = ['home', 'projects/one', 'elsewhere'].map((name) => join(root, name))

  beforeAll(async () => {
    for (const folder of [home!, project!, outside!]) mkdirSync(folder, { recursive: true })
    symlinkSync(outside!, join(root, 'projects/link'))
    const kept = JSON.stringify(['-e', KEPT])
    gateway = await startGateway(`default: once
agents:
  once: { protocol: agentproc, command: pwd, args: [], cwd: ${home}, workspaces: [${root}/projects] }
  kept: { protocol: native, command: ${process.execPath}, args: ${kept}, cwd: ${home}, workspaces: [${root}/projects], pool: { warm: 1 } }
  fixed: { protocol: agentproc, command: pwd, args: [], cwd: ${home} }
`)
  })
  afterAll(async () => {
    await gateway.close()
    rmSync(root, { recursive: true, force: true })
  })

  interface Answer {
    text: string
    fault?: { code: string }
    losses?: { item: string }[]
  }
  async function where(agent: string, session: string, cwd?: string): Promise<Answer> {
    const body = JSON.stringify({ input: 'Where?', session: { id: session }, ...(cwd && { cwd }) })
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(`${gateway.url}/v1/turns/${agent}`, { method: 'POST', headers, body })
    return (await response.json()) as Answer
  }

  test.each(['once', 'kept'])('runs where its client works: %s', async (agent) => {
    const first = await where(agent, 'a', project)
    expect([first.text, first.losses]).toEqual([project, undefined])
    expect((await where(agent, 'a')).text).toBe(project)
    expect((await where(agent, 'b')).text).toBe(home)
  })

  test('runs nowhere else, whatever links say', async () => {
    expect((await where('once', 'c', outside)).fault?.code).toBe('forbidden')
    expect((await where('once', 'd', join(root, 'projects/link'))).fault?.code).toBe('forbidden')
    expect((await where('once', 'e', join(project!, '../../elsewhere'))).fault?.code).toBe('forbidden')
  })

  test('is told apart from one without: that one stays where it is, which is a loss', async () => {
    const answer = await where('fixed', 'a', project)
    expect([answer.text, answer.losses]).toMatchObject([home, [{ item: 'start.cwd' }]])
  })
})
