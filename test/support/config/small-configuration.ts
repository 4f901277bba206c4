export const smallConfiguration = ({ prefix = 'acme', replicationFactor = 3, partitions = 12 } = {}): string => `
kafka: { brokers: ["127.0.0.1:9092"] }
topics: { prefix: ${prefix}, replicationFactor: ${replicationFactor}, partitions: ${partitions} }
registry: { url: "http://127.0.0.1:8081" }
delivery: { schedule: [10s] }
sources:
  - { id: web, writeKey: a-write-key-of-web }
  - { id: server, writeKey: a-write-key-of-server }
destinations:
  - { id: crm, sources: [web], webhooks: [{ url: "https://crm.example.com/hooks" }] }
`
