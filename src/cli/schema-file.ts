import { join } from 'node:path'
import { packageRoot } from './package-root.ts'

/** The JSON Schema of the configuration file, for editors and for hints. */
export const SCHEMA_FILE: string = join(packageRoot, 'turnpike.schema.json')
