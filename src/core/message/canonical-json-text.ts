import type { Brand } from '../branded-type.ts'

/** Compact JSON text that `JSON.stringify(JSON.parse(text))` returns unchanged. */
export type JsonText = Brand<string, 'JsonText'>
