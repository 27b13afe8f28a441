import { canonicalJson, type Message, type Part } from '../../model/index.ts'
import { digestOf } from '../common/index.ts'

/** The conversation before a turn, as its client sends it. */
export interface Told {
  /** The session that the client names for it, and the user whom it names, as text. */
  named: string
  /** The digest of what was said. */
  digest: string
}

/**
 * A conversation as its session knows it, for `findKnown` of the store: two of different tenants, agents, named sessions
 * or users are never the same.
 */
export function knownAs({ named, digest }: Told, { tenant, agent }: { tenant: string; agent: string }): string {
  return digestOf(JSON.stringify([tenant, agent, named, digest]))
}

/**
 * The digest of a conversation that goes on with these messages; `before` is the digest of what was said before them,
 * absent where they are its beginning. Cutting a conversation before a message of the user changes nothing.
 *
 * The digest covers what clients of every protocol send back: the user's parts exactly; the assistant's text without
 * white space, because protocols join the messages of an answer differently; calls by name and arguments, results by
 * their call. It leaves out ids, reasoning, other parts of the assistant's messages, and fields of one protocol. It
 * also leaves out calls that the agent ran itself, which only some protocols show: their results are in the assistant's
 * messages, or `isOfClient` is false.
 */
export function conversationDigest(
  messages: readonly Message[],
  before = '',
  isOfClient: (tool: string) => boolean = () => true,
): string {
  const own = ownCalls(messages)
  const items = new Items((tool) => !own.has(tool) && isOfClient(tool))
  for (const { role, parts } of messages) for (const part of parts) items.add(role, part)
  return items.done().reduce((digest, item) => digestOf(digest + item), before)
}

/** The calls whose results an assistant's message has. */
function ownCalls(messages: readonly Message[]): ReadonlySet<string> {
  const own = new Set<string>()
  for (const { role, parts } of messages) {
    if (role === 'assistant') for (const part of parts) if (part.type === 'tool-reply') own.add(part.tool)
  }
  return own
}

/** The elements of a conversation that the digest covers, one text for each. */
class Items {
  readonly #isOfClient: (tool: string) => boolean
  readonly #done: string[] = []
  /** The assistant's text since the last other element. */
  #said = ''
  readonly #calls = new Map<string, string>()
  /** The results since the last other element, in any order. */
  #results: string[] = []

  /** `isOfClient` is true for calls that are compared. */
  constructor(isOfClient: (tool: string) => boolean) {
    this.#isOfClient = isOfClient
  }

  add(role: Message['role'], part: Part): void {
    switch (part.type) {
      case 'tool-call':
        if (this.#isOfClient(part.tool)) this.#call(part)
        return
      case 'tool-reply':
        if (this.#isOfClient(part.tool)) this.#result(part)
        return
      case 'text':
        if (role === 'assistant') this.#say(part.text)
        else if (part.text !== '') this.#put(JSON.stringify([role, part.text]))
        return
      case 'reasoning':
        return
      default:
        if (role !== 'assistant') this.#put(JSON.stringify([role, contentOf(part)]))
    }
  }

  done(): readonly string[] {
    this.#flush()
    return this.#done
  }

  #say(text: string): void {
    if (this.#results.length > 0) this.#flush()
    this.#said += text.replace(/\s+/g, '')
  }

  #call({ tool, name, args }: Part & { type: 'tool-call' }): void {
    const call = JSON.stringify([name, canonicalJson(args)])
    this.#calls.set(tool, call)
    this.#put(`call ${call}`)
  }

  #result({ tool, parts }: Part & { type: 'tool-reply' }): void {
    this.#endText()
    this.#results.push(`result ${this.#calls.get(tool) ?? ''} ${JSON.stringify(parts.map(contentOf))}`)
  }

  #put(item: string): void {
    this.#flush()
    this.#done.push(item)
  }

  #flush(): void {
    this.#endText()
    this.#done.push(...this.#results.sort())
    this.#results = []
  }

  #endText(): void {
    if (this.#said !== '') this.#done.push(`said ${this.#said}`)
    this.#said = ''
  }
}

/** The content of a part, with its members in a fixed order. */
function contentOf({ ext: _, ...part }: Part): unknown {
  return Object.entries(part).sort(([one], [other]) => (one < other ? -1 : 1))
}
