import { describe, expect, test } from 'vitest'
import { isRecord, parse } from '../../src/model/index.ts'
import { newCampaign } from './campaign.ts'
import { brokenBy } from './fuzz.ts'
import type { Case } from './targets.ts'

/**
 * Any member of any message may be what no program expects: an object that cannot be converted to text, in a list, or a
 * list that is too deep to be written again. Each member of the samples is such a value once, by its path.
 */
const DEEP = 10_000
const ODD = ['{"toString":1}', '[[{"toString":1}]]', '['.repeat(DEEP) + ']'.repeat(DEEP)] as const
const MARK = '\u0000odd'

const { targets, seeds } = await newCampaign()

/** The paths of all members of a value, such as `a.0.b`. */
function pathsIn(value: unknown, path: readonly string[] = []): string[][] {
  const own = Array.isArray(value) || isRecord(value) ? Object.entries(value) : []
  return own.flatMap(([key, member]) => [[...path, key], ...pathsIn(member, [...path, key])])
}

/** The value with the mark at a path. */
function marked(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return MARK
  if (Array.isArray(value)) return value.map((one, at) => (String(at) === key ? marked(one, rest) : (one as unknown)))
  return { ...(value as object), [key]: marked((value as Record<string, unknown>)[key], rest) }
}

/** The cases in which one member of one message is odd; each kind of message and path once. */
function oddCases(all: readonly Case[]): Case[] {
  const seen = new Set<string>()
  return all.flatMap((one) => {
    const lines = one.wire.toString().split('\n')
    return lines.flatMap((line, at) => {
      const prefix = /^(?:data: )?/.exec(line)![0]
      const message = parse(line.slice(prefix.length))
      if (!isRecord(message)) return []
      return pathsIn(message).flatMap((path) => {
        const name = [message['type'], message['method'], message['event'], ...path]
          .map((part) => (typeof part === 'string' ? part : ''))
          .join('.')
        if (seen.has(name)) return []
        seen.add(name)
        const text = JSON.stringify(marked(message, path))
        return ODD.map((odd) => {
          const changed = prefix + text.replace(JSON.stringify(MARK), () => odd)
          return { ...one, wire: Buffer.from(lines.with(at, changed).join('\n')) }
        })
      })
    })
  })
}

describe.each(targets.map((target) => [target.name, target] as const))('%s', (_name, target) => {
  test('reads messages whose members are odd', () => {
    const found = oddCases(seeds.get(target)!).map((one) => brokenBy(target, one, [])?.message.slice(0, 300))
    expect([...new Set(found.filter((message) => message !== undefined))]).toEqual([])
  })
})
