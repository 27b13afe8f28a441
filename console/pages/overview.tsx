import { cost, count, duration } from '../logic/format.ts'
import { writeRoute } from '../logic/route.ts'
import type { AgentsAnswer, Minute, OverviewAnswer, TurnPage } from '../logic/types.ts'
import { get } from '../state/api.ts'
import { Attention } from '../view/attention.tsx'
import { Chart } from '../view/chart.tsx'
import { FiguresOf } from '../view/figures-of.tsx'
import { Pending, useLoaded } from '../view/loaded.tsx'

const EVERY_MS = 5_000

/** The last hour at a glance, from what the gateway has recorded. */
export function OverviewPage() {
  const loaded = useLoaded(look, [], EVERY_MS)
  return (
    <section>
      <div class="head">
        <h1>Overview</h1>
        <FiguresOf when="the last 60 minutes" replicas={loaded.value?.overview.replicas} />
      </div>
      <Pending loaded={loaded} />
      {loaded.value && (
        <>
          <Attention {...loaded.value} />
          <Charts {...loaded.value.overview} />
        </>
      )}
    </section>
  )
}

/** The figures, the agents with their failures, and the turns that run. */
async function look() {
  const [overview, { agents }, { turns: running }] = await Promise.all([
    get<OverviewAnswer>('/v1/overview'),
    get<AgentsAnswer>('/v1/agents'),
    get<TurnPage>('/v1/turns?state=running'),
  ])
  return { overview, agents, running }
}

function Charts({ running, queued, minutes }: OverviewAnswer) {
  const sum = (member: 'turns' | 'failed' | 'input' | 'output' | 'costUsd'): number =>
    minutes.reduce((total, minute) => total + minute[member], 0)
  const each = (value: (minute: Minute) => number | undefined) => minutes.map(value)
  const [turns, failed] = [sum('turns'), sum('failed')]
  return (
    <>
      <dl class="tiles">
        <Tile name="Running" value={count(running)} href={writeRoute('turns', undefined, { state: 'running' })} />
        <Tile
          name="Waiting in line"
          value={count(queued)}
          href={writeRoute('turns', undefined, { state: 'running' })}
        />
        <Tile name="Turns" value={count(turns)} href={writeRoute('turns')} />
        <Tile
          name="Failed"
          value={turns === 0 ? '–' : `${count(failed)} (${percent(failed / turns)})`}
          href={writeRoute('turns', undefined, { state: 'failed' })}
          tone={failed > 0 ? 'failed' : ''}
        />
        <Tile name="Tokens" value={count(sum('input') + sum('output'))} />
        <Tile name="Cost" value={cost(sum('costUsd'))} />
      </dl>
      <div class="charts">
        <Chart
          title="Turns a minute"
          figure={rate(minutes)}
          form="bars"
          format={count}
          series={[
            { name: 'failed', tone: 'tone-bad', values: each(({ failed }) => failed) },
            { name: 'others', tone: 'tone-main', values: each(({ turns, failed }) => turns - failed) },
          ]}
        />
        <Chart
          title="Time of a turn"
          figure={duration(newest(each(({ total }) => total?.p50)))}
          form="lines"
          format={duration}
          series={latencies(
            each(({ total }) => total?.p50),
            each(({ total }) => total?.p95),
          )}
        />
        <Chart
          title="Time to the first event"
          figure={duration(newest(each(({ firstEvent }) => firstEvent?.p50)))}
          form="lines"
          format={duration}
          series={latencies(
            each(({ firstEvent }) => firstEvent?.p50),
            each(({ firstEvent }) => firstEvent?.p95),
          )}
        />
        <Chart
          title="Tokens a minute"
          figure={count(sum('input') + sum('output'))}
          form="bars"
          format={count}
          series={[
            { name: 'in', tone: 'tone-main', values: each(({ input }) => input) },
            { name: 'out', tone: 'tone-other', values: each(({ output }) => output) },
          ]}
        />
        <Chart
          title="Cost a minute"
          figure={cost(sum('costUsd'))}
          form="bars"
          format={cost}
          series={[{ name: 'cost', tone: 'tone-main', values: each(({ costUsd }) => costUsd) }]}
        />
      </div>
    </>
  )
}

function latencies(p50: readonly (number | undefined)[], p95: readonly (number | undefined)[]) {
  return [
    { name: 'median', tone: 'tone-main', values: p50 },
    { name: '95 %', tone: 'tone-other', values: p95 },
  ]
}

function newest(values: readonly (number | undefined)[]): number | undefined {
  return values.findLast((value) => value !== undefined)
}

/** Turns a second over the last five minutes, or a minute where they are few. */
function rate(minutes: readonly Minute[]): string {
  const perMinute = minutes.slice(-5).reduce((sum, { turns }) => sum + turns, 0) / 5
  return perMinute < 6 ? `${count(perMinute)} / min` : `${(perMinute / 60).toFixed(1)} / s`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`
}

function Tile({ name, value, href, tone = '' }: { name: string; value: string; href?: string; tone?: string }) {
  return (
    <div class={`tile ${tone}`}>
      <dt>{name}</dt>
      <dd>{href === undefined ? value : <a href={href}>{value}</a>}</dd>
    </div>
  )
}
