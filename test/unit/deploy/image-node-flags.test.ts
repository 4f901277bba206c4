import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from '@jest/globals'
import { mallocSettings, nodeFlags } from '../../../deploy/tools/local/node-flags.ts'

const checkout = resolve(import.meta.dirname, '../../..')
const dockerfile = readFileSync(join(checkout, 'deploy/image/Dockerfile'), 'utf8')

it('the image starts Node with the flags and the allocator settings of a service', () => {
  const words = ['/app/bin/node', ...nodeFlags, '/app/bin/hookline']
  expect(dockerfile).toContain(`ENTRYPOINT [${words.map(word => JSON.stringify(word)).join(', ')}]`)
  for (const [name, value] of Object.entries(mallocSettings)) expect(dockerfile).toContain(`${name}=${value}`)
})
