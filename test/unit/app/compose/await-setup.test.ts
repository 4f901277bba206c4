import { describe, expect, it } from '@jest/globals'
import { RegistryUnavailable } from '../../../../src/adapters/avro/schema-registry.ts'
import { SchemaNotRegistered } from '../../../../src/adapters/avro/schema-texts-and-subject-names.ts'
import { awaitSetup, TopicsMissing } from '../../../../src/app/compose/await-setup.ts'
import { RecordingLogger } from '../../../support/telemetry/recording-logger.ts'

/** The check fails with `error` the first time, and then succeeds. */
async function asked(error: Error, waitForSetup: boolean): Promise<unknown> {
  const errors = [error]
  const ask = async (): Promise<string> => {
    const next = errors.pop()
    if (next !== undefined) throw next
    return 'ready'
  }
  const stopAsked = new AbortController().signal
  return awaitSetup(ask, { waitForSetup, logger: new RecordingLogger(), stopAsked }).catch((thrown: unknown) => thrown)
}

const setUpByOthers: readonly [string, Error][] = [
  ['a missing topic', new TopicsMissing('topics are missing')],
  ['a missing schema', new SchemaNotRegistered('not registered')],
  ['a registry that does not respond', new RegistryUnavailable('no response', { isTransient: true })],
]

describe('with --wait-for-setup, a start', () => {
  // Concurrent, because each case waits for a real interval of 2 s.
  it.concurrent.each(setUpByOthers)('awaits %s', async (_, error) => expect(await asked(error, true)).toBe('ready'))

  it.each<[string, Error]>([
    ['a registry that rejects the credentials', new RegistryUnavailable('401')],
    ['a bug', new TypeError('x is undefined')],
  ])('ends with %s', async (_, error) => expect(await asked(error, true)).toBe(error))
})

describe('without --wait-for-setup, a start', () => {
  it.each(setUpByOthers)('ends with %s', async (_, error) => expect(await asked(error, false)).toBe(error))
})
