/** A program that uses the native API by a generated client: a turn, an approval, and the rest of a parked turn. */
import createClient from 'openapi-fetch'
import type { components, paths } from './api.d.ts'

declare const process: { argv: string[] }

const client = createClient<paths>({ baseUrl: process.argv[2]! })

/** Begins a turn and waits for its answer. */
async function ask(agent: string, session: string) {
  const { data, error } = await client.POST('/v1/turns', { body: { input: 'hello', agent, session: { id: session } } })
  if (error) throw new Error(JSON.stringify(error))
  if (!('messages' in data)) throw new Error('no whole answer')
  return data
}

const turn = await ask('helper', 'plain')
const { data: state } = await client.GET('/v1/turns/{id}', { params: { path: { id: turn.turn } } })

// A question of the agent parks the turn; the answer brings the rest.
const parked = await ask('careful', 'parked')
const question = parked.asks![0]!
const { data: rest } = await client.POST('/v1/turns', {
  body: {
    type: 'ask-reply',
    target: { continuation: parked.continuation! },
    ask: question.ask,
    reply: { kind: 'approval', option: 'allow' },
  },
})

// Another question is answered while its turn runs in the background.
const { data: begun } = await client.POST('/v1/turns', {
  body: { input: 'hello', agent: 'careful', session: { id: 'asked' } },
  params: { header: { Prefer: 'respond-async', Accept: 'text/event-stream' } },
})
const id = (begun as { id: string }).id
let answered = false
for (let at = 0; at < 500 && !answered; at++) {
  const { data } = await client.GET('/v1/turns/{id}', { params: { path: { id } } })
  const [open] = data?.asks ?? []
  if (!open) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    continue
  }
  const path = { turn: id, ask: open.ask }
  const { error } = await client.POST('/v1/turns/{turn}/approvals/{ask}', {
    params: { path },
    body: { option: 'deny' },
  })
  answered = error === undefined
}

/** The text of a turn, from the stream of its events: each type has the members that its schema says. */
async function textOf(turn: string): Promise<string> {
  const { response } = await client.GET('/v1/turns/{turn}/events', {
    params: { path: { turn } },
    headers: { accept: 'application/x-ndjson' },
    parseAs: 'stream',
  })
  let text = ''
  for (const line of (await response.text()).split('\n')) {
    if (line === '') continue
    const event = JSON.parse(line) as components['schemas']['Event']
    if (event.type === 'text-delta') text += event.text
    else if (event.type === 'message-end')
      text ||= event.parts?.flatMap((part) => (part.type === 'text' ? part.text : [])).join('') ?? ''
    else if (event.type === 'turn-end' && event.outcome !== 'completed') throw new Error(event.fault?.message)
  }
  return text
}

console.log(
  JSON.stringify({
    turn: [turn.outcome, turn.text, state?.state, state?.text],
    parked: [parked.outcome, question.question.kind],
    rest: rest && 'messages' in rest ? [rest.outcome, rest.text] : rest,
    answered,
    streamed: await textOf(turn.turn),
  }),
)
