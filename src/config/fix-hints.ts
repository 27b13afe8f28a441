import { isRecord, parseObject } from '../model/index.ts'
import { type ConfigProblem, formatProblem } from './errors.ts'

/**
 * The problems of a configuration, each with a line that says what to write instead: the nearest word, else what its key
 * takes, as the schema for editors has it (JSON text).
 */
export function fixHints(problems: readonly ConfigProblem[], schemaText: string): string {
  const schema = parseObject(schemaText)
  return problems
    .map((problem) => {
      const fix = fixOf(problem, schema)
      return `${formatProblem(problem)}\n${fix === undefined ? '' : `  fix: ${fix}\n`}`
    })
    .join('')
}

function fixOf({ line, path, message, hint }: ConfigProblem, schema: unknown): string | undefined {
  const near = /^did you mean "(.+)"\?$/.exec(hint ?? '')?.[1]
  const key = path.split('.').at(-1)!
  if (near !== undefined)
    return message === 'unknown key' ? `in line ${line} write "${near}" for "${key}"` : `in line ${line} write ${near}`
  return hint ?? descriptionAt(schema, path)
}

/** The description of a key, or of the nearest key above it that has one. */
function descriptionAt(schema: unknown, path: string): string | undefined {
  let at = schema
  let found: string | undefined
  for (const step of path.split(/\.|(?=\[)/)) {
    at = inner(at, step)
    if (isRecord(at) && typeof at['description'] === 'string') found = at['description']
  }
  return found
}

function inner(schema: unknown, step: string): unknown {
  if (!isRecord(schema)) return undefined
  const { properties, items, additionalProperties } = schema
  if (step.startsWith('[')) return items
  return isRecord(properties) && Object.hasOwn(properties, step) ? properties[step] : additionalProperties
}
