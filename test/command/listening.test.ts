import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runTurnpike } from '../kit/clients.ts'
import { TURNPIKE } from '../kit/gateway.ts'

/** It tells whose environment it has. */
const ECHO = `{ protocol: agentproc, command: /bin/sh, args: [-c, 'echo "runs in $WHO"'], inherit: [WHO] }`
const REST = `default: echo\nagents: { echo: ${ECHO} }\nlog: { level: info, pretty: false }\nstore: { path: ./t.db }\n`
const KEYS = 'keys: [{ name: a, env: A_KEY }]'

describe('a gateway that listens on all addresses, and on a socket of its own', () => {
  let folder: string
  let file: string
  let gateway: ReturnType<typeof spawn>
  let port: string
  let log = ''
  let greeted = ''
  const runtime = (): string => join(folder, 'runtime/turnpike')
  const logged = async (text: string): Promise<void> => {
    while (!log.includes(text)) await new Promise((resolve) => gateway.stderr!.once('data', resolve))
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'turnpike-listening-'))
    file = join(folder, 'turnpike.yaml')
    writeFileSync(file, `server: { host: 0.0.0.0, port: 0, socket: ./own.sock, ${KEYS} }\n${REST}`)
    gateway = spawn(process.execPath, [TURNPIKE, 'serve', '--config', file], {
      env: { ...process.env, A_KEY: 'sesame', WHO: 'the gateway', XDG_RUNTIME_DIR: join(folder, 'runtime') },
    })
    gateway.stderr!.setEncoding('utf8').on('data', (text: string) => {
      log += text
    })
    const first = await new Promise<string>((resolve) => gateway.stdout!.once('data', (data) => resolve(String(data))))
    port = /http:\/\/0\.0\.0\.0:(\d+)/.exec(first)![1]!
    greeted = first
  })
  test('says by which addresses and commands this machine reaches it, wherever its configuration is', () => {
    expect(greeted).toContain(`console             http://127.0.0.1:${port}/console/`)
    expect(greeted).toContain(`curl -s http://127.0.0.1:${port}/v1/chat/completions -H 'authorization: Bearer KEY'`)
    expect(greeted).toContain(`command: turnpike as acp --config ${file}\n`)
    expect(greeted).toContain(`  turnpike tail --config ${file}\n`)
  })

  afterAll(() => {
    gateway.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  test('is found by stand-ins', async () => {
    const args = ['as', 'zene', '--config', file, 'host', '--protocol', 'v1', '--bridge-compat', '--single-request']
    const env = { A_KEY: 'sesame', WHO: 'the stand-in', XDG_RUNTIME_DIR: join(folder, 'runtime') }
    const ran = await runTurnpike(args, '{"request_id":"r1","session_id":"s1","prompt":"hi"}\n', env)
    expect(JSON.parse(ran.stdout)).toMatchObject({ ok: true, text: 'runs in the gateway' })
  })

  test('takes no configuration without keys', async () => {
    writeFileSync(file, `server: { host: 127.0.0.1, port: 0, socket: ./own.sock }\n${REST}`)
    gateway.kill('SIGHUP')
    await logged('the configuration was not reloaded')
    expect(log).toContain('0.0.0.0 is reachable from other machines, but there are no keys')
    expect((await fetch(`http://127.0.0.1:${port}/v1/agents`)).status).toBe(401)
  })

  test('leaves no name behind', async () => {
    const ended = new Promise((resolve) => gateway.once('exit', resolve))
    gateway.kill('SIGINT')
    await ended
    expect(readdirSync(runtime())).toEqual([])
    expect(readdirSync(folder)).not.toContain('own.sock')
  })
})
