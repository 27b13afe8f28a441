import { spawnSync } from 'node:child_process'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Runs `deploy/summary.mjs` on a report. @returns the lines that it prints, and its exit code */
function summary(report: string | undefined, gates = '0') {
  const file = join(mkdtempSync(join(tmpdir(), 'summary-')), 'report.json')
  if (report !== undefined) writeFileSync(file, report)
  const run = spawnSync(process.execPath, ['deploy/summary.mjs', file, gates], { encoding: 'utf8' })
  return { lines: run.stdout.trimEnd().split('\n'), status: run.status }
}

const test = (status: string, fullName: string, ...failureMessages: string[]) => ({ status, fullName, failureMessages })
const report = (...assertionResults: object[]) =>
  JSON.stringify({ testResults: [{ name: 'a.test.ts', status: 'passed', assertionResults }] })

describe('the closing lines of a test run', () => {
  it('are names of skipped tests, then of failed ones, then the counts', () => {
    const run = summary(
      report(
        test('failed', 'b fails', 'expected 1 to be 2\n  at b.test.ts:3'),
        test('passed', 'a passes'),
        test('skipped', 'c is skipped'),
        test('pending', 'd is skipped too'),
      ),
      '1',
    )
    expect(run.lines).toEqual([
      'skipped: c is skipped',
      'skipped: d is skipped too',
      'failed: b fails: expected 1 to be 2',
      '1 passed, 1 failed, 2 skipped',
    ])
    expect(run.status).toBe(1)
  })

  it('say that all passed', () => {
    expect(summary(report(test('passed', 'a'), test('passed', 'b')))).toEqual({
      lines: ['2 passed, 0 failed, 0 skipped'],
      status: 0,
    })
  })

  it('name a file that could not be loaded', () => {
    const files = [{ name: 'x.test.ts', status: 'failed', message: 'no such module\n at x', assertionResults: [] }]
    expect(summary(JSON.stringify({ testResults: files }), '1')).toEqual({
      lines: ['failed: x.test.ts: no such module', '0 passed, 1 failed, 0 skipped'],
      status: 1,
    })
  })

  it.each([
    ['broken hook\n at y', 'broken hook'],
    ['', 'a hook failed'],
  ])('name a file whose hook failed: %j', (message, said) => {
    const assertionResults = [test('passed', 'a'), test('skipped', 'b')]
    const files = [{ name: 'y.test.ts', status: 'failed', message, assertionResults }]
    expect(summary(JSON.stringify({ testResults: files }), '1')).toEqual({
      lines: ['skipped: b', `failed: y.test.ts: ${said}`, '1 passed, 1 failed, 1 skipped'],
      status: 1,
    })
  })

  it('count a gate that failed while every test passed', () => {
    const run = summary(report(test('passed', 'a')), '1')
    expect(run.lines).toEqual([
      'failed: a gate: format, lint, types or coverage (see above)',
      '1 passed, 1 failed, 0 skipped',
    ])
    expect(run.status).toBe(1)
  })

  it.each([
    ['no report', undefined],
    ['half a report', '{"testResults":['],
  ])('fail when there is %s', (_, text) => {
    const run = summary(text)
    expect(run.lines[0]).toMatch(/^failed: no test report: ./)
    expect(run.lines.at(-1)).toBe('0 passed, 1 failed, 0 skipped')
    expect(run.status).toBe(1)
  })
})
