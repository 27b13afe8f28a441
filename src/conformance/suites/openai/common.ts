import {
  type AgentRow,
  type AgentRun,
  bodyOf,
  CREATED,
  fits,
  isText,
  NAME,
  objectIn,
  ofRefusals,
  type Reaction,
  wholeAnswer,
} from '../../kit/index.ts'
/** The key of a caller's environment as a header, as clients of this API send it. */
export function bearer({ OPENAI_API_KEY: key }: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return key ? { authorization: `Bearer ${key}` } : {}
}

/** The model that the player has. */
export const ONE = { id: NAME, object: 'model', created: CREATED, owned_by: 'conformance' } as const
/** The player's list of models. */
export const MODELS = { object: 'list', data: [ONE] } as const

/** A refusal of the player's. */
export function failure(
  status: number,
  message: string,
  param: string | null = null,
  code: string | null = null,
): readonly Reaction[] {
  return wholeAnswer({ error: { message, type: 'invalid_request_error', param, code } }, status)
}

/** The refusal of a model that there is not. */
export const NO_MODEL = failure(404, 'There is no such model.', 'model', 'model_not_found')

/** The rule about refusals in these scenarios. */
export function errorRow(on: readonly string[]): AgentRow {
  return {
    expects: 'a refusal is an `error` with a message, a type, a code and a param',
    on,
    judge: ofRefusals((run: AgentRun) =>
      fits(
        objectIn(bodyOf(run), 'error'),
        (error) =>
          isText(error['message']) &&
          isText(error['type']) &&
          [error['code'], error['param']].every((one) => one === undefined || one === null || isText(one)),
      ),
    ),
  }
}
