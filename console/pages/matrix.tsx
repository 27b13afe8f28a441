import { groupsOf, type MatrixAnswer, type MatrixPair, shadeOf } from '../logic/matrix.ts'
import { type Route, writeRoute } from '../logic/route.ts'
import { get } from '../state/api.ts'
import { Pending, useLoaded } from '../view/loaded.tsx'

/** The losses of every pair of a client's and an agent's protocol, and one pair explained. */
export function MatrixPage({ route: { query } }: { route: Route }) {
  const loaded = useLoaded(() => get<MatrixAnswer>('/v1/matrix'), [])
  const { client, agent } = query
  const pair = loaded.value?.pairs.find((one) => one.client === client && one.agent === agent)
  return (
    <section>
      <div class="head">
        <h1>Matrix</h1>
        <span class="muted">items of the model that a pair drops or weakens; choose a pair</span>
      </div>
      <Pending loaded={loaded} />
      <div class="pairs">
        {loaded.value && <Grid matrix={loaded.value} chosen={pair} />}
        {pair && <Explained pair={pair} />}
      </div>
    </section>
  )
}

function Grid({ matrix: { fronts, backs, pairs }, chosen }: { matrix: MatrixAnswer; chosen: MatrixPair | undefined }) {
  const most = Math.max(...pairs.map(({ losses }) => losses.length))
  const of = (client: string, agent: string) => pairs.find((pair) => pair.client === client && pair.agent === agent)
  return (
    <div class="scroll" tabIndex={0}>
      <table class="matrix">
        <caption class="muted">Clients from top to bottom, agents from left to right</caption>
        <thead>
          <tr>
            <td />
            {backs.map((back) => (
              <th key={back} scope="col">
                <span>{back}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {fronts.map((front) => (
            <tr key={front}>
              <th scope="row">{front}</th>
              {backs.map((back) => (
                <Cell key={back} pair={of(front, back)} most={most} chosen={chosen} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Cell({ pair, most, chosen }: { pair: MatrixPair | undefined; most: number; chosen: MatrixPair | undefined }) {
  if (!pair) return <td />
  const { client, agent, losses } = pair
  const [href, label] = [
    writeRoute('matrix', undefined, { client, agent }),
    `${client} to ${agent}: ${losses.length} items`,
  ]
  return (
    <td class={`shade-${shadeOf(losses.length, most)}`}>
      <a href={href} aria-label={label} aria-current={pair === chosen ? 'true' : undefined}>
        {losses.length}
      </a>
    </td>
  )
}

function Explained({ pair: { client, agent, losses } }: { pair: MatrixPair }) {
  return (
    <article class="explained">
      <h2>
        A client of {client} with an agent of {agent}
      </h2>
      {losses.length === 0 && <p>Everything that both protocols can say arrives.</p>}
      {groupsOf(losses).map(({ name, losses }) => (
        <section key={name}>
          <h3>{name}</h3>
          <ul>
            {losses.map((loss) => (
              <li key={loss.item} class={loss.kind}>
                <code>{loss.item}</code> {loss.kind === 'lost' ? 'is lost' : 'arrives with less'}.{' '}
                <span class="muted">{loss.why}</span>
              </li>
            ))}
          </ul>
        </section>
      ))}
    </article>
  )
}
