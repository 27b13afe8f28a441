/**
 * Every agent that is installed, behind clients of four protocols: turns of one session, a tool that is allowed and one
 * that is denied, an edited file, a cancel in a tool, the end of its process, a model that fails.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { pidsOf, until } from '../kit/processes.ts'
import { AgentBench, DOORS } from './agent-bench.ts'
import { PROGRAMS } from './agent-programs.ts'
import { describeLarge } from './kit.ts'

// Some start three times in a test, for seconds of a processor each.
vi.setConfig({ testTimeout: 300_000 })

const JSON_BODY = { 'content-type': 'application/json' }
const THOUGHT = { ok: true, text: 'thought about it' }

for (const [place, program] of PROGRAMS.entries()) {
  describeLarge(`${program.name} as the agent`, [program.file], () => {
    let bench: AgentBench
    beforeAll(async () => {
      bench = await AgentBench.of(program)
    })
    afterAll(() => bench?.close())

    const logged = (): string => bench.gateway.logged.join('\n')
    const file = (name: string): string => join(bench.work, name)
    /** A command that runs until it is ended, and the text that its process is known by. */
    const endless = (door: number): [command: string, sign: string] => {
      const sign = `time.sleep(${54400 + 10 * place + door})`
      return [program.calls.run(`python3 -c "import time; ${sign}"`), sign]
    }

    describe.each(DOORS)('for %s', (door) => {
      test('two turns of one session', async () => {
        const first = await bench.ask(door, 'it', 'Hello [[think]]', `plain-${door}`)
        expect(first, logged()).toMatchObject(THOUGHT)
        expect(await bench.ask(door, 'it', 'Again [[think]]', first.session)).toMatchObject(THOUGHT)
        expect(bench.wasAsked('Again [[think]]', 'Hello [[think]]')).toBe(true)
      })

      test.each(['allow', 'deny'] as const)('a tool, to which the answer is %s', async (kind) => {
        const written = file(`${kind}-${door}.txt`)
        const text = program.calls.run(`echo done > ${written}`)
        const { ended } = await bench.decide({ door, text, session: `${kind}-${door}`, kind })
        await ended
        expect(existsSync(written), logged()).toBe(kind === 'allow')
      })

      test('a file is edited', async () => {
        const edited = file(`edited-${door}.txt`)
        writeFileSync(edited, 'teh\n')
        const [last, ...earlier] = [...program.calls.edit(edited)].reverse()
        for (const text of earlier)
          expect(await bench.ask(door, 'it', text, `edit-${door}`)).toMatchObject({ ok: true })
        const { ended } = await bench.decide({ door, text: last!, session: `edit-${door}`, kind: 'allow' })
        expect(await ended, logged()).toMatchObject({ ok: true })
        expect(readFileSync(edited, 'utf8')).toBe('the\n')
      })

      test('a cancel ends the command that runs, and the session goes on', async () => {
        const [text, sign] = endless(DOORS.indexOf(door))
        const { ended } = await bench.decide({ door, text, session: `cancel-${door}`, kind: 'allow' })
        await until(() => pidsOf(sign).length > 0)
        await bench.cancel()
        expect(await ended).toMatchObject({ ok: false })
        await until(() => pidsOf(sign).length === 0)
        expect(await bench.ask(door, 'it', 'Still there? [[think]]', `cancel-${door}`)).toMatchObject(THOUGHT)
      })

      test('a session goes on after its process was killed', async () => {
        const isFailure = (line: string): boolean => line.startsWith('an agent failed') && line.includes('"mortal"')
        const failures = (): number => bench.gateway.logged.filter(isFailure).length
        const before = failures()
        await bench.ask(door, 'mortal', `Remember 7${door}. [[think]]`, `killed-${door}`)
        for (const pid of pidsOf(bench.folder)) process.kill(pid, 'SIGKILL')
        await until(() => pidsOf(bench.folder).length === 0)
        await until(() => failures() > before)
        const answer = await bench.ask(door, 'mortal', `What was it, ${door}? [[think]]`, `killed-${door}`)
        expect(answer, logged()).toMatchObject(THOUGHT)
        expect(bench.wasAsked(`What was it, ${door}?`, `Remember 7${door}.`)).toBe(true)
        if (door === 'native') expect(answer.raw.includes('session-reset')).toBe(!program.resumes)
      })

      test('a model that refuses the request fails the turn', async () => {
        const failed = await bench.ask(door, 'it', '[[status 400]]', `refused-${door}`)
        expect([failed.ok, bench.failure(door, failed)]).toEqual([false, expect.any(String)])
      })
    })

    test('a copy of a session knows what was said, and goes its own way', async () => {
      await bench.ask('native', 'it', 'Remember 8. [[think]]', 'trunk')
      await bench.copy('trunk', 'branch')
      const left = await bench.ask('native', 'it', 'To the left. [[think]]', 'branch')
      expect(left, logged()).toMatchObject(THOUGHT)
      expect(left.raw.includes('session-reset')).toBe(!program.copies)
      expect(await bench.ask('native', 'it', 'To the right. [[think]]', 'trunk')).toMatchObject(THOUGHT)
      const heard = [bench.wasAsked('Remember 8.', 'To the left.'), bench.wasAsked('To the left.', 'To the right.')]
      expect(heard).toEqual([true, false])
    })

    const { plan, question } = program.calls
    test.skipIf(plan === undefined)('a plan is shown', async () => {
      await bench.ask('native', 'it', plan!, 'plan')
      const { turns } = (await (await fetch(`${bench.gateway.url}/v1/turns?session=plan`)).json()) as {
        turns: { turn: string }[]
      }
      const followed = await fetch(`${bench.gateway.url}/v1/turns/${turns[0]!.turn}/events`, {
        headers: { accept: 'application/x-ndjson' },
      })
      expect(await followed.text()).toMatch(/"type":"plan".*"content":"One","status":"pending"/)
    })

    test.skipIf(question === undefined)('a question to the user is a form, and its answer arrives', async () => {
      const asked = await bench.ask('native', 'it', question!, 'question')
      const { continuation, asks } = JSON.parse(asked.raw) as {
        continuation: string
        asks: { ask: string; question: { kind: string; schema: { properties: Record<string, unknown> } } }[]
      }
      expect(asks).toMatchObject([{ question: { kind: 'input', message: 'Which one?' } }])
      const { ask, question: form } = asks[0]!
      const reply = { kind: 'input', values: { [Object.keys(form.schema.properties)[0]!]: 'B' } }
      const body = JSON.stringify({ type: 'ask-reply', target: { continuation }, ask, reply })
      const answered = await fetch(`${bench.gateway.url}/v1/turns`, { method: 'POST', headers: JSON_BODY, body })
      expect(await answered.json()).toMatchObject({ outcome: 'completed', text: expect.stringMatching(/"B"/) })
    })

    test.skipIf(!program.shares)(
      'two sessions work in one process, and the cancel of one leaves the other alone',
      async () => {
        const [text, sign] = endless(DOORS.length)
        const said = (words: string, session: string) => bench.ask('zene', 'shared', `${words} [[think]]`, session)
        await said('Here is one.', 'one')
        const running = bench.ask('zene', 'shared', text, 'one')
        await until(() => pidsOf(sign).length > 0)
        expect(await said('Here is two.', 'two'), logged()).toMatchObject(THOUGHT)
        await bench.cancel()
        expect(await running).toMatchObject({ ok: false })
        await said('Two again.', 'two')
        await said('One again.', 'one')
        const pairs = ['one', 'two'].flatMap((here) =>
          ['One', 'Two'].map((again) => bench.wasAsked(`Here is ${here}.`, `${again} again.`)),
        )
        expect(pairs).toEqual([true, false, false, true])
      },
    )
  })
}
