/** Finds what is missing from a control plane and is never made again. Nothing is started or stopped meanwhile, so that nothing hides it. Pure. */
import { etcdReports } from './etcd/quorum.ts';
import type { HostingDecision, HostingInput, HostingWait } from './input.ts';
import { isNamespace, planePlace } from './names.ts';
import { isAborting, rotationInWork } from './rotation/state.ts';
import { wait, withHint } from './wait.ts';

const CREATE_AGAIN = 'delete the Cluster and create it again';

/** The claim of backups ends with the namespace, and the volume of a class with reclaimPolicy Delete, too: they may be all that is left. */
function createAgain(plane: HostingInput['plane']): string {
  return isNamespace(plane)
    ? `set the volume of claim etcd-backups to Retain (runbook etcd-backup), then ${CREATE_AGAIN}`
    : CREATE_AGAIN;
}

export function planLosses(input: HostingInput): HostingDecision | undefined {
  const found = missingPlane(input) ?? keysLost(input) ?? foreignData(input) ?? missingData(input);
  return found && { wait: found };
}

/** Other keys and an empty etcd would strand every client, and hide that the data is lost. */
function missingPlane({ plane, cluster }: HostingInput): HostingWait | undefined {
  const readyAt = cluster.status?.hosted?.readyAt;
  if (plane.claim !== 'None' || readyAt === undefined) return undefined;
  const message = `the control plane was ready at ${readyAt}, and ${plane.where} is empty now`;
  const hint = `restore the ${isNamespace(plane) ? 'namespace' : 'folder'}, or ${CREATE_AGAIN}`;
  return wait('ControlPlaneMissing', withHint(message, hint), planePlace(plane), 'stalled');
}

/** A rotation is taken back without the new keys that never issued anything. */
function keysLost(input: HostingInput): HostingWait | undefined {
  const { plane } = input;
  const rotation = rotationInWork(input);
  const { lostUnused = [] } = rotation && isAborting(input, rotation) ? plane : {};
  const lostKeys = plane.lostKeys.filter((problem) => !lostUnused.includes(problem));
  if (lostKeys.length === 0) return undefined;
  const message = `keys of the control plane are lost: ${lostKeys.join('; ')}`;
  const hint = `restore these files from a backup, or ${createAgain(plane)}`;
  return wait('KeysLost', withHint(message, hint), planePlace(plane), 'stalled');
}

function foreignData({ plane }: HostingInput): HostingWait | undefined {
  if (plane.claim !== 'Own' || plane.data !== 'Other') return undefined;
  const message = 'etcd has the data of another control plane, or of one that is not known';
  const hint = `restore the data of this one in ${plane.where}, or ${createAgain(plane)}`;
  return wait('DataNotOurs', withHint(message, hint), planePlace(plane), 'stalled');
}

/** An etcd that starts without its data looks healthy and has lost everything. Before it was ready it had nothing to lose. */
function missingData({ plane, cluster }: HostingInput): HostingWait | undefined {
  const readyAt = cluster.status?.hosted?.readyAt;
  if (plane.claim !== 'Own' || plane.data !== 'Empty' || readyAt === undefined) return undefined;
  const reports = etcdReports({ plane });
  const left = reports.filter(({ data }) => data === 'Own').length;
  const now = reports.length === 1 ? 'has none now' : `${left} of ${reports.length} members have them now`;
  const message = `etcd had data at ${readyAt}, and ${now}`;
  return wait(
    'DataMissing',
    withHint(message, `restore it in ${plane.where}, or ${createAgain(plane)}${fromBackup(plane)}`),
    planePlace(plane),
    'stalled',
  );
}

function fromBackup({ backup }: HostingInput['plane']): string {
  const last = backup?.backups.at(-1);
  return last ? `, with spec.hosted.etcd.restoreFrom: ${last.name}` : '';
}
