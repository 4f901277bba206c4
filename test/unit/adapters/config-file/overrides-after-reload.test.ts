import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { watchConfigFile } from '../../../../src/adapters/config-file/watch.ts'
import type { Settings } from '../../../../src/core/settings/settings.ts'
import { configFolder, loadValid } from '../../../support/config/config-folder.ts'
import { ManualClock } from '../../../support/manual-clock.ts'

const config = (kafka: string, source: string): string =>
  `kafka: { ${kafka} }\nregistry: { url: http://registry:8081 }\nsources: [{ id: ${source}, writeKey: web-key }]\n`
const override = (given: Settings): Settings => ({ ...given, kafka: { ...given.kafka, brokers: ['b:1'] } })

it('a reload keeps the overrides that the settings had at the start', async () => {
  const path = join(await configFolder({ 'hookline.yaml': config('brokers: [a:9092]', 'web') }), 'hookline.yaml')
  const loaded = await loadValid(path, {})
  const seen: string[] = []
  let settings = override(loaded.settings)
  const watch = watchConfigFile({
    ...{ path, env: {}, clock: new ManualClock(), start: { ...loaded, settings }, override },
    onChange(next, { live, needRestart }) {
      settings = next
      seen.push(`live: ${live.join()}; restart: ${needRestart.join()}`)
    },
    onRefused: () => seen.push('refused'),
  })
  for (const text of [config('brokers: [c:9092]', 'app'), config('brokers: [c:9092], clientId: other', 'app')]) {
    await writeFile(path, text)
    // The watch applies a change at the second check that sees it.
    await watch.check()
    await watch.check()
  }
  watch.close()
  expect(seen).toEqual(['live: sources; restart: ', 'live: ; restart: kafka'])
  expect(settings.sources.map(({ id }) => id)).toEqual(['app'])
  expect(settings.kafka.brokers).toEqual(['b:1'])
})
