import { readFileSync } from 'node:fs'
import { yamlText } from '../layout.ts'
import { channelObjects, operationObjects } from './channels.ts'
import { messages } from './messages.ts'

const head = `# What is on Hookline's topics, as AsyncAPI 3.0: topics, keys, values and headers.
# Made from the code by \`npm run generate\`; tests hold it against the specification and against what the code writes.
`

const description = `The topics of one installation, with the defaults of its configuration: with another \`topics.prefix\` than \`hookline\` all names begin with that.
How to write events yourself, and how schemas may change, is in the README beside this file.`

/** The document as an object. */
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

/** `schemas/asyncapi.yaml` */
export const asyncApiText = (): string => `${head}${yamlText(asyncApiDocument())}`
