import { type ListedAgent, ModelList } from '../../src/codec-kit/index.ts'
import type { FrontContext, FrontLink, FrontPorts } from '../../src/contract/index.ts'
import { type JsonText, object, quote } from '../../src/model/index.ts'
import { errorBody, invalidRequest } from './errors.ts'

/** A client of `GET /v1/models`: the agents are the models. */
export function modelList(context: FrontContext, ports: FrontPorts): FrontLink {
  return new ModelList(context, ports, {
    list: listJson,
    one: modelJson,
    error: errorBody,
    unknown: (why) => ({ ...invalidRequest(why, 'model'), code: 'agent-not-found' }),
  })
}

function listJson(agents: readonly ListedAgent[]): JsonText {
  return object([
    ['object', '"list"'],
    ['data', `[${agents.map(modelJson).join(',')}]`],
  ])
}

/** An agent as a model. Nobody knows when it was made. */
function modelJson({ name, protocol }: ListedAgent): JsonText {
  return object([
    ['id', quote(name)],
    ['object', '"model"'],
    ['created', '0'],
    ['owned_by', quote(protocol)],
  ])
}
