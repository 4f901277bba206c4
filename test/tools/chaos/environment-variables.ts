import { randomInt } from 'node:crypto'
import { type AnyScenario, scenarios } from './scenarios.ts'

/** Duration of the scenario `soak`, in minutes. A published soak is at least as long. */
export const soakMinutes = 120

/** An invalid variable of `make chaos`. Its message is printed without a stack. */
export class BadRequest extends Error {}

export interface Request {
  readonly seed: number
  readonly patience: number
  readonly selection: readonly AnyScenario[]
  /** Duration of `soak` and `endpoint-outage`, in minutes. Undefined: the default of each. */
  readonly minutes: number | undefined
  /** File for the rows of the results table, as JSON. Empty for no file. */
  readonly file: string
  readonly isPublic: boolean
}

/**
 * Reads SEED, PATIENCE, ONLY, MINUTES, JSON and PUBLISH from the environment.
 * @throws BadRequest
 */
export function requested(env: NodeJS.ProcessEnv = process.env): Request {
  const positive = (name: string, otherwise: number): number => {
    const value = Number(env[name] || otherwise)
    if (!(value > 0)) throw new BadRequest(`${name} must be a number above 0, not ${env[name]}`)
    return value
  }
  const named = (name: string): AnyScenario => {
    const scenario = scenarios.find(each => each.name === name)
    if (scenario !== undefined) return scenario
    throw new BadRequest(
      `ONLY has the unknown scenario ${name}; known scenarios: ${scenarios.map(each => each.name).join(', ')}`,
    )
  }
  const selection = env['ONLY'] ? env['ONLY'].split(',').map(named) : scenarios.filter(each => !('soak' in each))
  const minutes = env['MINUTES'] ? positive('MINUTES', soakMinutes) : undefined
  const isPublic = (env['PUBLISH'] ?? '') !== ''
  if (isPublic && selection.some(each => 'soak' in each) && minutes !== undefined && minutes < soakMinutes)
    throw new BadRequest(`PUBLISH needs a soak of at least ${soakMinutes} minutes: remove MINUTES or PUBLISH`)
  return {
    seed: positive('SEED', randomInt(1, 1_000_000)),
    patience: positive('PATIENCE', 1),
    selection,
    minutes,
    file: env['JSON'] ?? '',
    isPublic,
  }
}
