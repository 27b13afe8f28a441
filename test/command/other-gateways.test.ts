import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runTurnpike } from '../kit/clients.ts'
import { TURNPIKE } from '../kit/gateway.ts'

let folder: string
const running: ChildProcess[] = []

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-others-'))
})
afterAll(() => {
  for (const child of running) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** A configuration with the one store. */
function fileOf(name: string, port: number | string = 0, socket = false): string {
  const file = join(folder, name)
  const log = 'log: { level: warn, pretty: false }'
  writeFileSync(
    file,
    `server: { port: ${port}${socket ? '' : ', socket: false'} }\nstore: { path: ./t.db }\n${log}\nagents: {}\n`,
  )
  return file
}

/** A gateway, and what it has logged. */
interface Served {
  url: string
  log(): string
  child: ChildProcess
}

/** Starts a gateway with this configuration. */
async function serve(file: string, ...args: string[]): Promise<Served> {
  const child = spawn(process.execPath, [TURNPIKE, 'serve', '--config', file, ...args])
  running.push(child)
  let log = ''
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    log += text
  })
  const [first] = await once(child.stdout!, 'data')
  return { url: /http:\S+:\d+/.exec(String(first))![0], log: () => log, child }
}

test('a gateway on another port than that of its file is no other one', async () => {
  const file = fileOf('own.yaml', 8484, true)
  const { child } = await serve(file, '--port', '0')
  expect((await runTurnpike(['check', '--config', file], '')).stderr).toBe('')
  child.kill('SIGINT')
  await once(child, 'exit')
})

test('a second gateway on the file of a store says so, and turnpike check does', async () => {
  const check = async (file: string): Promise<string> => (await runTurnpike(['check', '--config', file], '')).stderr
  const third = fileOf('third.yaml')
  expect(await check(third)).toBe('')
  const first = await serve(fileOf('first.yaml'))
  const told = `the gateway ${first.url} (${hostname()}) has the store ${folder}/t.db as well: each session runs in one`
  const second = await serve(fileOf('second.yaml'))
  while (!second.log().includes(told)) await once(second.child.stderr!, 'data')
  expect(second.log()).toContain('the limits of keys hold for both together, pool.max for each of them')
  expect(first.log()).toBe('')
  expect(await check(third)).toMatch(/^warning: the gateway .*\nwarning: the gateway .*\n$/)
  // Its own gateway is no other one.
  second.child.kill('SIGINT')
  await once(second.child, 'exit')
  expect(await check(fileOf('same.yaml', new URL(first.url).port))).toBe('')
  expect(await check(third)).toContain(`warning: ${told}`)
})
