import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LogRecord } from '../../../src/core/ports.ts'
import { operatorKey } from '../../support/operator/scripted-deletion-and-audience-api.ts'
import { webKey } from '../../support/process/test-installation.ts'
import type { Inspection } from './receiver.ts'
import type { ConfigurationOf } from './scenario.ts'

/*
 * Each change writes one mark to three places of a document. If a process applies only a part of
 * the document, its requests have two different marks.
 */

export const changedSource = 'changed'
const changeHeader = 'x-change'

export const changedIds = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `changed-${index}`)

/** The configuration with the operator API, and with the source of the changed destinations. */
export function changedConfiguration({ destinations, directory }: ConfigurationOf) {
  const encryptionKeyFile = join(directory, 'encryption.key')
  writeFileSync(encryptionKeyFile, `${'0123456789abcdef'.repeat(4)}\n`)
  return {
    destinations,
    sources: [
      { id: 'web', writeKey: webKey },
      { id: changedSource, writeKey: `${webKey}-of-${changedSource}` },
    ],
    operator: {
      listen: '127.0.0.1:0',
      keys: [{ name: 'ada', role: 'operate', key: operatorKey }],
      encryptionKeyFile,
    },
  }
}

/** `number` is the number of changes of the destination, including this one; 0 for its creation. */
export const markOf = (number: number, attempt: number): string => `${number}-${attempt}`
/** The number of changes in a mark. NaN if the text is not a mark. */
export const numberIn = (mark: string): number => Number(/^(\d+)-\d+$/.exec(mark)?.[1])

export const webhooksWith = (url: string, mark: string) => ({
  webhooks: [{ id: mark, url: `${url}/${mark}`, headers: { [changeHeader]: mark } }],
})

interface Document {
  readonly webhooks?: readonly { readonly id?: string }[]
}

export const markIn = ({ webhooks }: Document): string => webhooks?.[0]?.id ?? 'none'

/**
 * The marks in the path and in the header of a request: only one if the destination was applied
 * completely.
 */
export const bothMarks: Inspection = ({ headers, path }) =>
  [...new Set([path, String(headers[changeHeader])])].join(' and ')

export interface VersionRecord {
  readonly destination: string
  readonly version: number
  readonly mark: string
  /**
   * Whether the record repeats the current version after an ignored record. Without the copy,
   * compaction would keep only the ignored record.
   */
  readonly isCopy: boolean
}

export const versionsIn = (
  records: readonly Pick<LogRecord, 'key' | 'value' | 'headers'>[],
): readonly VersionRecord[] =>
  records.flatMap(({ key, value, headers }) => {
    const [kind, destination = ''] = String(key).split('/')
    if (kind !== 'destination') return []
    const document: Document = value === null ? {} : JSON.parse(value.toString()).document
    const { version, copy } = headers
    return [{ destination, version: Number(version), mark: markIn(document), isCopy: copy !== undefined }]
  })
