import { type AllObjects, brokenReferences, usesOf } from '../../core/config-objects/check-object-references.ts'
import { isObjectRecord, type ObjectName, type ObjectRecord } from '../../core/config-objects/object-record.ts'
import type { ApplyResult, KnownVersion } from '../../core/config-objects/objects-from-topic.ts'
import { readObject } from '../../core/config-objects/read-object.ts'
import { type Before, undoOf } from '../../core/config-objects/record-that-undoes-change.ts'
import type { Clock, Logger } from '../../core/ports.ts'
import { sleep } from '../../core/sleep-and-yield.ts'
import { durationMs } from '../../core/time.ts'
import type { ObjectStore } from './object-store.ts'
import type { ObjectWriter } from './object-writer.ts'

/**
 * Time until this process undoes the deletion of a source in use. The process that wrote the
 * deletion normally undoes it within a second.
 */
const undoAfter = durationMs(30_000)

const undone =
  'hookline restored a deleted source (see "id"), because a destination uses this source; to delete the source, first remove it from the destination'

interface Deps {
  readonly store: Pick<ObjectStore, 'listen' | 'known' | 'object' | 'objects' | 'reading'>
  readonly writer: Pick<ObjectWriter, 'write'>
  readonly clock: Pick<Clock, 'now' | 'id' | 'after'>
  readonly logger: Logger
}

/**
 * Undoes the deletion of a source that a destination uses, if the deleting process does not.
 * Destinations in files do not count, because processes can have different files.
 */
export function createSourceDeletionUndo({ store, writer, clock, logger }: Deps): { stop(): void } {
  const stopped = new AbortController()

  const all: AllObjects = {
    file: { sources: [], destinations: [], audiences: { emitPerSecond: 1, list: [] }, canary: undefined },
    ...{ object: store.object, objects: store.objects },
  }
  const isUsed = (source: ObjectName): boolean => usesOf(source, all).length > 0

  /** Whether another source now has one of the deleted source's write keys. */
  const isKeyTaken = ({ current }: Before): boolean =>
    current !== undefined && brokenReferences(current.parsed, current.document, all).length > 0

  async function undo(deletion: ObjectRecord & ObjectName, before: Before): Promise<void> {
    const { kind, id, writeId } = deletion
    for (;;) {
      await sleep(clock, undoAfter, stopped.signal)
      if (stopped.signal.aborted || store.known(deletion)?.writeId !== writeId) return
      if (!isUsed(deletion) || isKeyTaken(before)) return
      const result = await writer.write(undoOf(deletion, before, { at: clock.now(), writeId: clock.id() }))
      if (result.kind === 'applied') return logger.warn({ kind, id }, undone)
    }
  }

  function onRecord(record: ObjectRecord, result: ApplyResult, before: KnownVersion | undefined): void {
    const { kind, action } = record
    if (result !== 'applied' || kind !== 'source' || action !== 'deleted' || !isObjectRecord(record)) return
    if (before === undefined || !isObjectRecord(before) || before.value === undefined || !isUsed(record)) return
    void undo(record, { known: before, current: readObject(before, before.value, store.reading) })
  }

  store.listen({ onRecord })
  return { stop: () => stopped.abort() }
}
