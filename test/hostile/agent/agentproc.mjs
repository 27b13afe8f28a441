// AgentProc: 0.1 from AGENT_ variables, 0.4 from a turn object on stdin. One process a turn; its exit is the end.
const leave = (code) => process.exit(code)

export function agentproc01(wire, run) {
  wire.before = wire.before.replaceAll('\r', '')
  const talk = {
    half: 'AGENT_PARTIAL:"tw',
    begin: () => wire.line(`AGENT_SESSION:${process.env.AGENT_SESSION_ID || 'hostile-1'}`),
    text: (delta) => wire.line(`AGENT_PARTIAL:${JSON.stringify(delta) ?? ''}`),
    finish: () => {},
    done: () => leave(0),
    tool: () => {},
    ask: () => {},
    cancelled: () => {},
  }
  run(process.env.AGENT_MESSAGE ?? '', talk)
}

export function agentproc04(wire, run) {
  wire.lines((line) => {
    if (line.type === 'turn') {
      const talk = {
        half: '{"type":"partial","te',
        begin: () => wire.send({ type: 'partial', text: '', session_id: line.session_id || 'hostile-1' }),
        text: (text) => wire.send({ type: 'partial', text }),
        finish: (text) => wire.send({ type: 'result', text }),
        done: () => leave(0),
        tool: () => {},
        ask: () => wire.send({ type: 'permission_request', request_id: 'p1', tool_name: 'rm', input: { path: '/x' } }),
        cancelled: () => {},
      }
      run(line.message, talk)
    }
  })
}
