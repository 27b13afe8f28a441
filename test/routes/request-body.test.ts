import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type BodyReader, RequestBody } from '../../routes/request-body.ts'

/** What a reader was told: text, then how it ended. */
class Told implements BodyReader {
  text = ''
  ends: string[] = []

  push(text: string): void {
    this.text += text
  }
  end(): void {
    this.ends.push('end')
  }
  fail(): void {
    this.ends.push('fail')
  }
}

/** A step of a request: bytes come, another reader takes over, no other one will. */
const STEP = fc.oneof(
  fc.uint8Array({ minLength: 1, maxLength: 6 }),
  fc.constantFrom('reader' as const, 'settled' as const),
)

/** Lets the stream hand on what it was written. */
const handed = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('every reader of a body has it from its beginning, whatever came before it, and one end', async () => {
  const bytes = new TextEncoder().encode('héllo wörld ✓ 😀 ')
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { maxLength: 8 }), fc.boolean(), async (steps, isLost) => {
      const incoming = new PassThrough()
      const body = new RequestBody(incoming, true)
      const readers = [new Told()]
      body.readBy(readers[0]!)
      const written: Uint8Array[] = []
      let settled = false
      for (const step of steps) {
        if (step === 'settled') {
          body.settle()
          settled = true
        } else if (step === 'reader') {
          if (settled) continue
          readers.push(new Told())
          body.readBy(readers.at(-1)!)
        } else {
          // A part of a text whose characters take several bytes.
          const part = bytes.subarray(step[0]! % bytes.length)
          written.push(part)
          incoming.write(part)
        }
        await handed()
      }
      if (isLost) incoming.destroy(new Error('lost'))
      else incoming.end()
      await handed()
      const last = readers.at(-1)!
      expect(last.ends).toEqual([isLost ? 'fail' : 'end'])
      const whole = Buffer.concat(written).toString()
      if (isLost) expect(whole.startsWith(last.text.replace(/\ufffd+$/, ''))).toBe(true)
      else expect(last.text).toBe(whole)
      for (const earlier of readers.slice(0, -1)) {
        expect(last.text.startsWith(earlier.text)).toBe(true)
        expect(earlier.ends).toEqual([])
      }
    }),
  )
})

test.each([
  ['has ended', (incoming: PassThrough) => void incoming.end(), ['end']],
  ['is lost', (incoming: PassThrough) => void incoming.destroy(new Error('lost')), ['fail']],
])('a reader that comes when the body %s is told so at once', async (_how, over, ends) => {
  const incoming = new PassThrough()
  const body = new RequestBody(incoming, true)
  incoming.write('text')
  await handed()
  over(incoming)
  await handed()
  const late = new Told()
  body.readBy(late)
  expect([late.text, late.ends]).toEqual(['text', ends])
})

test('a body that no other reader will want is not kept', async () => {
  const incoming = new PassThrough()
  const body = new RequestBody(incoming, false)
  const [first, second] = [new Told(), new Told()]
  body.readBy(first)
  incoming.write('one ')
  await handed()
  body.readBy(second)
  incoming.end('two')
  await handed()
  expect([first.text, first.ends]).toEqual(['one ', []])
  expect([second.text, second.ends]).toEqual(['two', ['end']])
})

test('what a reader got before it is the last one is forgotten, and the rest comes', async () => {
  const incoming = new PassThrough()
  const body = new RequestBody(incoming, true)
  const reader = new Told()
  body.readBy(reader)
  incoming.write('one ')
  await handed()
  body.settle()
  body.settle()
  incoming.end('two')
  await handed()
  const late = new Told()
  body.readBy(late)
  expect([reader.text, reader.ends, late.text, late.ends]).toEqual(['one two', ['end'], '', ['end']])
})

test('a body without a reader waits for one', async () => {
  const incoming = new PassThrough()
  const body = new RequestBody(incoming, true)
  incoming.end(Buffer.from('é€😀'))
  await handed()
  const reader = new Told()
  body.readBy(reader)
  expect([reader.text, reader.ends]).toEqual(['é€😀', ['end']])
})
