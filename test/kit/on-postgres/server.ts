import type { TestProject } from 'vitest/node'
import { startPostgres } from '../postgres.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of a database for the gateways of all tests of a project. */
    database: string
  }
}

/** Starts a PostgreSQL server for a project. Gives what stops it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres()
  project.provide('database', server.url)
  return () => server.close()
}
