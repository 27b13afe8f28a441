import { LOCAL_TENANT, type TurnMeasures, type TurnRecord } from '../../contract/index.ts'
import { mergedLosses, type TurnInfoReply, type TurnTimings } from '../../model/index.ts'
import type { Turn } from './turn.ts'

/** The name of the key of a tenant, as a member of what is listed. */
export function keyOf(tenant: string): { key?: string } {
  return tenant === LOCAL_TENANT ? {} : { key: tenant }
}

/** A recorded turn as it is listed; `session` is the client's id of its session, `live` the turn while it runs here. */
export function turnInfo(record: TurnRecord, session: string, live: Turn | undefined): TurnInfoReply {
  if (live && !live.ended) return liveInfo(live)
  const { turn: id, tenant, agent, front, request, startedAt, endedAt, outcome, code, losses, measures } = record
  return {
    turn: id,
    state: outcome ?? 'running',
    agent,
    front,
    session,
    ...(request !== undefined && { request }),
    startedAt,
    ...(endedAt !== undefined && { endedAt }),
    ...(code !== undefined && { code }),
    ...(measures?.error !== undefined && { error: measures.error }),
    ...keyOf(tenant),
    ...(losses && { losses: mergedLosses(losses) }),
    ...(measures && measured(measures, endedAt === undefined ? undefined : endedAt - startedAt)),
  }
}

/** A turn of this process as it is listed. */
export function liveInfo({ id, agent, view, command, scope, audience, session }: Turn): TurnInfoReply {
  const { losses } = audience.first
  const { end, startedAt, at } = view
  return {
    turn: id,
    state: end?.outcome ?? 'running',
    ...(!end && { phase: scope.phase }),
    agent: agent.name,
    front: scope.front,
    session: view.session,
    ...(command.request !== undefined && { request: command.request }),
    startedAt,
    ...(end && { endedAt: at }),
    ...(end?.fault && { code: end.fault.code, error: end.fault.message }),
    ...keyOf(session.record.tenant),
    ...(losses.length > 0 && { losses }),
    ...measured(scope.measures, end && at - startedAt),
  }
}

/** The measures, as members of a listed turn. */
function measured(
  { back, route, timings, usage, trace }: TurnMeasures,
  total: number | undefined,
): Partial<TurnInfoReply> {
  const all: TurnTimings = { ...timings, ...(total !== undefined && { total }) }
  return {
    back,
    ...(route !== undefined && { route }),
    ...(Object.keys(all).length > 0 && { timings: all }),
    ...(usage && { usage }),
    ...(trace !== undefined && { trace }),
  }
}
