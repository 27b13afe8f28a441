import { closeSync, createReadStream, readSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { AgentInput } from '../../src/backends/agent-input.ts'
import { closePipes, type Pipe, PipeSupply } from '../../src/backends/pipes.ts'

const supply = new PipeSupply()

/** A pipe, whose reading end is for `readAll`. */
async function pipe(): Promise<Pipe> {
  const pipes = await new Promise<readonly Pipe[]>((then) => supply.take((taken) => then(taken as readonly Pipe[])))
  const [first, ...others] = pipes
  closePipes(others)
  return first!
}

/** All that comes out of a pipe until its end; closes it. */
const readAll = (fd: number): Promise<string> => text(createReadStream('', { fd }))

describe.skipIf(process.platform !== 'linux')('input through a pipe (Linux)', () => {
  test.each([
    ['nothing', []],
    ['a text', ['one line\n']],
    ['texts and bytes', ['é', new Uint8Array([0x20, 0x21]), 'end']],
    ['just as much as a pipe always takes', ['x'.repeat(4096)]],
  ] as const)('that has ended needs no running agent: %s', async (_, pieces) => {
    const { read, write } = await pipe()
    const input = new AgentInput()
    for (const piece of pieces) input.write(piece)
    input.take(write)
    input.end()
    expect(await readAll(read)).toBe(pieces.map((piece) => Buffer.from(piece).toString()).join(''))
  })

  test('that has ended before there was a pipe is written into it', async () => {
    const { read, write } = await pipe()
    const input = new AgentInput()
    input.write('early')
    input.end()
    input.take(write)
    expect(await readAll(read)).toBe('early')
  })

  test.each([
    ['in units', 'x'.repeat(4097)],
    ['in bytes', 'é'.repeat(2049)],
  ])('of more than a pipe always takes is a stream, %s', async (_, piece) => {
    const { read, write } = await pipe()
    const input = new AgentInput()
    input.take(write)
    input.write(piece)
    input.end()
    expect(await readAll(read)).toBe(piece)
  })

  describe('that nobody reads', () => {
    /** An input whose agent runs, and the end that the agent reads. */
    async function opened(): Promise<{ input: AgentInput; read: number }> {
      const { read, write } = await pipe()
      const input = new AgentInput()
      input.take(write)
      input.open()
      return { input, read }
    }
    const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

    test.each([1, 2])('because the agent has closed it is unread, write %i', async (writes) => {
      const { input, read } = await opened()
      expect(input.unread).toBe(false)
      closeSync(read)
      for (let at = 0; at < writes; at += 1) {
        input.write('unread')
        await tick()
      }
      expect(input.unread).toBe(true)
      input.destroy()
      expect(input.unread).toBe(false)
    })

    test.each([
      ['nothing of it', 0, true],
      ['a part of it', 2, false],
      ['all of it', 6, false],
    ])('because the agent ended when it had read %s', async (_what, bytes, unread) => {
      const { input, read } = await opened()
      input.write('before')
      await tick()
      readSync(read, Buffer.alloc(6))
      input.write('ünread'.slice(1))
      input.write('läter')
      await tick()
      readSync(read, Buffer.alloc(5 + bytes))
      closeSync(read)
      expect(input.unread).toBe(unread)
      input.destroy()
    })

    test('is not looked at where it has ended', async () => {
      const { input, read } = await opened()
      input.write('last')
      input.end()
      await tick()
      input.destroy()
      closeSync(read)
      expect(input.unread).toBe(false)
    })
  })

  test('goes out when the agent runs, in order', async () => {
    const { read, write } = await pipe()
    const input = new AgentInput()
    input.take(write)
    expect([input.write('one '), input.write('two ')]).toEqual([4, 8])
    input.open()
    input.write('three')
    input.end()
    expect(await readAll(read)).toBe('one two three')
  })

  test('that is given up closes its pipe', async () => {
    const { read, write } = await pipe()
    const input = new AgentInput()
    input.write('never read')
    input.take(write)
    input.destroy()
    expect(await readAll(read)).toBe('')
    expect(input.write('more')).toBe(0)
  })
})

describe('input through a stream', () => {
  test('has what was written before, and nothing after its end', async () => {
    const stream = new PassThrough()
    const input = new AgentInput()
    input.write('one ')
    input.attach(stream)
    input.write('two')
    input.end()
    expect(input.write('three')).toBe(0)
    expect(await text(stream)).toBe('one two')
  })

  test('says how much of it waits', () => {
    const stream = new PassThrough({ highWaterMark: 1 })
    const input = new AgentInput()
    input.attach(stream)
    input.write('xx')
    expect(input.write('yyy')).toBe(5)
  })

  test('writes nothing to a stream that is gone', () => {
    const stream = new PassThrough()
    const input = new AgentInput()
    input.attach(stream)
    stream.destroy()
    expect(input.write('x')).toBe(0)
  })
})
