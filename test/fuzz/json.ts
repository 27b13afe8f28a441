/** Changes of JSON by its structure: what a program that is nearly right would write. */
import { isRecord, parse } from '../../src/model/index.ts'
import type { Random } from './random.ts'

/** JSON as a tree that holds what a parsed value cannot: equal keys, `__proto__`, numbers of any length, text that is no JSON. */
type Tree = { raw: string } | { entries: [string, Tree][] } | { items: Tree[] }

/** Where a tree hangs in its parent: an entry or an item. */
interface Place {
  siblings: Tree[] | [string, Tree][]
  at: number
}

/** Values that are of another type, or that a reader may not expect of their own. */
const ODD: readonly string[] = [
  ...['null', 'true', 'false', '0', '-0', '1', '-1', '0.5', '1e400', '-1e400', '5e-324', '9007199254740993'],
  ...['1234567890123456789', '""', '" "', '"\\u0000"', '"\\ud800"', '"\\udc00x"', '"\u2028\u2029\u0085"', '"1"'],
  ...['[]', '[[]]', '[null]', '[{}]', '{}', '{"":""}', '{"__proto__":{"a":1}}', '{"type":"text"}', '"__proto__"'],
  ...['"error"', '"end"', '"\\r\\n"', '"a\\nb"', '"\ufeff"', '"constructor"', '[1,"a",null,{"text":1}]'],
  ...['1E1000', '{"toString":1,"valueOf":1}', '[[{"toString":1}]]', '{"length":-1}', '{"then":1,"toJSON":1}'],
]

const KEYS: readonly string[] = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '',
  'type',
  'id',
  'x-new',
  'length',
]

/** What an earlier change has made deep. */
const DEEP = /\[{50}|(?:\{"a":){50}/

/** The text with one to three changes within; undefined when it is no JSON object or list. */
export function changedJson(text: string, random: Random): string | undefined {
  const value = DEEP.test(text) ? undefined : parse(text)
  if (typeof value !== 'object' || value === null) return undefined
  const tree = planted(value)
  for (let changes = 1 + random.below(3); changes > 0; changes -= 1) change(tree, random)
  return written(tree)
}

function planted(value: unknown): Tree {
  if (Array.isArray(value)) return { items: value.map(planted) }
  if (isRecord(value)) return { entries: Object.entries(value).map(([key, held]) => [key, planted(held)]) }
  return { raw: JSON.stringify(value) }
}

function written(tree: Tree): string {
  if ('raw' in tree) return tree.raw
  if ('items' in tree) return `[${tree.items.map(written).join(',')}]`
  return `{${tree.entries.map(([key, held]) => `${JSON.stringify(key)}:${written(held)}`).join(',')}}`
}

function places(tree: Tree, found: Place[] = []): Place[] {
  const siblings = 'items' in tree ? tree.items : 'entries' in tree ? tree.entries : []
  for (let at = 0; at < siblings.length; at += 1) {
    found.push({ siblings, at })
    places(treeAt({ siblings, at }), found)
  }
  return found
}

function treeAt({ siblings, at }: Place): Tree {
  const one = siblings[at]!
  return Array.isArray(one) ? one[1] : one
}

function replace({ siblings, at }: Place, tree: Tree): void {
  const one = siblings[at]!
  siblings[at] = Array.isArray(one) ? [one[0], tree] : tree
}

function change(tree: Tree, random: Random): void {
  const all = places(tree)
  if (all.length === 0) return
  const place = random.pick(all)
  const { siblings, at } = place
  const one = siblings[at]!
  switch (random.below(9)) {
    case 0:
      siblings.splice(at, 1)
      return
    case 1:
      // The same key twice, the second time with another value as like as not.
      siblings.splice(at, 0, (Array.isArray(one) ? [one[0], random.once(2) ? odd(random) : one[1]] : one) as never)
      return
    case 2:
      if (Array.isArray(one)) one[0] = random.pick(KEYS)
      else replace(place, odd(random))
      return
    case 3:
      siblings.splice(at, 0, (Array.isArray(one) ? [random.pick(KEYS), odd(random)] : odd(random)) as never)
      return
    case 4: {
      const other = random.pick(all)
      const [mine, yours] = [treeAt(place), treeAt(other)]
      // A tree that would hold itself has no end.
      if ('raw' in mine && 'raw' in yours) {
        replace(place, yours)
        replace(other, mine)
      } else replace(place, 'raw' in yours ? yours : odd(random))
      return
    }
    case 5:
      replace(place, varied(treeAt(place), random))
      return
    default:
      replace(place, odd(random))
  }
}

function odd(random: Random): Tree {
  if (random.once(40)) {
    const depth = random.pick([15, 100, 5000])
    return {
      raw: random.once(2) ? '['.repeat(depth) + ']'.repeat(depth) : `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
    }
  }
  return { raw: random.pick(ODD) }
}

/** The same kind of value, another one. */
function varied(tree: Tree, random: Random): Tree {
  if (!('raw' in tree)) return { items: [tree, tree] }
  const value = parse(tree.raw)
  if (typeof value === 'number') return { raw: String(value * random.pick([-1, 10, 1e15, 0.001])) }
  if (typeof value !== 'string') return odd(random)
  const cut = random.below(value.length + 1)
  return {
    raw: JSON.stringify(
      random.pick([
        `${value}${value}`,
        value.slice(0, cut),
        value.slice(cut),
        `${value}-2`,
        ` ${value}`,
        value.toUpperCase(),
        `${value}\n`,
      ]),
    ),
  }
}
