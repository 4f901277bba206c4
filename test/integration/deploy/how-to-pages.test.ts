import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from '@jest/globals'
import { parse } from 'yaml'
import { rendered } from '../../support/deploy/manifests/renderings.ts'

/* The chart must accept the values in the examples of the deployment pages. */

const folder = resolve(import.meta.dirname, '../../../docs/how-to')

it.each(['deploy-on-kubernetes', 'scale'])('docs/how-to/%s.md', async name => {
  const text = readFileSync(join(folder, `${name}.md`), 'utf8')
  const blocks = [...text.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, block = '']) => parse(block))
  // Blocks with a `kind` are manifests, and not values of the chart.
  const examples = blocks.filter(({ kind }) => kind === undefined)
  expect(examples.length).toBeGreaterThan(0)
  for (const values of examples) expect((await rendered(values)).length).toBeGreaterThan(4)
})
