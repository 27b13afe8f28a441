/** Requests of this process reach another replica than the one that answers. */
process.env['TURNPIKE_TEST_CLUSTER'] = '1'
