import type { Fault } from '../../src/model/index.ts'
import { stderrOf } from '../logic/concerns.ts'
import type { AgentRow, TurnDetail } from '../logic/types.ts'
import { get } from '../state/api.ts'
import { useLoaded } from './loaded.tsx'
import { Text } from './text.tsx'

/** The reason why a turn failed, and for operators its agent's stderr, as far as the gateway remembers it. */
export function TurnFailure({ turn, fault }: { turn: TurnDetail; fault: Fault }) {
  const { value } = useLoaded(() => get<{ agents: readonly AgentRow[] }>('/v1/agents'), [turn.turn])
  const stderr = stderrOf(value?.agents ?? [], turn)
  return (
    <div class="problem">
      <b>{fault.code}</b> <Text value={fault.message} />
      {stderr !== undefined && (
        <>
          <h2>What the agent wrote to stderr</h2>
          <pre>
            <Text value={stderr} limit={2_000} />
          </pre>
        </>
      )}
    </div>
  )
}
