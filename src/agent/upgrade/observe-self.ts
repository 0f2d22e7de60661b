import type { Host } from '../host/port.ts';
import type { AgentSelf, SelfObservation } from './self.ts';
import { readSlots } from './slot-store.ts';
import { watchdogUnit } from './watchdog-unit.ts';

/** The watchdog first: when it has ended, its verdict is in the slots. */
export async function observeSelf(
  { files, units, directory }: Pick<Host, 'files' | 'units' | 'directory'>,
  self: AgentSelf,
): Promise<SelfObservation> {
  const status = await units.status(watchdogUnit([]));
  const isWatched = status?.active === 'Active' || status?.active === 'Activating';
  return { ...self, directory, isWatched, slots: await readSlots(files) };
}
