import { type ListedAgent, ModelList } from '../../../src/codec-kit/index.ts'
import type { FrontContext, FrontLink, FrontPorts } from '../../../src/contract/index.ts'
import { fault, type JsonText, object, quote } from '../../../src/model/index.ts'
import { errorJson } from '../errors.ts'

/** A client of `GET /v1/models`: the agents are the models. */
export function modelList(context: FrontContext, ports: FrontPorts): FrontLink {
  const id = `req_${ports.newId()}`
  return new ModelList(context, ports, {
    headers: { 'request-id': id },
    list: listJson,
    one: modelJson,
    error: (found) => errorJson(found, id),
    unknown: (why) => fault('agent-not-found', why),
  })
}

/** The whole list is one page. */
function listJson(agents: readonly ListedAgent[]): JsonText {
  const idOf = (agent: ListedAgent | undefined): JsonText => (agent ? quote(agent.name) : 'null')
  return object([
    ['data', `[${agents.map(modelJson).join(',')}]`],
    ['has_more', 'false'],
    ['first_id', idOf(agents[0])],
    ['last_id', idOf(agents.at(-1))],
  ])
}

/** An agent as a model. Nobody knows when it was made. */
function modelJson({ name }: ListedAgent): JsonText {
  return object([
    ['type', '"model"'],
    ['id', quote(name)],
    ['display_name', quote(name)],
    ['created_at', '"1970-01-01T00:00:00Z"'],
  ])
}
