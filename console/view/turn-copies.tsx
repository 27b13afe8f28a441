import { asCommand, asSample, asTranslateInput, type DoorPlace, translateCommand } from '../logic/copies.ts'
import type { Door, TurnDetail, Wire } from '../logic/types.ts'
import { get, ROOT } from '../state/api.ts'
import { me, settings } from '../state/me.ts'
import { Copy } from './copy.tsx'
import { useLoaded } from './loaded.tsx'

/** What can be copied of a turn: its request, what its agent said, and a sample for a report. */
export function TurnCopies({ turn, wire }: { turn: TurnDetail; wire: Wire | undefined }) {
  const { value } = useLoaded(() => get<{ doors: readonly Door[] }>('/v1/doors'), [])
  if (!wire) return null
  const door = doorOf(value?.doors ?? [], wire.clientProtocol)
  const place: DoorPlace = { origin: ROOT.href.replace(/\/$/, ''), keys: me.value?.keys ?? false, ...door }
  return (
    <div class="copies">
      <span class="muted">Copy</span>
      <Copy label={door.path === undefined ? 'the command' : 'as curl'} text={() => asCommand(wire, place)} />
      <Copy label="as translate input" text={() => asTranslateInput(wire)} title={translateCommand(wire)} />
      <Copy
        label="a sample for a report"
        text={() => asSample(turn, wire, settings.value.version)}
        title="Both wires with the letters and digits of private texts replaced"
      />
    </div>
  )
}

/** The door of a protocol: an endpoint before a program. */
function doorOf(doors: readonly Door[], protocol: string): Pick<DoorPlace, 'path' | 'command'> {
  const own = doors.filter((door) => door.protocol === protocol && (door.method ?? 'POST') === 'POST')
  const { path, command } = own.find(({ over }) => over === 'http') ?? own[0] ?? {}
  return { ...(path !== undefined && { path }), ...(command !== undefined && { command }) }
}
