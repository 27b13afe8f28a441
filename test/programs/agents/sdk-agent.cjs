// An agent on the AgentProc SDK. Its session id counts the turns; a message may ask it to fail or to ask.
const { createProfile, ProtocolError } = require('agentproc')

createProfile(async (ctx) => {
  const turn = Number(/^turn-(\d+)$/.exec(ctx.sessionId)?.[1] ?? 0) + 1
  if (ctx.message === 'fail') throw new ProtocolError('the agent will not')
  if (ctx.message === 'crash') throw new Error('a mistake of the agent')
  let told = ''
  if (ctx.permission) {
    ctx.sendPermissionRequest({ request_id: 'r1', tool_name: 'Bash', input: { command: 'echo ok' } })
    told = `, told ${ctx.readPermissionResponse()?.behavior}`
  }
  ctx.sendPartial('Let me see. ', 'thinking')
  const words = `You said: ${ctx.message} (turn ${turn} of this session${told})`.match(/\s*\S+/g)
  for (const word of words) ctx.sendPartial(word)
  return { response: words.join(''), sessionId: `turn-${turn}` }
})
