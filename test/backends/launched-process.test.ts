import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { LaunchedProcess } from '../../src/backends/launched-process.ts'

/** A launched process, and what is said of it to those who want to know. */
function launch(shortInput = false) {
  const said: string[] = []
  const events = {
    started: () => said.push('started'),
    failed: () => said.push('failed'),
    exited: () => said.push('exited'),
    output() {},
    outputEnded() {},
    log() {},
  }
  const owner = {
    order: (input: boolean) => said.push(input ? 'order with input' : 'order'),
    go: () => said.push('go'),
    over: () => said.push('over'),
  }
  return { launched: new LaunchedProcess(events, shortInput, owner), said }
}

describe('a launched process', () => {
  test('is started when all its streams are here, and not before', () => {
    const { launched, said } = launch()
    launched.connected('err', new Socket())
    launched.connected('in', new Socket())
    expect(said).toStrictEqual(['order with input'])
    launched.connected('out', new Socket())
    expect(said).toStrictEqual(['order with input', 'go'])
  })

  test('has no stdin to wait for when nothing was written before its input ended', () => {
    const { launched, said } = launch(true)
    expect(said).toStrictEqual([])
    launched.endInput()
    for (const channel of ['out', 'err'] as const) launched.connected(channel, new Socket())
    expect(said).toStrictEqual(['order', 'go'])
  })

  test('takes no stream twice, and none when it is closed: whoever made it sees it end', () => {
    const { launched, said } = launch()
    const [first, second, late] = [new Socket(), new Socket(), new Socket()]
    launched.connected('out', first)
    launched.connected('out', second)
    expect([first.destroyed, second.destroyed]).toStrictEqual([false, true])
    launched.close()
    launched.connected('err', late)
    expect([first.destroyed, late.destroyed]).toStrictEqual([true, true])
    expect(said).toStrictEqual(['order with input'])
  })

  test('that is closed before it was ordered is forgotten', () => {
    const { launched, said } = launch(true)
    launched.close()
    launched.endInput()
    expect(said).toStrictEqual(['over'])
  })
})
