/** On which version of a machine its entries are written. Pure. */
import type { Machine } from '../../../api/generated/types.ts';
import { machineChanged } from '../observe/triggers.ts';

/**
 * The newest that is known, where nothing that counts for a plan has changed since: conditions that other controllers write while
 * a batch is carried out make no write void. Otherwise the one that was read, which the server refuses, and the set is planned again.
 */
export function currentVersion(read: Machine, newest: Machine | undefined): string | undefined {
  const isSame =
    newest !== undefined && newest.metadata.uid === read.metadata.uid && !machineChanged(read, newest);
  return (isSame ? newest : read).metadata.resourceVersion;
}
