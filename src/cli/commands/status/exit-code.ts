/** The exit code of `kubenode status`: whether machines are well, and whether the commit is everywhere. Pure. */

import { BAD_STATES, type ClusterRow, type HubStatus } from '../../../views/status/hub-status.ts';
import { EXIT, type ExitCode } from '../../errors.ts';

/** The first that holds. What nothing syncs is as it was recorded last, so that its machines prove nothing. */
export function hubExitCode({ unsynced, incidents, trouble, pipelines, clusters }: HubStatus): ExitCode {
  if (unsynced.length > 0) return EXIT.failed;
  if (incidents.length > 0) return EXIT.unhealthy;
  if (trouble.length > 0) return EXIT.failed;
  const isEverywhere = pipelines.every(({ phase }) => phase === 'UpToDate') && clusters.every(hasItsCommit);
  return isEverywhere ? EXIT.ok : EXIT.changes;
}

export function clusterExitCode(row: ClusterRow, { unsynced }: Pick<HubStatus, 'unsynced'>): ExitCode {
  if (unsynced.length > 0) return EXIT.failed;
  if (row.incidents.length > 0) return EXIT.unhealthy;
  if (BAD_STATES.has(row.state)) return EXIT.failed;
  return hasItsCommit(row) ? EXIT.ok : EXIT.changes;
}

/** A cluster that no pipeline selects has none. */
function hasItsCommit({ pipeline, state, synced }: ClusterRow): boolean {
  return pipeline === undefined || (state === 'Proven' && synced === 'True');
}
