import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askHttp, type ClientName, clientNames } from '../kit/clients.ts'
import { TURNPIKE } from '../kit/gateway.ts'
import { until } from '../kit/processes.ts'
import { ANSWER, agentLine, agentName, allTurns, ownProcesses, type Program, programs, turnsOf } from './kit.ts'

const TURNS = 100
/** How many of the turns are given the word to finish, and how many answers are waited for before the kill. */
const FINISHING = 40
const ANSWERED = 20

interface Asked {
  session: string
  front: ClientName
  back: Program
}

const ASKED: readonly Asked[] = Array.from({ length: TURNS }, (_, at) => ({
  session: `crash-${at}`,
  front: clientNames[at % clientNames.length]!,
  back: programs[Math.floor(at / clientNames.length) % programs.length]!,
}))

describe('a gateway that is killed', { timeout: 600_000 }, () => {
  let folder: string
  let store: string
  let gateway: ChildProcess
  let url: string | undefined

  async function serve(): Promise<void> {
    const args = [TURNPIKE, 'serve', '--config', join(folder, 'turnpike.yaml')]
    // The next one on the same address takes over at once.
    if (url !== undefined) args.push('--port', new URL(url).port)
    gateway = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    const out = gateway.stdout!.setEncoding('utf8')
    const first = await new Promise<string>((resolve) => out.once('data', resolve))
    out.resume()
    url = /http:\/\/[\d.:]+/.exec(first)![0]
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-crash-'))
    store = join(folder, 'turnpike.db')
    const more = `env: { HOSTILE_SIGNS: ${folder} },`
    const agents = programs.map((program) => agentLine(program, 'waits-for-a-word', more))
    writeFileSync(
      join(folder, 'turnpike.yaml'),
      `server: { port: 0, socket: false }
default: zot.waits-for-a-word
limits: { start: 120s, firstEvent: 120s, idle: 120s, total: 300s, grace: 200ms }
agents:
${agents.join('')}store: { kind: sqlite, path: ${store} }
`,
    )
    writeFileSync(join(folder, 'reached'), '')
    await serve()
  }, 120_000)
  afterAll(async () => {
    const ended = new Promise((resolve) => gateway.once('exit', resolve))
    gateway.kill('SIGTERM')
    await ended
    rmSync(folder, { recursive: true, force: true })
  })

  const ask = ({ session, front, back }: Asked, text: string): ReturnType<typeof askHttp> =>
    askHttp(url!, front, { text, session, agent: agentName(back, 'waits-for-a-word'), id: text })

  test('loses no turn, keeps every answer that was given, and leaves no agent', async () => {
    const answered = new Set<Asked>()
    const exchanges = ASKED.map(async (asked) => {
      const shown = await ask(asked, asked.session)
      if (shown.ok) answered.add(asked)
    })
    const settled = Promise.allSettled(exchanges)
    await until(() => readFileSync(join(folder, 'reached'), 'utf8').trim().split('\n').length === TURNS)
    for (const { session } of ASKED.slice(0, FINISHING)) writeFileSync(join(folder, session), '')
    await until(() => answered.size >= ANSWERED)
    const killed = new Promise((resolve) => gateway.once('exit', resolve))
    gateway.kill('SIGKILL')
    await killed
    await settled
    await until(() => ownProcesses().length === 0)

    await serve()
    await until(() => allTurns(store).every(({ outcome }) => outcome !== null))
    const turns = allTurns(store)
    expect(turns).toHaveLength(TURNS)
    expect(turns.filter(({ ends, endsLast }) => ends !== 1 || !endsLast)).toEqual([])
    for (const asked of answered) {
      expect(turnsOf(store, asked.session)).toMatchObject([{ outcome: 'completed', code: null }])
    }
    // Nothing but what had its word can have been finished.
    for (const { session } of ASKED.slice(FINISHING)) {
      expect(turnsOf(store, session)).toMatchObject([{ outcome: 'failed', code: 'internal' }])
    }
  })

  test.each(ASKED.filter((_, at) => at % 7 === 0))(
    'takes the next turn of a session after its restart: $session, $front → $back',
    async (asked) => {
      expect(await ask(asked, `behave ${asked.session}`)).toMatchObject({ ok: true, text: ANSWER })
    },
  )
})
