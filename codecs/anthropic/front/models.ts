import type { FrontContext, FrontLink, FrontPorts } from '../../../src/contract/index.ts'
import {
  type AgentsReply,
  type Fault,
  fault,
  type JsonText,
  type LinkEvent,
  object,
  parse,
  quote,
} from '../../../src/model/index.ts'
import { errorJson } from '../errors.ts'

/** A client of `GET /v1/models`: the agents are the models. */
export class ModelsFront implements FrontLink {
  readonly headers: Record<string, string>
  readonly #context: FrontContext
  readonly #ports: FrontPorts

  constructor(context: FrontContext, ports: FrontPorts) {
    this.#context = context
    this.#ports = ports
    this.headers = { 'request-id': `req_${ports.newId()}` }
  }

  decode(): void {
    const answer = { form: 'whole', framing: 'body', onDisconnect: 'cancel', asks: 'never' } as const
    this.#ports.command({ exchange: this.#ports.newId(), type: 'query', what: 'agents' }, answer)
  }

  encode(): void {}

  encodeLink(event: LinkEvent): void {
    if (event.type !== 'command-reply') return
    if (event.fault) {
      this.encodeFault(event.fault)
      return
    }
    const { agents = [] } = parse(event.data ?? '{}') as Partial<AgentsReply>
    const named = this.#context.params?.['model']
    const found = agents.find(({ name }) => name === named)
    if (named === undefined) this.#ports.send(listJson(agents))
    else if (found) this.#ports.send(modelJson(found))
    else this.#ports.fault(noModel(named, agents), 'continues', event.exchange)
  }

  encodeFault(found: Fault): void {
    this.#ports.send(errorJson(found, this.headers['request-id']!))
  }
}

type Agent = AgentsReply['agents'][number]

/** The whole list is one page. */
function listJson(agents: readonly Agent[]): JsonText {
  const idOf = (agent: Agent | undefined): JsonText => (agent ? quote(agent.name) : 'null')
  return object([
    ['data', `[${agents.map(modelJson).join(',')}]`],
    ['has_more', 'false'],
    ['first_id', idOf(agents[0])],
    ['last_id', idOf(agents.at(-1))],
  ])
}

/** An agent as a model. Nobody knows when it was made. */
function modelJson({ name }: Agent): JsonText {
  return object([
    ['type', '"model"'],
    ['id', quote(name)],
    ['display_name', quote(name)],
    ['created_at', '"1970-01-01T00:00:00Z"'],
  ])
}

function noModel(name: string, agents: readonly Agent[]): Fault {
  const there = agents.map((agent) => agent.name).join(', ')
  return fault('agent-not-found', `There is no model "${name}"; there are: ${there}.`)
}
