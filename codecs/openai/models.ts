import type { FrontContext, FrontLink, FrontPorts, InputFate } from '../../src/contract/index.ts'
import {
  type AgentsReply,
  type Fault,
  type Id,
  type JsonText,
  type LinkEvent,
  object,
  parse,
  quote,
} from '../../src/model/index.ts'
import { errorBody, invalidRequest } from './errors.ts'

/** A client of `GET /v1/models`: the agents are the models. */
export class ModelsFront implements FrontLink {
  readonly #context: FrontContext
  readonly #ports: FrontPorts

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
  }

  decode(): void {
    const exchange = this.#ports.newId()
    const answer = { form: 'whole', framing: 'body', onDisconnect: 'cancel', asks: 'never' } as const
    this.#ports.command({ exchange, type: 'query', what: 'agents' }, answer)
  }

  encode(): void {}

  encodeLink(event: LinkEvent): void {
    if (event.type !== 'command-reply') return
    if (event.fault) {
      this.#ports.send(errorBody(event.fault))
      return
    }
    const { agents = [] } = parse(event.data ?? '{}') as Partial<AgentsReply>
    const named = this.#context.params?.['model']
    if (named === undefined) this.#ports.send(listJson(agents))
    else {
      const found = agents.find(({ name }) => name === named)
      if (found) this.#ports.send(modelJson(found))
      else this.#ports.fault(noModel(named, agents), 'continues', event.exchange, 404)
    }
  }

  encodeFault(found: Fault, _exchange: Id | undefined, _input: InputFate): void {
    this.#ports.send(errorBody(found))
  }
}

type Agent = AgentsReply['agents'][number]

function listJson(agents: readonly Agent[]): JsonText {
  return object([
    ['object', '"list"'],
    ['data', `[${agents.map(modelJson).join(',')}]`],
  ])
}

/** An agent as a model. Nobody knows when it was made. */
function modelJson({ name, protocol }: Agent): JsonText {
  return object([
    ['id', quote(name)],
    ['object', '"model"'],
    ['created', '0'],
    ['owned_by', quote(protocol)],
  ])
}

function noModel(name: string, agents: readonly Agent[]): Fault {
  const there = agents.map((agent) => agent.name).join(', ')
  return { ...invalidRequest(`There is no model "${name}"; there are: ${there}.`, 'model'), code: 'agent-not-found' }
}
