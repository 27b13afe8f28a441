import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askStdio, runTurnpike, stdioClientNames } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway, TURNPIKE } from '../kit/gateway.ts'

const ANSWERS: Record<string, (text: string, turn: number, session: string) => string> = {
  helper: (text, turn) => `Turn ${turn} of this session. You said:\n> ${text}`,
  coder: (text, turn) => `You said: ${text} (turn ${turn} of this session)`,
  writer: (text, turn) => `You said: ${text} (turn ${turn} of this session)`,
  planner: (text, _turn, session) => `You said: ${text} (session ${session})`,
  engine: (text, turn) => `Turn ${turn} of this session. You said:\n> ${text}`,
}

describe('stand-ins on stdio', () => {
  let far: TestGateway
  let folder: string
  let config: string

  beforeAll(async () => {
    far = await startGateway(`default: helper\nagents:${EXAMPLE_AGENTS}`)
    folder = mkdtempSync(join(tmpdir(), 'turnpike-as-'))
    config = join(folder, 'turnpike.yaml')
    const engine = `  engine: { protocol: openharness, url: "${far.url}/v1/openharness" }\n`
    const store = `store: { kind: sqlite, path: ./turnpike.db }\n`
    writeFileSync(config, `server: { port: 0 }\ndefault: helper\nagents:${EXAMPLE_AGENTS}${engine}${store}`)
  })
  afterAll(async () => {
    await far.close()
    rmSync(folder, { recursive: true, force: true })
  })

  const opened = (front: string, agent: string, kind: string): string =>
    front.startsWith('agentproc') || front === 'openharness' || front === 'acp' ? '' : `s-${kind}-${front}-${agent}`

  for (const front of stdioClientNames) {
    test.each(Object.keys(ANSWERS))(`alone: ${front} → %s`, async (agent) => {
      const session = opened(front, agent, 'alone')
      const shown = await askStdio(config, front, { text: 'hello there', session, agent, id: '1' })
      expect(shown).toMatchObject({ ok: true, status: 0, stderr: '' })
      // A stand-in that is not told a session makes one and cannot show it in zot's wire.
      if (front !== 'zot') expect(shown.text).toBe(ANSWERS[agent]!('hello there', 1, shown.session))
      else expect(shown.text).toContain('hello there')
    })
  }

  describe('of a running gateway', () => {
    let gateway: ReturnType<typeof spawn>

    beforeAll(async () => {
      gateway = spawn(process.execPath, [TURNPIKE, 'serve', '--config', config], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await new Promise((resolve) => gateway.stdout!.once('data', resolve))
    })
    afterAll(async () => {
      const ended = new Promise((resolve) => gateway.once('exit', resolve))
      gateway.kill('SIGTERM')
      await ended
    })

    for (const front of stdioClientNames) {
      test.each(Object.keys(ANSWERS))(`${front} → %s: a turn, and the next one of its session`, async (agent) => {
        const session = opened(front, agent, 'thin')
        const first = await askStdio(config, front, { text: 'hello there', session, agent, id: '1' })
        expect(first).toMatchObject({ ok: true, status: 0, stderr: '' })
        expect(first.text).toBe(ANSWERS[agent]!('hello there', 1, first.session))
        const second = await askStdio(config, front, { text: 'again', session: first.session, agent, id: '2' })
        expect(second).toMatchObject({ ok: true, status: 0, stderr: '', session: first.session })
        expect(second.text).toBe(ANSWERS[agent]!('again', 2, first.session))
      })
    }
  })

  test('an unknown protocol and an unreachable gateway are told on stderr', async () => {
    expect(await runTurnpike(['as', 'nothing'], '')).toMatchObject({ stdout: '', code: 2 })
    const away = await runTurnpike(['as', 'zene'], '', { TURNPIKE_URL: 'unix:/nowhere.sock' })
    expect(JSON.parse(away.stdout)).toMatchObject({ ok: false, error_code: 'INVALID_REQUEST' })
    expect(away).toMatchObject({
      stderr: 'turnpike: no gateway answers at TURNPIKE_URL; start it, or unset the variable\n',
      code: 3,
    })
  })
})
