import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TailScreen } from '../../src/cli/tail-screen.ts'
import type { TurnInfoReply } from '../../src/model/index.ts'
import { askHttp } from '../kit/clients.ts'
import { EXAMPLE_AGENTS, startGateway, type TestGateway, TURNPIKE } from '../kit/gateway.ts'
import { pidsOf, until } from '../kit/processes.ts'

const ENTER = '\u001b[?1049h\u001b[?25l'
const LEAVE = '\u001b[?25h\u001b[?1049l'

function turn(id: string, state: TurnInfoReply['state'] = 'running'): TurnInfoReply {
  return {
    turn: id,
    state,
    agent: 'coder',
    front: 'zene',
    session: 's',
    startedAt: 0,
    ...(state === 'running' && { phase: 'working' }),
  }
}

/** A screen, and what it shows: the lines of its last drawing. */
function screenOf(rows = 6, columns = 200, colour = false) {
  const written: string[] = []
  const terminal = { rows, columns, write: (text: string) => void written.push(text) }
  const screen = new TailScreen(terminal, colour)
  const lines = () =>
    written
      .filter((text) => text.startsWith('\u001b[H'))
      .at(-1)!
      .slice(3)
      .replaceAll(/\u001b\[[KJ]/g, '')
      .split('\r\n')
  return {
    screen,
    terminal,
    written,
    lines,
    ids: () =>
      lines()
        .slice(2)
        .map((line) => line.split(/ +/)[1]),
  }
}

describe('the screen', () => {
  test('has the running turns first, then those that ended last, as many as fit', () => {
    const { screen, ids, lines } = screenOf()
    screen.show([turn('a'), turn('b')])
    screen.show([turn('a', 'completed'), turn('c', 'failed'), turn('d')])
    expect(ids()).toEqual(['b', 'd', 'c', 'a'])
    expect(lines()[0]).toBe('turnpike: 2 running, 2 ended, 1 failed   q: quit')
    screen.show([turn('e', 'cancelled')])
    expect([ids(), lines().length]).toEqual([['b', 'd', 'e', 'c'], 6])
  })

  test('fits its terminal, whatever its size', () => {
    const { screen, terminal, lines } = screenOf(4, 20, true)
    screen.show([turn('a'), turn('b'), turn('c')])
    const visible = lines().map((line) => line.replaceAll(/\u001b\[[0-9;]*m/g, ''))
    expect([visible.length, Math.max(...visible.map(({ length }) => length))]).toEqual([4, 20])
    terminal.rows = 1
    screen.draw()
    expect(lines()).toHaveLength(1)
  })

  test.each([
    [200, 'STARTED TURN CLIENT ROUTE AGENT STATE QUEUED START FIRST TOTAL TOKENS LOST ENDING'],
    [120, 'STARTED TURN AGENT STATE TOTAL TOKENS LOST ENDING'],
    [80, 'STARTED AGENT STATE TOTAL LOST ENDING'],
    [20, 'AGENT'],
  ])('of %s characters has the columns that fit, and always why a turn failed', (columns, expected) => {
    const { screen, lines } = screenOf(6, columns)
    screen.show([{ ...turn('a', 'failed'), code: 'timeout', error: 'Silent.' }])
    const [, names, shown] = lines()
    expect(names!.trim().split(/ +/).join(' ')).toBe(expected)
    if (columns > 20) expect(shown).toMatch(/failed .* timeout Silent\.$/)
  })

  test('remembers a bounded number of turns, and every one that runs', () => {
    const { screen, terminal, ids } = screenOf(2000)
    screen.show([turn('runs')])
    for (let at = 0; at < 1000; at++) screen.show([turn(`t${at}`, 'completed')])
    expect(terminal.rows).toBe(2000)
    expect([ids().length, ids()[0], ids()[1]]).toEqual([500, 'runs', 't999'])
  })

  test('gives the terminal back once, and draws nothing after that', () => {
    const { screen, written } = screenOf()
    screen.close()
    screen.close()
    screen.show([turn('late')])
    expect([written[0], written.filter((text) => text === LEAVE), written.at(-1)]).toEqual([ENTER, [LEAVE], LEAVE])
  })
})

const isThere = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') === true

describe.skipIf(!isThere)('turnpike tail on a terminal', () => {
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway(`default: helper\nagents:${EXAMPLE_AGENTS}`)
  })
  afterAll(() => gateway.close())

  /** Runs it on a terminal of its own; then the state of the terminal is printed. */
  function start(
    mark: string,
    ...args: string[]
  ): { child: ChildProcess; text: () => string; ended: Promise<unknown> } {
    const command = [process.execPath, TURNPIKE, 'tail', '--session', mark, ...args].join(' ')
    const child = spawn(
      'script',
      ['-qfec', `stty rows 12 cols 160; ${command}; echo "code $?"; stty -a`, '/dev/null'],
      {
        env: { ...process.env, TURNPIKE_URL: gateway.url, TERM: 'xterm' },
      },
    )
    let text = ''
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    return { child, text: () => text, ended: once(child, 'close') }
  }

  /** The terminal is as it was. */
  function expectRestored(text: string, code: number): void {
    const [shown, after] = text.split(`code ${code}`)
    expect(shown!.split(ENTER)).toHaveLength(2)
    expect(shown!.trimEnd().endsWith(LEAVE)).toBe(true)
    expect(after).toMatch(/(?<!-)\bicanon\b/)
    expect(after).toMatch(/(?<!-)\becho\b/)
  }

  test('fills the screen with turns until q', async () => {
    const { child, text, ended } = start('screen-q')
    await until(() => text().includes('0 running'))
    await askHttp(gateway.url, 'zene', { text: 'hi', session: 'screen-q', agent: 'helper' })
    await until(() => text().includes('completed'))
    child.stdin!.write('q')
    await ended
    expectRestored(text(), 0)
  })

  test('gives the terminal back when it is terminated', async () => {
    const { text, ended } = start('screen-term')
    await until(() => text().includes('0 running'))
    const [pid] = pidsOf('--session\u0000screen-term').filter((one) => !pidsOf('script\u0000').includes(one))
    process.kill(pid!, 'SIGTERM')
    await ended
    expectRestored(text(), 143)
  })

  test('prints lines with --plain', async () => {
    const { child, text, ended } = start('screen-plain', '--plain')
    await until(() => gateway.engine.turns.length === 0)
    await askHttp(gateway.url, 'zene', { text: 'hi', session: 'screen-plain', agent: 'helper' })
    await until(async () => {
      if (!text().includes('completed'))
        await askHttp(gateway.url, 'zene', { text: 'hi', session: 'screen-plain', agent: 'helper' })
      return text().includes('completed')
    })
    child.stdin!.write('\u0003')
    await ended
    expect(text()).not.toContain(ENTER)
  })
})
