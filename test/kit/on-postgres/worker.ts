import { inject } from 'vitest'

/** The gateways of this process have their stores in the project's database. */
process.env['TURNPIKE_TEST_DATABASE'] = inject('database')
