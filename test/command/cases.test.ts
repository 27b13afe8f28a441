import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { TURNPIKE } from '../kit/gateway.ts'

/**
 * Command lines with what they read and write, as Markdown: `cases/*.md`. A case is a heading and the fenced blocks below
 * it, up to the next heading: `sh` (the command, one line), `stdin`, `file NAME` (put into its folder before), and what
 * is expected: `stdout`, `stderr`, `exit` (0 when there is none). `ACCEPT=1` rewrites the expected blocks.
 */
const FOLDER = join(import.meta.dirname, 'cases')
const ACCEPT = process.env['ACCEPT'] === '1'
/** A process for every case, on a machine that may be busy. */
const SLOW_MS = 60_000
const EXPECTED = ['stdout', 'stderr', 'exit'] as const

/** The sources are stripped and compiled once, not for every case. */
const env = { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'turnpike-compile-cache') }

type Result = Record<(typeof EXPECTED)[number], string>

interface Case {
  title: string
  /** The heading, the prose and the blocks that are no expectation, as they are in the file. */
  given: string
  command: string
  stdin: string
  files: Map<string, string>
  expected: Result
}

const BLOCK = /^```(\w+)(?: (\S+))?\n([\s\S]*?)^```\n?/gm

function readCase(text: string): Case {
  const blocks = [...text.matchAll(BLOCK)].map(([, kind, name, body]) => ({ kind: kind!, name, body: body! }))
  const body = (kind: string): string => blocks.find((block) => block.kind === kind)?.body ?? ''
  const given = text.replace(BLOCK, (block, kind: string) => (EXPECTED.includes(kind as 'exit') ? '' : block))
  return {
    title: /^#+ (.*)$/m.exec(text)![1]!,
    given: given.replace(/\n{3,}/g, '\n\n').trim(),
    command: body('sh').trim(),
    stdin: body('stdin'),
    files: new Map(blocks.flatMap(({ kind, name, body: held }) => (kind === 'file' ? [[name!, held]] : []))),
    expected: { stdout: body('stdout'), stderr: body('stderr'), exit: body('exit').trim() || '0' },
  }
}

/** The sections of a file; one without a command is prose. */
function sectionsOf(file: string): string[] {
  return readFileSync(join(FOLDER, file), 'utf8').split(/^(?=#+ )/m)
}

/** The words of a command line; double quotes hold a word together. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)
}

function run({ command, stdin, files }: Case): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-case-'))
  for (const [name, text] of files) writeFileSync(join(folder, name), text)
  const [program, ...args] = wordsOf(command)
  if (program !== 'turnpike') throw new Error(`a case runs turnpike, not ${program}`)
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [TURNPIKE, ...args], { cwd: folder, env })
    const made: Result = { stdout: '', stderr: '', exit: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      made.stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      made.stderr += text
    })
    child.on('close', (code) => {
      rmSync(folder, { recursive: true, force: true })
      resolve({ ...made, exit: String(code) })
    })
    // A command that was refused reads nothing.
    child.stdin.on('error', () => {})
    child.stdin.end(stdin)
  })
}

function written({ given }: Case, made: Result): string {
  const blocks = EXPECTED.flatMap((kind) => {
    if (kind === 'exit') return made.exit === '0' ? [] : [`\`\`\`exit\n${made.exit}\n\`\`\``]
    return made[kind] === '' ? [] : [`\`\`\`${kind}\n${made[kind]}\`\`\``]
  })
  return `${[given, ...blocks].join('\n\n')}\n\n`
}

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.md'))) {
  describe(file, () => {
    const sections = sectionsOf(file)
    const accepted = [...sections]
    sections.forEach((section, at) => {
      const given = readCase(section)
      if (given.command === '') return
      test.concurrent(
        given.title,
        async () => {
          const made = await run(given)
          accepted[at] = written(given, made)
          if (!ACCEPT) expect(made).toEqual(given.expected)
        },
        SLOW_MS,
      )
    })
    if (ACCEPT) {
      test('rewrites what is expected', () => {
        const path = join(FOLDER, file)
        writeFileSync(path, `${accepted.join('').trimEnd()}\n`)
      })
    }
  })
}
