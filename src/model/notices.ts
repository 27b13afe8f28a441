/** The code of a notice without a turn that holds what an agent said while no turn ran. */
export const UNASKED_OUTPUT = 'unasked-output'
