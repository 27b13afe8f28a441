import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { REDACTED, redactor } from '../../observability/redaction.ts'

const plain = redactor()

describe('a text', () => {
  test.each([
    ['Bearer abcdefghijklmnop', `Bearer ${REDACTED}`],
    ['bearer  abcdefghijklmnop and on', `bearer  ${REDACTED} and on`],
    ['Basic dXNlcjpwYXNzd29yZA==', `Basic ${REDACTED}`],
    ['Bearer short', 'Bearer short'],
    ['Authorization: Digest x y z', `Authorization: ${REDACTED}`],
    ['cookie: a=1; b=2\r\nhost: h', `cookie: ${REDACTED}\r\nhost: h`],
    ['X-API-Key: k', `X-API-Key: ${REDACTED}`],
    ['https://me:secret@host/x', `https://${REDACTED}@host/x`],
    ['https://token@host/x', `https://${REDACTED}@host/x`],
    ['https://host/a@b', 'https://host/a@b'],
    ['GET /x?token=abc&more=1', `GET /x?token=${REDACTED}&more=1`],
    ['api_key=k; password=p, passwd=q', `api_key=${REDACTED}; password=${REDACTED}, passwd=${REDACTED}`],
    ['{"access_token":"abc","n":1}', `{"access_token":"${REDACTED}","n":1}`],
    ['{"password" : "a\\"b"}', `{"password" : "${REDACTED}"}`],
    ['{"input_tokens":12}', '{"input_tokens":12}'],
    ['tokens are fine', 'tokens are fine'],
    ['', ''],
  ])('%j is written as %j', (text, written) => {
    expect(plain.text(text)).toBe(written)
    expect(plain.whole(text)).toBe(written)
  })

  test('is cut at 16,384 characters, and says how many more there were', () => {
    const most = 'x'.repeat(16_384)
    expect(plain.text(most)).toBe(most)
    expect(plain.text(`${most}yz`)).toBe(`${most}… (2 more)`)
    expect(plain.whole(`${most}yz`)).toBe(`${most}yz`)
  })

  test('is cut after its secrets are gone, so that no part of one is left', () => {
    const secret = 's3cr3t-value-of-a-key'
    const { text } = redactor([secret])
    for (let at = 16_384 - secret.length; at <= 16_384; at += 1) {
      const written = text(`${'x'.repeat(at)}${secret}${'y'.repeat(50)}`)
      expect(written).not.toMatch(/s3c|key/)
    }
  })
})

describe('a secret value', () => {
  const SECRET = 'p/w "1"+=é'
  const { text } = redactor([SECRET])

  test.each([
    ['as it is', SECRET],
    ['in JSON', JSON.stringify(SECRET).slice(1, -1)],
    ['in a URL', encodeURIComponent(SECRET)],
    ['in base64', Buffer.from(SECRET).toString('base64')],
  ])('is replaced %s', (_how, form) => {
    expect(text(`before ${form} after`)).toBe(`before ${REDACTED} after`)
  })

  test('is replaced wherever it is, also in patterns', () => {
    expect(text(`${SECRET}${SECRET}`)).toBe(`${REDACTED}${REDACTED}`)
  })

  test('of three characters stays, because it would be in every text, and one of four does not', () => {
    const of = redactor(['abc', 'wxyz'])
    expect(of.text('abc wxyz abc')).toBe(`abc ${REDACTED} abc`)
  })

  test('that contains another one is replaced as a whole', () => {
    expect(redactor(['inner', 'the inner part']).text('the inner part, inner')).toBe(`${REDACTED}, ${REDACTED}`)
    expect(redactor(['the inner part', 'inner']).text('the inner part, inner')).toBe(`${REDACTED}, ${REDACTED}`)
  })

  test('law: it is in no text, whatever characters it is of, and the rest of the text stays', () => {
    const secret = fc.string({ unit: fc.constantFrom(...'abZ09\\^$.*+?()[]{}|/-"\' é'), minLength: 4, maxLength: 12 })
    fc.assert(
      fc.property(secret, (value) => {
        const written = redactor([value]).whole(`<<${value}>>`)
        expect(written).toBe(`<<${REDACTED}>>`)
      }),
    )
  })
})

