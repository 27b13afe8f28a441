import { describe, expect, test } from 'vitest'
import { plainWire, RecordingError, readRecording, type Wire } from '../../src/translate/recording.ts'

const rows = (...lines: (object | string)[]): string =>
  lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')

const read = (...lines: (object | string)[]): Wire[] => readRecording(rows(...lines))
const CLOSED = { why: 'closed', exitCode: 0 } as const
const EMPTY = { http: undefined, argv: undefined, env: {}, end: CLOSED }
const client = (text: string | undefined) => ({ who: 'client', text })
const agent = (text: string) => ({ who: 'agent', text })

describe('the text of one side', () => {
  test('is a wire', () => {
    expect(plainWire('agent', 'a\n')).toEqual({ ...EMPTY, steps: [agent('a\n')] })
    expect(plainWire('client', 'a\n')).toEqual({ ...EMPTY, steps: [client('a\n'), client(undefined)] })
  })

  test('may be empty', () => {
    expect(plainWire('agent', '').steps).toEqual([])
    expect(plainWire('client', '').steps).toEqual([client(undefined)])
  })
})

describe('a recording of a process', () => {
  test('has both sides in their order, and its end', () => {
    expect(
      read(
        { dir: 'argv', line: '["rpc","--model",7]' },
        { dir: 'env', line: 'A=b=c' },
        { dir: 'in', line: 'hello' },
        { dir: 'out', line: 'hi' },
        { dir: 'err', line: 'warning' },
        { dir: 'err', line: 'again' },
        { dir: 'in_eof' },
        { dir: 'exit', code: 3 },
      ),
    ).toEqual([
      {
        http: undefined,
        argv: ['rpc', '--model', '7'],
        env: { A: 'b=c' },
        steps: [client('hello\n'), agent('hi\n'), client(undefined)],
        end: { why: 'closed', exitCode: 3, stderr: 'warning\nagain' },
      },
    ])
  })

  test('that says nothing is none', () => {
    expect(read()).toEqual([])
    expect(read('', '  ', { dir: 'note', line: 'x' }, { dir: 'err', line: 'y' })).toEqual([])
  })

  test('with several processes has a wire for each; arguments and environment hold on', () => {
    const wires = read(
      { dir: 'argv', line: '["a"]' },
      { dir: 'env', line: 'X=1' },
      { dir: 'in', line: 'one' },
      { dir: 'exit', code: 0 },
      { dir: 'in', line: 'two' },
      { dir: 'exit', code: 1 },
      { dir: 'out', line: 'three' },
    )
    expect(wires.map(({ argv, env, steps, end }) => [argv, env, steps, end.exitCode])).toEqual([
      [['a'], { X: '1' }, [client('one\n')], 0],
      [['a'], { X: '1' }, [client('two\n')], 1],
      [['a'], { X: '1' }, [agent('three\n')], 0],
    ])
  })

  test.each([
    [{ code: 3 }, { exitCode: 3 }],
    [{ code: null, signal: 'SIGKILL' }, { signal: 'SIGKILL' }],
    [{ line: '5' }, { exitCode: 5 }],
    [{ line: 'killed by SIGTERM' }, { signal: 'SIGTERM' }],
    [{ line: 'exited' }, { exitCode: 0 }],
    [{}, { exitCode: 0 }],
  ])('ends with %j as %j', (exit, end) => {
    expect(read({ dir: 'out', line: 'x' }, { dir: 'exit', ...exit })[0]!.end).toEqual({ why: 'closed', ...end })
  })

  test.each([
    { dir: 'in_eof' },
    { dir: 'in', line: '⟨EOF⟩' },
    { dir: 'note', line: 'client closed stdin' },
    { dir: 'note', line: 'client closes stdin after 3 s' },
  ])('%j ends the input', (row) => {
    expect(read({ dir: 'in', line: 'x' }, row)[0]!.steps).toEqual([client('x\n'), client(undefined)])
  })

  test.each([
    { dir: 'in', line: '⟨pause 3 s⟩' },
    { dir: 'out', line: '⟨silence⟩' },
    { dir: 'note', line: 'stdin stays open' },
    { dir: 'mark', line: 'x' },
    { dir: 'in', line: 'cut', truncated: true },
    { dir: 'out', line: 'cut', truncated_from_chars: 9000 },
  ])('%j is only a note', (row) => {
    expect(read({ dir: 'in', line: 'x' }, row)[0]!.steps).toEqual([client('x\n')])
  })

  test('may name its arguments in a note', () => {
    expect(read({ dir: 'in', line: '⟨argv⟩ ["a","b"]' }, { dir: 'in', line: 'x' })[0]!.argv).toEqual(['a', 'b'])
    expect(read({ dir: 'argv', line: 'a b' }, { dir: 'in', line: 'x' })[0]!.argv).toBeUndefined()
  })

  test('has a line without its end where there was none', () => {
    expect(read({ dir: 'out', line: 'a' }, { dir: 'out', line: 'b', no_lf: true })[0]!.steps).toEqual([
      agent('a\n'),
      agent('b'),
    ])
  })

  test('joins bytes of one line that came in pieces, also within a character', () => {
    const [first, second] = [Buffer.from('é😀').subarray(0, 3), Buffer.from('é😀').subarray(3)]
    const steps = read(
      { dir: 'out', hex: first.toString('hex') },
      { dir: 'out', hex: second.toString('hex') },
      { dir: 'out', line: 'x' },
    )[0]!.steps
    expect(steps).toEqual([agent(''), agent('é😀\n'), agent('x\n')])
  })
})

