import type { z } from 'zod'
import type { SourceDocument } from './document.ts'
import { type Path, suggest, valueAt } from './errors.ts'
import { KEY_SEPARATOR } from './schema.ts'

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'must be text',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
  array: 'must be a list',
  object: 'must be a table of keys and values',
  record: 'must be a table of keys and values',
}

/** Reports zod's issues with the value of `source`, in our own words and with their positions. */
export function reportIssues(source: SourceDocument, value: unknown, issues: readonly z.core.$ZodIssue[]): void {
  for (const issue of issues) {
    const path = issue.path as Path
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) reportUnknownKey(source, [...path, key], issue.message.split(KEY_SEPARATOR))
    } else if (issue.code === 'invalid_key') {
      source.report(path, issue.issues[0]?.message ?? issue.message, undefined, 'key')
    } else if (issue.code === 'invalid_value') {
      reportChoice(source, path, valueAt(value, path), issue.values.map(String))
    } else {
      const [message, hint] = describeIssue(issue, valueAt(value, path))
      source.report(path, message, hint)
    }
  }
}

/** Reports a key that is not allowed at its place. */
export function reportUnknownKey(source: SourceDocument, path: Path, known: readonly string[]): void {
  source.report(path, 'unknown key', suggest(String(path.at(-1)), known), 'key')
}

function reportChoice(source: SourceDocument, path: Path, value: unknown, choices: readonly string[]): void {
  const list = `must be ${choices.length > 1 ? 'one of ' : ''}${choices.join(', ')}`
  const hint = typeof value === 'string' ? suggest(value, choices) : undefined
  source.report(path, list, hint?.startsWith('did') ? hint : undefined)
}

function describeIssue(issue: z.core.$ZodIssue, value: unknown): [message: string, hint?: string] {
  switch (issue.code) {
    case 'invalid_type': {
      if (value === undefined) return ['is missing']
      const message = EXPECTED[issue.expected] ?? `must be ${issue.expected}`
      if (value === null) return [`is empty: it ${message}`]
      const quotable = issue.expected === 'string' && (typeof value === 'number' || typeof value === 'boolean')
      return quotable ? [message, 'write it in quotes'] : [message]
    }
    case 'too_small':
      return [issue.origin === 'string' ? issue.message : `must be at least ${issue.minimum}`]
    case 'too_big':
      return [`must be at most ${issue.maximum}`]
    default:
      return [issue.message]
  }
}
