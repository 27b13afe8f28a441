/** What `turnpike help` prints. */
export const USAGE = `turnpike: any agent client in front, any agent behind

  turnpike serve [--config FILE] [--port N]
      Serves the HTTP endpoints. Without a configuration it runs three small example agents.
  turnpike as PROTOCOL [--agent NAME] [--config FILE] [that protocol's own arguments]
      Stands in for that protocol's agent on stdio: zene, zot, openharness, agentproc, qwen, qwen-code.
  turnpike check [--config FILE]
      Reads the configuration and says what is wrong with it.
  turnpike version

The configuration is turnpike.yaml in this folder, or the file that TURNPIKE_CONFIG names.
`
