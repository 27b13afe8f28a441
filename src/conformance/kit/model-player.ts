import { endpointPlayer, streamedAnswer, wholeAnswer } from './endpoint-player.ts'
import type { JsonRecord, Player, PlayerContext, Reaction } from './suite.ts'

/** The name of the model that stand-ins of servers have. */
export const NAME = 'conformance-1'
/** The time when it was made, in seconds since the epoch. */
export const CREATED = 1_767_225_600

/** A server of models, as far as they differ. */
export interface PlayedModel {
  /** The answer to a request without a body. */
  get: (path: string, method: string) => readonly Reaction[]
  /** The reason why a request is refused; undefined for one that is answered. No body means that it was no JSON. */
  refusal: (body: JsonRecord | undefined, path: string) => readonly Reaction[] | undefined
  /** A whole answer, and the events of a streamed one, named by their type or not. */
  whole: (body: JsonRecord) => JsonRecord
  events: (body: JsonRecord) => readonly (JsonRecord | string)[]
  named: boolean
  /** Headers of every answer. */
  head?: readonly Reaction[]
}

/** Plays a server of models: its list of models, answers, and calls where a tool is offered. */
export function modelPlayer(model: PlayedModel): (context: PlayerContext) => Player {
  const answer = (body: JsonRecord): readonly Reaction[] =>
    body['stream'] === true ? streamedAnswer(model.events(body), model.named) : wholeAnswer(model.whole(body))
  return endpointPlayer((path, method, body) => [
    ...(model.head ?? []),
    ...(method === 'POST' ? (model.refusal(body, path) ?? answer(body!)) : model.get(path, method)),
  ])
}

/** True for the name of a model that there is not. */
export function isUnknown({ model }: JsonRecord): boolean {
  return String(model).startsWith('no-such')
}
