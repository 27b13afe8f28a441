import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLIENTS, runTurnpike } from '../kit/clients.ts'
import { TURNPIKE } from '../kit/gateway.ts'

const AGENT = join(import.meta.dirname, '../kit/agents/careful.mjs')
const careful = `{ protocol: agentproc@0.4, command: ${process.execPath}, args: [${AGENT}], permission: true }`

describe('an agent that asks for approval', () => {
  let folder: string
  let config: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-approvals-'))
    config = join(folder, 'turnpike.yaml')
    writeFileSync(
      config,
      `default: careful
agents: { careful: ${careful}, trusted: ${careful} }
routes: [{ when: { channel: trusted }, agent: trusted, approvals: allow }]
store: { kind: sqlite, path: ./turnpike.db }
`,
    )
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test.each([
    ['deny', 'nobody'],
    ['allow', 'trusted'],
  ])('gets %s from the policy of the route when the client cannot be asked', async (told, channel) => {
    const request = { request_id: 'r1', session_id: 's1', channel_id: channel, prompt: 'hi' }
    const ran = await runTurnpike(['as', 'zene', '--config', config], `${JSON.stringify(request)}\n`)
    expect(JSON.parse(ran.stdout)).toMatchObject({ ok: true, text: `told: ${told}` })
  })

  test('is told over HTTP as well, where its protocol cannot be answered', async () => {
    const ran = await runTurnpike(
      ['as', 'openharness', '--config', config],
      CLIENTS.openharness.write({ text: 'hi', session: 's' }),
    )
    expect(CLIENTS.openharness.read(ran.stdout, { text: 'hi', session: 's' }).text).toContain('told: deny')
  })

  test.each(['allow', 'deny'])('gets the client’s own %s when it can be asked', async (behavior) => {
    const child = spawn(process.execPath, [TURNPIKE, 'as', 'agentproc', '--config', config], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    const turn = {
      type: 'turn',
      message: 'hi',
      session_id: '',
      session_name: 'd',
      protocol_version: '0.4',
      permission: true,
    }
    child.stdin.write(`${JSON.stringify(turn)}\n`)
    const events: Record<string, unknown>[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      const event = JSON.parse(line) as Record<string, unknown>
      events.push(event)
      if (event['type'] !== 'permission_request') continue
      expect(event).toMatchObject({ tool_name: 'rm', input: { path: '/tmp/x' } })
      child.stdin.end(`${JSON.stringify({ type: 'permission_response', request_id: event['request_id'], behavior })}\n`)
    }
    expect(events.map(({ type }) => type)).toEqual(['permission_request', 'result'])
    expect(events[1]).toMatchObject({ text: `told: ${behavior}` })
  })
})
