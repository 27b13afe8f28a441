import {
  type AnyCodec,
  type BackDialect,
  type Dialect,
  type FrontDialect,
  hasBack,
  hasFront,
} from '../contract/index.ts'
import { type Carriage, predictPair } from '../engine/index.ts'
import { ITEMS, type Item } from '../model/index.ts'
import { TOPICS, type Topic } from './topics.ts'

/** A dialect with its name: the protocol's, followed by `@` and the dialect when it is not the default. */
export interface Named<D extends Dialect = Dialect> {
  readonly name: string
  readonly dialect: D
}

/** The outcome of every item between one client's dialect and one agent's. */
export interface Pair {
  readonly client: string
  readonly agent: string
  readonly counts: Readonly<Record<Carriage, number>>
  readonly items: Readonly<Record<Item, Carriage>>
  readonly topics: Readonly<Record<Topic, Carriage>>
}

/** All dialects, each once. A dialect that a second protocol has as its default gets the name of that protocol. */
export function namedDialects(codecs: readonly AnyCodec[]): Named[] {
  const names = new Map<Dialect, string>()
  for (const codec of codecs) {
    for (const [index, [name, dialect]] of Object.entries(codec.dialects).entries()) {
      if (index === 0) names.set(dialect, codec.name)
      else if (!names.has(dialect)) names.set(dialect, `${codec.name}@${name}`)
    }
  }
  return [...names].map(([dialect, name]) => ({ name, dialect }))
}

/** Every client's dialect paired with every agent's. */
export function pairsOf(dialects: readonly Named[]): Pair[] {
  return dialects.flatMap(({ name: client, dialect: front }) =>
    hasFront(front)
      ? dialects.flatMap(({ name: agent, dialect: back }) =>
          hasBack(back) ? [pairOf({ name: client, dialect: front }, { name: agent, dialect: back })] : [],
        )
      : [],
  )
}

function pairOf(client: Named<FrontDialect>, agent: Named<BackDialect>): Pair {
  const [{ front }, { back }] = [client.dialect, agent.dialect]
  const items = predictPair(front.capabilities, back.capabilities, client.dialect === agent.dialect)
  const counts: Record<Carriage, number> = { kept: 0, served: 0, weakened: 0, lost: 0, absent: 0 }
  for (const item of ITEMS) counts[items[item]] += 1
  const topics = Object.fromEntries(
    Object.entries(TOPICS).map(([topic, of]) => [topic, topicOf(of.map((item) => items[item]))]),
  ) as Record<Topic, Carriage>
  return { client: client.name, agent: agent.name, counts, items, topics }
}

/** From the worst to the best: a topic has the outcome of the worst of its items that its sender can express. */
const WORST_FIRST: readonly Carriage[] = ['lost', 'weakened', 'served', 'kept', 'absent']

function topicOf(ways: readonly Carriage[]): Carriage {
  return WORST_FIRST.find((way) => ways.includes(way))!
}

/** The items of a pair that arrive in this way. */
export function itemsOf({ items }: Pair, way: Carriage): Item[] {
  return ITEMS.filter((item) => items[item] === way)
}
