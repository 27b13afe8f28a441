import { asCommand, asSample, asTranslateInput, type DoorPlace, translateCommand } from '../logic/copies.ts'
import type { Door, TurnDetail, Wire } from '../logic/types.ts'
import { get, ROOT } from '../state/api.ts'
import { me, settings } from '../state/me.ts'
import { Copy } from './copy.tsx'
import { useLoaded } from './loaded.tsx'

/** The texts of a turn that can be copied: its request, its agent's output, and a sample for a report. */
export function TurnCopies({ turn, wire }: { turn: TurnDetail; wire: Wire | undefined }) {
  const { value } = useLoaded(() => get<{ doors: readonly Door[] }>('/v1/doors'), [])
  if (!wire) return null
  const { command = 'turnpike', version } = settings.value
  const path = pathOf(value?.doors ?? [], turn.front)
  const program = programOf(value?.doors ?? [], wire.clientProtocol)
  const place: DoorPlace = {
    origin: ROOT.href.replace(/\/$/, ''),
    agent: turn.agent,
    ...(program !== undefined && { program }),
    keys: me.value?.keys ?? false,
    ...(path !== undefined && { path }),
  }
  return (
    <div class="copies">
      <span class="muted">Copy</span>
      <Copy label={path === undefined ? 'the command' : 'as curl'} text={() => asCommand(wire, place)} />
      <Copy label="as translate input" text={() => asTranslateInput(wire)} title={translateCommand(wire, command)} />
      <Copy
        label="a sample for a report"
        text={() => asSample(turn, wire, version)}
        title="Both wires with the letters and digits of private texts replaced"
      />
    </div>
  )
}

/** The command of the program that stands in for a protocol's agent. */
function programOf(doors: readonly Door[], protocol: string): string | undefined {
  const [name] = protocol.split('@')
  return doors.find((door) => door.over === 'stdio' && door.protocol === name)?.command
}

/** The path of a protocol's endpoint that takes turns. */
function pathOf(doors: readonly Door[], protocol: string): string | undefined {
  return doors.find((door) => door.protocol === protocol && door.method === 'POST')?.path
}
