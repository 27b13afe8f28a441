import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { CallEnd } from '../contract/index.ts'
import { type Fault, fault } from '../model/index.ts'
import { type HttpPlayer, playHttp } from './http-player.ts'
import type { ClientRun, Heard, Suite, Visit } from './kit/index.ts'
import { OUTPUT_LIMIT } from './lines.ts'
import type { Opening } from './player.ts'

/** The parameters of a client's run. */
export interface ClientStart {
  /** The name of the agent program that clients of this protocol look up on their PATH. */
  readonly program?: string
  readonly command: readonly [string, ...string[]]
  readonly cwd: string
  /** The command of the stand-in: a program and its first arguments; the folder for its record and `--` are added. */
  readonly standIn: readonly string[]
  /** The time limit of the client, in milliseconds. */
  readonly timeoutMs: number
  readonly hostEnv: Readonly<Record<string, string | undefined>>
}

/** The observed behaviour of a client under test, and its standard output. */
export interface ClientSeen {
  readonly run: ClientRun
  readonly output: string
}

/**
 * A script that runs the client and ends a moment after it, so that remaining stand-ins notice its end. Its first
 * argument is the client's command.
 */
const WRAPPER = '"$@"\ncode=$?\nsleep 0.3\nexit $code'
/** The exit codes of a shell for a command that cannot be run or does not exist. */
const NOT_RUN: readonly (number | undefined)[] = [126, 127]

/** Runs a client once, with a stand-in that plays the agent. Returns a fault when it could not be run. */
export async function runClient(start: ClientStart, suite: Suite): Promise<ClientSeen | Fault> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-client-'))
  const http = suite.http ? await playHttp(suite) : undefined
  try {
    const path = standInPath(folder, start)
    const { end, output } = await callClient(start, folder, path, http)
    const visits = [...readVisits(join(folder, 'record')), ...(http?.visits ?? [])]
    if (end.why === 'failed') return end.fault ?? NO_CLIENT
    if (NOT_RUN.includes(end.exitCode) && visits.length === 0) return NO_CLIENT
    const run: ClientRun = {
      visits,
      end: end.why === 'timeout' ? 'hung' : 'exited',
      ...(end.exitCode !== undefined && { exitCode: end.exitCode }),
    }
    return { run, output }
  } finally {
    await http?.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const NO_CLIENT = fault('agent-unavailable', 'The command was not found or cannot be executed; check its path.')

/** Writes the stand-in's program and the link by which clients find it; returns the program's path. */
function standInPath(folder: string, { standIn, program }: ClientStart): string {
  mkdirSync(join(folder, 'bin'))
  mkdirSync(join(folder, 'record'))
  const path = join(folder, 'stand-in')
  const words = [...standIn, join(folder, 'record'), '--'].map((word) => `'${word.replaceAll("'", "'\\''")}'`)
  writeFileSync(path, `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`)
  chmodSync(path, 0o755)
  if (program !== undefined) symlinkSync(path, join(folder, 'bin', program))
  return path
}

async function callClient(
  start: ClientStart,
  folder: string,
  path: string,
  http: HttpPlayer | undefined,
): Promise<{ end: CallEnd; output: string }> {
  const { processBackend } = await import('../backends/index.ts')
  const { hostEnv, cwd, timeoutMs } = start
  let output = ''
  const url = http?.url
  const backend = processBackend({
    command: '/bin/sh',
    args: ['-c', WRAPPER, 'sh', ...start.command.map((word) => fill(word, path, url))],
    cwd,
    env: {
      PATH: join(folder, 'bin') + delimiter + (hostEnv['PATH'] ?? ''),
      TURNPIKE_COMMAND: path,
      ...(url !== undefined && { TURNPIKE_ENDPOINT: url }),
    },
    inherit: Object.keys(hostEnv),
    hostEnv,
  })
  return new Promise((resolve) => {
    const handle = backend.open(
      { kind: 'process', stdin: 'end' },
      {
        data: (text) => {
          if (output.length < OUTPUT_LIMIT) output += text
        },
        end: (end) => {
          clearTimeout(timer)
          resolve({ end, output })
        },
      },
      {},
    )
    const timer = setTimeout(() => handle.stop('timeout', 0), timeoutMs)
  })
}

/** Replaces `{command}` and `{url}` in an argument by the stand-in's path and URL. */
function fill(word: string, path: string, url: string | undefined): string {
  return word.replaceAll('{command}', path).replaceAll('{url}', url ?? '{url}')
}

/** The records of the stand-in's processes, in the order of their starts. */
function readVisits(folder: string): Visit[] {
  return readdirSync(folder)
    .sort()
    .map((name) => {
      const lines = readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1)
      const { argv, env } = JSON.parse(lines[0] ?? '{"argv":[],"env":{}}') as Opening
      return { transport: 'stdio', argv, env, heard: lines.slice(1).map((line) => JSON.parse(line) as Heard) }
    })
}
