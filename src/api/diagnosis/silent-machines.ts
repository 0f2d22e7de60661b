/** Selects the silent machines that a machine is asked to probe, from an index. */
import type { Store } from '../../kube/cache/store.ts';
import type { Machine } from '../generated/types.ts';

const PEER = 'peer';

/** Indexes the view of Machines by the peers of those that are silent. */
export const MACHINE_INDEXERS = {
  [PEER]: ({ status }: Machine): readonly string[] => status?.silence?.peers ?? [],
};

export function silentMachinesOf(
  peer: string,
  machines: Pick<Store<Machine>, 'byIndex'>,
): readonly Machine[] {
  return machines.byIndex(PEER, peer);
}
