import type { FrontContext, FrontLink, FrontPorts } from '../contract/index.ts'
import { type AgentsReply, type Fault, type JsonText, type LinkEvent, parse } from '../model/index.ts'
import { agentOf } from './model-client.ts'

/** An agent that a client may use as a model. */
export type ListedAgent = AgentsReply['agents'][number]

/** The words of a protocol for a list of models. */
export interface ModelListWords {
  /** Headers of its answers. */
  headers?: Readonly<Record<string, string>>
  list(agents: readonly ListedAgent[]): JsonText
  one(agent: ListedAgent): JsonText
  error(found: Fault): JsonText
  /** The refusal of an unknown model; `why` names the known ones. */
  unknown(why: string): Fault
}

/** A client that asks for the models (`GET …/models`, `…/models/:model`): they are the agents. */
export class ModelList implements FrontLink {
  readonly headers: Readonly<Record<string, string>>
  readonly #named: string | undefined
  readonly #ports: FrontPorts
  readonly #words: ModelListWords

  constructor({ params }: FrontContext, ports: FrontPorts, words: ModelListWords) {
    this.headers = words.headers ?? {}
    this.#named = params?.['model']
    this.#ports = ports
    this.#words = words
  }

  decode(): void {
    const answer = { form: 'whole', framing: 'body', onDisconnect: 'cancel', asks: 'never' } as const
    this.#ports.command({ exchange: this.#ports.newId(), type: 'query', what: 'agents' }, answer)
  }

  encode(): void {}

  encodeLink(event: LinkEvent): void {
    if (event.type !== 'command-reply') return
    const { exchange, data, fault } = event
    if (fault) {
      this.encodeFault(fault)
      return
    }
    const { agents } = parse(data!) as AgentsReply
    const name = this.#named
    if (name === undefined) {
      this.#ports.send(this.#words.list(agents))
      return
    }
    // A name may say which model of its own the agent is to use.
    const found = agents.find((agent) => agent.name === agentOf(name)[0])
    if (found) this.#ports.send(this.#words.one({ ...found, name }))
    else this.#ports.fault(this.#words.unknown(unknownModel(name, agents)), 'continues', exchange, 404)
  }

  encodeFault(found: Fault): void {
    this.#ports.send(this.#words.error(found))
  }
}

function unknownModel(name: string, agents: readonly ListedAgent[]): string {
  return `There is no model "${name}"; there are: ${agents.map((agent) => agent.name).join(', ')}.`
}
