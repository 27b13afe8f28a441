/** Other gateways, installed from their registries into the folder of the run, and started on free ports. */
import { execFileSync } from 'node:child_process'
import { chmodSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Bench, Server } from '../bench.ts'
import { Program } from '../processes.ts'

/** Installs packages of fixed versions from npm; the folder of all of them. */
export function fromNpm(bench: Bench, ...specs: readonly string[]): string {
  const folder = join(bench.workshop.folder, 'peers', specs[0]!.replace(/\W+/g, '-'))
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--silent']
  execFileSync('npm', ['install', '--prefix', folder, ...options, ...specs], { stdio: ['ignore', 'ignore', 'pipe'] })
  return join(folder, 'node_modules')
}

/** Installs a package from PyPI into an environment of its own; the folder of its programs. */
export function fromPyPi(bench: Bench, spec: string): string {
  const folder = join(bench.workshop.folder, 'peers', 'python')
  execFileSync('python3', ['-m', 'venv', folder], { stdio: ['ignore', 'ignore', 'pipe'] })
  const install = ['install', '--quiet', '--disable-pip-version-check', spec]
  execFileSync(join(folder, 'bin/pip'), install, { stdio: ['ignore', 'ignore', 'pipe'] })
  return join(folder, 'bin')
}

/** Makes a file of a package a program. */
export function executable(file: string): string {
  chmodSync(file, 0o755)
  return file
}

/** Starts a server of a peer on the port, ended with the run; resolves when the path answers. */
export async function serve(
  bench: Bench,
  { port, path = '/' }: { port: number; path?: string },
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const running = new Program(command, args, env)
  bench.onClose(() => running.stop())
  await until(`http://127.0.0.1:${port}${path}`)
  return { port, pid: running.child.pid! }
}

/** A port of loopback that nobody listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

/** Waits until a server answers: a minute, as large programs take that long to start. */
async function until(url: string): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const answers = await fetch(url).then(
      () => true,
      () => false,
    )
    if (answers) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`${url} does not answer`)
}
