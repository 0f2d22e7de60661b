/** Lists what changed between two observations of a hub, a line each: for logs and pipes. Pure. */
import { printableLine } from '../../kube/objects/printable.ts';
import { relativeTimes, shortCommit, withoutTimes } from '../text/age.ts';
import { listNames } from '../text/list-names.ts';
import { type ClusterGroup, groupClusters, stateKey } from './groups.ts';
import { type HubStatus, inOneLine, type PipelineRow } from './hub-status.ts';

/** Lists the changes since `before`; without it, everything. Clusters that changed in the same way share a line. */
export function hubChanges(before: HubStatus | undefined, after: HubStatus, now: Date): readonly string[] {
  const states = new Map(before?.clusters.map((row) => [row.name, stateKey(row)]));
  const changed = after.clusters.filter((row) => states.get(row.name) !== stateKey(row));
  return [
    ...newOnes(before?.unsynced, after.unsynced),
    ...endedReasons(before, after),
    ...newOnes(before?.incidents, after.incidents),
    ...endedIncidents(before, after),
    ...newOnes(before?.pipelines.map(pipelineLine), after.pipelines.map(pipelineLine)),
    ...removed('pipeline', before?.pipelines, after.pipelines),
    ...groupClusters(changed).map(clusterLine),
    ...removed('cluster', before?.clusters, after.clusters),
    ...newOnes(before?.notes, after.notes),
  ].map((line) => printableLine(relativeTimes(inOneLine(line), now)));
}

function newOnes(before: readonly string[] = [], after: readonly string[]): readonly string[] {
  const known = new Set(before.map(withoutTimes));
  return after.filter((text) => !known.has(withoutTimes(text)));
}

function endedReasons(before: HubStatus | undefined, { unsynced }: HubStatus): readonly string[] {
  return before && before.unsynced.length > 0 && unsynced.length === 0
    ? ['every pipeline is synced again']
    : [];
}

function endedIncidents(before: HubStatus | undefined, { incidents }: HubStatus): readonly string[] {
  return before && before.incidents.length > 0 && incidents.length === 0
    ? ['every cluster is healthy again']
    : [];
}

function pipelineLine({ name, phase, head, verdict, because }: PipelineRow): string {
  return `pipeline ${name}: ${phase}, head ${shortCommit(head)} ${verdict}: ${because}`;
}

function clusterLine({ names, row }: ClusterGroup): string {
  const { stage, state, commit, because } = row;
  const clusters = `${names.length === 1 ? 'cluster' : `${names.length} clusters`} ${listNames(names)}`;
  return `${stage ? `stage ${stage}: ` : ''}${clusters}: ${state} ${shortCommit(commit)}${syncedText(row)}${unhealthyText(row)}: ${because}`;
}

/** Formats the sync state of a cluster; empty where it is in sync, or where its state explains it. */
export function syncedText({ state, synced }: ClusterGroup['row']): string {
  if (synced === 'True' || ['Applying', 'Pending'].includes(state)) return '';
  return synced === 'False' ? ', not in sync' : ', sync unknown';
}

/** Formats the health of a cluster; empty where it is healthy, or where that is not known yet: its state explains why. */
export function unhealthyText({ health }: ClusterGroup['row']): string {
  return health === 'Unhealthy' ? ', Unhealthy' : '';
}

interface Named {
  readonly name: string;
}

function removed(kind: string, before: readonly Named[] = [], after: readonly Named[]): readonly string[] {
  const left = new Set(after.map(({ name }) => name));
  return before.filter(({ name }) => !left.has(name)).map(({ name }) => `${kind} ${name} was deleted`);
}
