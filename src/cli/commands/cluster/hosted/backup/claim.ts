/** Reads the backups of a hosted cluster of driver `workload`: hosting writes their list to the claim of the volume that has them. */
import { CLUSTERS } from '../../../../../api/generated/resources.ts';
import type { Cluster } from '../../../../../api/generated/types.ts';
import { backupsOf, parseBackupList } from '../../../../../controllers/hosting/drivers/etcd/backup/list.ts';
import {
  ANNOTATION_BACKUPS,
  BACKUPS,
  planeNamespace,
} from '../../../../../controllers/hosting/drivers/workload/names.ts';
import { VOLUME_CLAIMS } from '../../../../../controllers/hosting/drivers/workload/objects/namespace.ts';
import type { Client } from '../../../../../kube/client/client.ts';
import { unlessMissing } from '../../../../../kube/client/errors.ts';
import { conditionOf } from '../../../../../kube/objects/conditions.ts';
import type { KubeObject } from '../../../../../kube/objects/object.ts';
import { optional } from '../../../../../kube/objects/optional.ts';
import { formatAge } from '../../../../../views/text/age.ts';
import type { Table } from '../../../../../views/text/table.ts';
import { CliError, EXIT } from '../../../../errors.ts';

export interface ClaimBackups {
  /** `kn-ci/etcd-backups`. */
  readonly claim: string;
  readonly backups: readonly ClaimBackup[];
  /** Tells why there is none, where hosting has reported that. */
  readonly reason?: string;
}

export interface ClaimBackup {
  readonly name: string;
  readonly takenAt: string;
  /** The request of a person that it answers. */
  readonly request?: string | undefined;
}

/** The claim may be there without the Cluster, which `deletion.policy: Orphan` leaves. `folder` is where the backups of processes would be. Errors of the hub are turned into others by the caller. */
export async function readClaimBackups(
  client: Client,
  { name, folder, signal }: { readonly name: string; readonly folder: string; readonly signal: AbortSignal },
  unanswered: (error: unknown) => never,
): Promise<ClaimBackups> {
  const place = { name: BACKUPS, namespace: planeNamespace(name) };
  const claim = await unlessMissing(client.get(VOLUME_CLAIMS, place, { signal })).catch(unanswered);
  const cluster = await unlessMissing(client.get<Cluster>(CLUSTERS, { name }, { signal })).catch(unanswered);
  if (claim) return { ...claimBackups(claim), ...optional('reason', reasonOf(cluster)) };
  if (cluster?.spec.hosted?.driver !== 'workload') {
    throw notFound(cluster, { name, folder, server: client.server });
  }
  return { claim: `${place.namespace}/${place.name}`, backups: [], ...optional('reason', reasonOf(cluster)) };
}

/** Rejects a list that somebody edited: an empty one would be mistaken for a cluster without backups. */
export function claimBackups({ metadata }: KubeObject): ClaimBackups {
  const claim = `${metadata.namespace}/${metadata.name}`;
  const text = metadata.annotations?.[ANNOTATION_BACKUPS];
  const list = parseBackupList(text);
  if (text !== undefined && !list) {
    throw new CliError(
      `annotation ${ANNOTATION_BACKUPS} of PersistentVolumeClaim ${claim} is not a list of backups`,
      {
        hint: 'remove the annotation: hosting writes it again with the next backup (kubenode cluster backup now)',
        exitCode: EXIT.badInput,
      },
    );
  }
  const backups = list ? backupsOf(list) : [];
  return { claim, backups: backups.map((each) => ({ ...each, takenAt: each.takenAt.toISOString() })) };
}

function reasonOf(cluster: Cluster | undefined): string | undefined {
  const ready = conditionOf(cluster?.status?.conditions, 'BackupReady');
  return ready?.status === 'True' ? undefined : ready?.message;
}

interface Missing {
  readonly name: string;
  readonly folder: string;
  readonly server: string;
}

function notFound(cluster: Cluster | undefined, { name, folder, server }: Missing): CliError {
  if (cluster && !cluster.spec.hosted) {
    return new CliError(`Cluster ${name} is not hosted: the hub only syncs it`, {
      hint: 'list its backups with the tools of that cluster',
      exitCode: EXIT.badInput,
    });
  }
  const what = cluster
    ? `Cluster ${name} runs as processes`
    : `Cluster ${name} does not exist in this cluster`;
  return new CliError(`${what}, and has no backup in ${folder}`, {
    where: server,
    hint: 'run the command on the machine that hosts it, with the --dir of its hosting, or select the hub with --context',
    exitCode: EXIT.badInput,
  });
}

export function claimTable(
  { claim, backups, reason }: ClaimBackups,
  { cluster, now }: { readonly cluster: string; readonly now: Date },
): Table {
  const why = reason === undefined ? '' : `: ${reason}`;
  return {
    columns: ['name', 'age', 'request'],
    rows: backups.map(({ name, takenAt, request = '-' }) => [name, formatAge(takenAt, now), request]),
    empty: `Cluster ${cluster} has no backup in PersistentVolumeClaim ${claim}${why}`,
  };
}
