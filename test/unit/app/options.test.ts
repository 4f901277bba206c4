import { expect, it } from '@jest/globals'
import { choice } from '../../../src/app/options.ts'

it.each<[string, string[], string]>([
  ['a similar name', ['web', 'server'], "--source: unknown value 'wep' (did you mean web?)"],
  ['other names', ['shop', 'server'], "--source: unknown value 'wep' (possible: shop, server)"],
  ['no names', [], "--source: unknown value 'wep' (the configuration has no entry that --source can select)"],
])('an unknown value with %s', (_, names, message) => {
  expect(() => choice('--source', 'wep', names)).toThrow(message)
})
