import { readFileSync } from 'node:fs'
import { yamlText } from '../json-and-yaml-text.ts'
import { channelObjects, operationObjects } from './channels-and-operations.ts'
import { messages } from './messages.ts'

const head = `# The records of Hookline's topics as AsyncAPI 3.0: topics, keys, values and headers.
# Generated from the code by \`npm run generate\`. Tests check it against the specification and against records that the code writes.
`

const description = `The topics of one installation with the default configuration. All names start with \`topics.prefix\`, by default \`hookline\`.
The README in this directory explains how to write events and how schemas may change.`

export function asyncApiDocument(): object {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  return {
    asyncapi: '3.0.0',
    info: { title: 'Hookline', version, description, license: { name: 'Apache-2.0' } },
    defaultContentType: 'application/vnd.confluent.avro',
    servers: {
      kafka: {
        host: 'kafka.example.com:9092',
        protocol: 'kafka-secure',
        description: '`kafka.brokers` of the configuration; the registry is `registry.url`.',
        bindings: {
          kafka: {
            schemaRegistryUrl: 'https://registry.example.com',
            schemaRegistryVendor: 'confluent',
            bindingVersion: '0.5.0',
          },
        },
      },
    },
    channels: channelObjects(),
    operations: operationObjects(),
    components: { messages },
  }
}

/** Returns the text of `schemas/asyncapi.yaml`. */
export const asyncApiText = (): string => `${head}${yamlText(asyncApiDocument())}`
