import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { AgentSettings } from '../../src/engine/common/index.ts'
import { withAllowedPlace } from '../../src/engine/turn/work-place.ts'
import type { Command, Loss, TurnStart } from '../../src/model/index.ts'
import { plainAgent, start } from '../kit/plain.ts'

const context = {
  ...plainAgent('').context,
  process: { command: 'a', env: {}, cwd: '/home/work' },
}

/** What an agent gets of where its client works, and what is lost. */
function placed(wished: Partial<Command & TurnStart>, more: Partial<AgentSettings> = {}) {
  const losses: Loss[] = []
  const agent = plainAgent('', { context, ...more })
  const { cwd, folders, mcpServers } = withAllowedPlace(start(wished), agent, (loss) => losses.push(loss))
  return { got: { cwd, folders, mcpServers }, lost: losses.map(({ item, count, why }) => `${item} ${count} ${why}`) }
}

describe('the place where a client works', () => {
  test.each([
    [undefined, '/home/work', true],
    [undefined, '/home/work/sub', true],
    [undefined, '/home/workshop', false],
    [undefined, '/home/work/../other', false],
    [undefined, '/home', false],
    [['/srv/'], '/srv/a', true],
    [['/srv/'], '/home/work', true],
    [['/srv'], '/srvs', false],
    [['/'], '/anywhere', true],
    [['/'], '/any/../where', false],
  ])('with the workspaces %j, in %s, is allowed: %s', (workspaces, cwd, allowed) => {
    const { got, lost } = placed({ cwd }, workspaces && { workspaces })
    expect([got.cwd, lost]).toEqual(allowed ? [cwd, []] : [undefined, ['start.cwd 1 policy']])
  })

  test('may have further folders', () => {
    const { got, lost } = placed({ folders: ['/home/work/a', '/etc', '/srv', '/usr'] }, { workspaces: ['/srv'] })
    expect([got.folders, lost]).toEqual([['/home/work/a', '/srv'], ['start.folders 2 policy']])
    expect(placed({ folders: ['/etc'] })).toMatchObject({ got: {}, lost: ['start.folders 1 policy'] })
  })

  test('is none behind a link that leads out of them', () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'turnpike-place-')))
    for (const folder of ['work/in', 'out']) mkdirSync(join(root, folder), { recursive: true })
    symlinkSync(join(root, 'out'), join(root, 'work/link'))
    symlinkSync(join(root, 'work/in'), join(root, 'work/inner'))
    const work = { ...context, process: { ...context.process, cwd: join(root, 'work') } }
    const paths = ['work', 'work/in', 'work/inner', 'work/missing', 'work/link', 'work/link/more'].map((path) =>
      join(root, path),
    )
    const allowed = paths.map((path) => {
      const { got, lost } = placed({ cwd: path, folders: [path] }, { context: work })
      return [got.cwd === path, got.folders?.length === 1, lost.length]
    })
    expect(allowed).toEqual([
      ...Array.from({ length: 4 }, () => [true, true, 0]),
      [false, false, 2],
      // What is behind the link does not exist: whoever goes there is refused.
      [true, true, 0],
    ])
    rmSync(root, { recursive: true })
  })

  test('has servers only where they may be started', () => {
    const mcpServers = [{ type: 'stdio', name: 'm', command: ['m'], env: {} }] as const
    expect(placed({ mcpServers }).lost).toEqual(['start.mcpServers 1 policy'])
    expect(placed({ mcpServers }, { clientMcpServers: true })).toEqual({
      got: { cwd: undefined, folders: undefined, mcpServers },
      lost: [],
    })
  })

  test('of an agent behind a URL is judged there', () => {
    const { process: _, ...elsewhere } = context
    const { got, lost } = placed({ cwd: '/x', folders: ['/y'] }, { context: elsewhere })
    expect([got, lost]).toEqual([{ cwd: '/x', folders: ['/y'], mcpServers: undefined }, []])
  })

  test('leaves a command alone that says nothing of it', () => {
    const command = start()
    expect(withAllowedPlace(command, plainAgent('', { context }), () => {})).toBe(command)
  })
})