describe('a recording over HTTP', () => {
  test('has a wire for each request', () => {
    const wires = read(
      { dir: 'request', method: 'GET', path: '/a', headers: { 'X-Own': '1' } },
      { dir: 'response', status: 404, headers: { 'Content-Type': 'text/plain' }, body: 'no' },
      { dir: 'request', body: '{}' },
      { dir: 'response', status: null, body: '' },
    )
    expect(wires).toEqual([
      {
        ...EMPTY,
        http: { method: 'GET', path: '/a', headers: { 'x-own': '1' } },
        steps: [
          client(''),
          client(undefined),
          { who: 'agent', head: { status: 404, headers: { 'content-type': 'text/plain' } } },
          agent('no'),
        ],
        end: { why: 'closed' },
      },
      {
        ...EMPTY,
        http: { method: 'POST', path: '/', headers: {} },
        steps: [client('{}'), client(undefined), agent('')],
        end: { why: 'closed' },
      },
    ])
  })
})

describe('a file that is no recording', () => {
  test.each([
    ['{', 'is not a JSON object with "dir"'],
    ['[]', 'is not a JSON object with "dir"'],
    ['null', 'is not a JSON object with "dir"'],
    ['{}', 'is not a JSON object with "dir"'],
    ['{"dir":5}', 'is not a JSON object with "dir"'],
    ['{"dir":"in","line":5}', 'has a "line" of another type'],
    ['{"dir":"in","line":null}', 'has a "line" of another type'],
    ['{"dir":"out","hex":[1]}', 'has a "hex" of another type'],
    ['{"dir":"request","body":{}}', 'has a "body" of another type'],
    ['{"dir":"request","method":1}', 'has a "method" of another type'],
    ['{"dir":"request","path":1}', 'has a "path" of another type'],
    ['{"dir":"request","headers":[]}', 'has a "headers" of another type'],
    ['{"dir":"response","headers":{"a":1}}', 'has a "headers" of another type'],
  ])('is told apart at its line: %s', (line, problem) => {
    expect(() => readRecording(`{"dir":"note"}\n\n${line}`)).toThrow(
      new RecordingError(`line 3 ${problem}; check that the file is a recording`),
    )
  })
})
