import { isObject, type JsonObject } from '../message/json.ts'

/** Applies a JSON Merge Patch (RFC 7396) to a JSON object. Neither argument is changed. */
export function mergePatch(target: JsonObject, patch: JsonObject): JsonObject {
  const members = new Map(Object.entries(target))
  for (const [name, value] of Object.entries(patch)) {
    const before = members.get(name)
    if (value === null) members.delete(name)
    else if (isObject(value)) members.set(name, mergePatch(isObject(before) ? before : {}, value))
    else members.set(name, value)
  }
  return Object.fromEntries(members)
}
