import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { generatedFiles } from '../../../deploy/generated.ts'

const root = join(import.meta.dirname, '../../..')
const files = await generatedFiles()

describe('what is made from the code is committed as it is made (after a change: npm run --silent generate)', () => {
  it.each([...files])('%s', (path, text) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe(text)
  })
})
