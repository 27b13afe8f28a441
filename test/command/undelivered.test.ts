import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TURNPIKE } from '../kit/gateway.ts'

const DIARY = join(import.meta.dirname, '../kit/agents/diary.sh')

/** A client that goes away before it has read its answer, and asks again under the same key. */
describe('an answer that nobody read', () => {
  let folder: string
  let config: string
  let gateway: ChildProcess

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-unread-'))
    config = join(folder, 'turnpike.yaml')
    writeFileSync(
      config,
      `server: { port: 0 }
default: diary
agents: { diary: { protocol: agentproc, command: ${DIARY}, args: [], env: { DIARY: ${folder}/diary } } }
store: { kind: sqlite, path: ./turnpike.db }
`,
    )
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  /** One keyed request; with `reads` false nobody ever reads standard output. */
  const ask = (
    session: string,
    id: string,
    reads: boolean,
  ): Promise<{ stdout: string; stderr: string; code: number | null }> => {
    const child = spawn(process.execPath, [TURNPIKE, 'as', 'zene', '--config', config])
    let stdout = ''
    let stderr = ''
    child.stderr.on('data', (bytes: Buffer) => {
      stderr += String(bytes)
    })
    child.stdout.on('data', (bytes: Buffer) => {
      stdout += String(bytes)
    })
    if (!reads) child.stdout.destroy()
    const request = { request_id: id, session_id: session, prompt: session, idempotency_key: 'k' }
    child.stdin.end(`${JSON.stringify(request)}\n`)
    return new Promise((resolve) => child.on('close', (code) => resolve({ stdout, stderr, code })))
  }
  const runs = (session: string): number =>
    readFileSync(join(folder, 'diary'), 'utf8')
      .split('\n')
      .filter((line) => line === `begin ${session}`).length

  const isAnsweredFromTheRecord = async (session: string): Promise<void> => {
    expect(await ask(session, 'r1', false)).toMatchObject({ code: 4, stderr: '' })
    const again = await ask(session, 'r2', true)
    expect(JSON.parse(again.stdout)).toMatchObject({ ok: true, request_id: 'r2', text: `done: ${session}` })
    expect(again.code).toBe(0)
    expect(runs(session)).toBe(1)
    // It was read now: the next one under the key is a new wish.
    expect((await ask(session, 'r3', true)).code).toBe(0)
    expect(runs(session)).toBe(2)
  }

  test('alone: is given from the record, and the agent runs once', () => isAnsweredFromTheRecord('alone'))

  describe('of a running gateway', () => {
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

    test('is given from the record, and the agent runs once', () => isAnsweredFromTheRecord('thin'))
  })
})
