import type { Filters } from '../logic/filters.ts'
import type { TurnRow } from '../logic/types.ts'
import { me } from '../state/me.ts'
import { change } from '../state/route.ts'

const STATES = ['running', 'completed', 'failed', 'cancelled']

/** The filters of the list of turns. The address has them, so that it can be sent to a colleague. */
export function TurnFilters({ filters, turns }: { filters: Filters; turns: readonly TurnRow[] }) {
  const isAdmin = me.value?.role === 'admin' && me.value.keys
  const isNarrowed = Object.keys(filters).length > 0
  return (
    <search class="filters">
      <label class="wide">
        <span>Search</span>
        <input
          type="search"
          value={filters.q ?? ''}
          placeholder="turn, request or session id, or text of the error"
          onChange={(event) => change({ q: event.currentTarget.value })}
        />
      </label>
      <Choice name="agent" label="Agent" value={filters.agent} values={valuesOf(turns, 'agent')} />
      <Choice name="front" label="Client" value={filters.front} values={valuesOf(turns, 'front')} />
      <Choice name="state" label="State" value={filters.state} values={STATES} />
      {isAdmin && <Choice name="key" label="Key" value={filters.key} values={valuesOf(turns, 'key')} />}
      <label>
        <span>Session</span>
        <input
          value={filters.session ?? ''}
          placeholder="any"
          onChange={(event) => change({ session: event.currentTarget.value })}
        />
      </label>
      {isNarrowed && (
        <button
          type="button"
          class="quiet"
          onClick={() => change(Object.fromEntries(Object.keys(filters).map((name) => [name, ''])))}
        >
          Clear
        </button>
      )}
    </search>
  )
}

/** The values that a member has among the turns. */
function valuesOf(turns: readonly TurnRow[], member: 'agent' | 'front' | 'key'): string[] {
  return [...new Set(turns.flatMap((turn) => turn[member] ?? []))].sort()
}

interface ChoiceProps {
  name: string
  label: string
  value: string | undefined
  values: readonly string[]
}

function Choice({ name, label, value = '', values }: ChoiceProps) {
  const all = value === '' || values.includes(value) ? values : [value, ...values]
  return (
    <label>
      <span>{label}</span>
      <select value={value} onChange={(event) => change({ [name]: event.currentTarget.value })}>
        <option value="">any</option>
        {all.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </select>
    </label>
  )
}
