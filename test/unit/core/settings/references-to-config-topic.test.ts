import { expect, it } from '@jest/globals'
import { audienceDirectory } from '../../../../src/core/audience/configured-audiences.ts'
import { mergeObjects } from '../../../../src/core/config-objects/merge-objects.ts'
import { readObject } from '../../../../src/core/config-objects/read-object.ts'
import { createRouting } from '../../../../src/core/delivery/route.ts'
import { draftFrom, settingsFrom } from '../../../../src/core/settings/validate.ts'
import { warningsOf } from '../../../../src/core/settings/warnings.ts'
import {
  destinationDocument,
  firstKey,
  keyFile,
  named,
  sealedValue,
  sourceDocument,
} from '../../../support/config-objects/example-objects.ts'

const configuration = {
  kafka: { brokers: ['kafka:9092'] },
  registry: { url: 'http://registry:8081' },
  sources: [{ id: 'web', writeKey: 'write-key-of-web' }],
  destinations: [{ id: 'file-crm', sources: ['app'], webhooks: [{ url: 'https://file.example.com/' }] }],
  audiences: { list: [{ name: 'Shoppers', destinations: ['crm'] }] },
}
const contents = new Map([['config-key', { kind: 'read', text: keyFile('first') } as const]])
const settingsOf = (operator: object) => settingsFrom(draftFrom({ ...configuration, operator }), contents)

it('the file may refer to sources and destinations of the config topic, if there is one', () => {
  expect(settingsOf({})).toMatchObject({
    kind: 'refused',
    problems: [{ message: 'no source has this id' }, { message: 'no destination has this id' }],
  })
  const result = settingsOf({ encryptionKeyFile: 'config-key' })
  if (result.kind === 'refused') throw new Error(JSON.stringify(result.problems))
  expect(result.settings).toMatchObject({ configTopic: true })
  expect(warningsOf(result.settings)).not.toContain(
    'source web: its messages are not delivered, because no enabled destination receives them; add the id of the source to "sources" of a destination',
  )

  // References to objects of the config topic have no effect before these objects are merged.
  expect(createRouting(result.settings).bySource).toEqual(new Map([['web', []]]))
  expect([...audienceDirectory(result.settings).get('Shoppers')!.destinations]).toEqual([])
  const objects = [
    [named('source', 'app'), sourceDocument()],
    [named('destination', 'crm'), destinationDocument()],
  ] as const
  const reading = { keys: [firstKey], context: {} }
  const { settings } = mergeObjects(
    result.settings,
    objects.map(([name, document]) => readObject(name, sealedValue(name, document), reading)),
  )
  expect(
    createRouting(settings)
      .bySource.get('app')
      ?.map(({ id }) => id),
  ).toEqual(['file-crm'])
  expect([...audienceDirectory(settings).get('Shoppers')!.destinations]).toEqual(['crm'])
})