describe('a value', () => {
  test.each([
    ['authorization'],
    ['Proxy-Authorization'],
    ['set-cookie'],
    ['clientSecret'],
    ['password'],
    ['passwd'],
    ['passphrase'],
    ['credentials'],
    ['apiKey'],
    ['api-key'],
    ['API_KEY'],
    ['private_key'],
  ])('below the key %s is secret, of whatever type', (key) => {
    expect(plain.value({ [key]: 'x' })).toEqual({ [key]: REDACTED })
    expect(plain.value({ [key]: [1, true, { deep: 'x', none: null }] })).toEqual({
      [key]: [REDACTED, REDACTED, { deep: REDACTED, none: null }],
    })
  })

  test('below the key of a token is secret where it is a text: counts of tokens are not', () => {
    expect(plain.value({ token: 'x', input_tokens: 3, tokens: { a: 'x', n: 1, ok: false, big: 2n } })).toEqual({
      token: REDACTED,
      input_tokens: 3,
      tokens: { a: REDACTED, n: 1, ok: false, big: '2' },
    })
  })

  test.each<[unknown, unknown]>([
    [null, null],
    [undefined, undefined],
    [0, 0],
    [Number.NaN, Number.NaN],
    [true, true],
    [12n, '12'],
    [Symbol('s'), undefined],
    [() => 1, undefined],
    ['Bearer abcdefghijklmnop', `Bearer ${REDACTED}`],
    [new Uint8Array(3), '[3 bytes]'],
    [Buffer.from('secret'), '[6 bytes]'],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [new URL('https://me:pw@host/'), `https://${REDACTED}@host/`],
    [
      [1, 'a', [2]],
      [1, 'a', [2]],
    ],
    [{}, {}],
  ])('%s is copied as %s', (value, copy) => {
    expect(plain.value(value)).toEqual(copy)
  })

  test('that says itself how it is written is written so, and what it says is cleaned', () => {
    expect(plain.value({ toJSON: () => ({ token: 'x', a: 1 }) })).toEqual({ token: REDACTED, a: 1 })
    expect(plain.value({ toJSON: 'no function', a: 1 })).toEqual({ toJSON: 'no function', a: 1 })
  })

  test('that cannot be read is named, and the rest is there', () => {
    const broken = {
      get bad(): string {
        throw new Error('no')
      },
    }
    expect(plain.value({ broken, a: 1 })).toEqual({ broken: '[unreadable]', a: 1 })
  })

  test('above itself is named, and one that is there twice is written twice', () => {
    const one: Record<string, unknown> = { a: 1 }
    one['self'] = one
    const twice = { b: 2 }
    expect(plain.value({ one, first: twice, second: twice, list: [twice, twice] })).toEqual({
      one: { a: 1, self: '[circular]' },
      first: twice,
      second: twice,
      list: [twice, twice],
    })
  })

  test('is written eight levels deep', () => {
    const nested = (levels: number): unknown => (levels === 0 ? 'end' : { in: nested(levels - 1) })
    expect(plain.value(nested(8))).toEqual(nested(8))
    expect(JSON.stringify(plain.value(nested(9)))).toBe(JSON.stringify(nested(8)).replace('"end"', '"[deep]"'))
  })

  test('has 100 items of a list, and says how many more there were', () => {
    const list = (length: number): number[] => Array.from({ length }, (_, at) => at)
    expect(plain.value(list(100))).toEqual(list(100))
    expect(plain.value(list(102))).toEqual([...list(100), '… (2 more)'])
  })

  test('has 100 members, and says how many more there were', () => {
    const members = (count: number): object =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, at]))
    expect(plain.value(members(100))).toEqual(members(100))
    expect(plain.value(members(103))).toEqual({ ...members(100), '…': '3 more' })
  })

  test('has secrets of its keys replaced too', () => {
    expect(redactor(['s3cr3t']).value({ 'x-s3cr3t': 1 })).toEqual({ [`x-${REDACTED}`]: 1 })
  })

  test('is not changed itself', () => {
    const value = { token: 'x', list: [{ password: 'y' }] }
    plain.value(value)
    expect(value).toEqual({ token: 'x', list: [{ password: 'y' }] })
  })
})

describe('an error', () => {
  test('has its name, message, stack and own members', () => {
    const error = Object.assign(new TypeError('bad token=abc'), { code: 'E', password: 'p' })
    const written = plain.value(error) as Record<string, unknown>
    expect(written).toEqual({
      name: 'TypeError',
      message: `bad token=${REDACTED}`,
      stack: expect.stringContaining(`TypeError: bad token=${REDACTED}`),
      code: 'E',
      password: REDACTED,
    })
  })

  test('has its cause where there is one, once', () => {
    const cause = new Error('inner')
    const written = plain.value(new Error('outer', { cause })) as { cause: object }
    expect(written.cause).toMatchObject({ name: 'Error', message: 'inner' })
    expect(Object.keys(written)).toEqual(['name', 'message', 'stack', 'cause'])
    expect(plain.value(new Error('alone'))).not.toHaveProperty('cause')
  })

  test('with members of these names has each once', () => {
    const error = new Error('real')
    Object.defineProperty(error, 'message', { value: 'own', enumerable: true })
    Object.defineProperty(error, 'name', { value: 'Own', enumerable: true })
    expect(plain.value(error)).toMatchObject({ name: 'Own', message: 'own' })
    expect(Object.keys(plain.value(error) as object)).toEqual(['name', 'message', 'stack'])
  })
})
