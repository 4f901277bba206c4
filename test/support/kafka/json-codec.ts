import type { Event } from '../../../src/core/message/event.ts'
import type { Decoded, DecodedValue, EventCodec, ValueCodec } from '../../../src/core/ports.ts'

/**
 * A codec with JSON values. A value that starts with `schema:<id>:` needs this schema. The id 404
 * is unknown.
 */
export class JsonValueCodec<Value> implements ValueCodec<Value> {
  readonly known = new Set<number>()
  registryIsDown = false

  encode(value: Value): Buffer {
    return Buffer.from(JSON.stringify(value))
  }

  decode(value: Buffer): DecodedValue<Value> {
    const [, id = '0', text = ''] = /^(?:schema:(\d+):)?(.*)$/s.exec(value.toString()) ?? []
    const schemaId = Number(id)
    if (schemaId > 0 && !this.known.has(schemaId)) return { kind: 'schema_needed', schemaId }
    try {
      return { kind: 'value', value: JSON.parse(text) as Value }
    } catch {
      return { kind: 'undecodable', detail: 'not JSON' }
    }
  }

  async learn(schemaId: number): Promise<boolean> {
    if (this.registryIsDown) throw Object.assign(new Error('registry is down'), { code: 'registry_unavailable' })
    if (schemaId === 404) return false
    this.known.add(schemaId)
    return true
  }
}

export class JsonEventCodec implements EventCodec {
  readonly #values = new JsonValueCodec<Event>()

  set registryIsDown(isDown: boolean) {
    this.#values.registryIsDown = isDown
  }

  encode(event: Event): Buffer {
    return Buffer.from(JSON.stringify(event))
  }

  decode(value: Buffer): Decoded {
    const read = this.#values.decode(value)
    return read.kind === 'value' ? { kind: 'event', event: read.value } : read
  }

  learn(schemaId: number): Promise<boolean> {
    return this.#values.learn(schemaId)
  }
}
