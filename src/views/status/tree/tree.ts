/** Shows what one cluster runs and what is in the way, as a tree: the cluster, its units and its objects. Pure. */
import type { Cluster, ClusterSync, CorrectedDrift, SyncFailure } from '../../../api/generated/types.ts';
import { activePauses, pauseFlag } from '../../../api/status/pauses.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { formatCount } from '../../text/counts.ts';
import type { ClusterRow } from '../hub-status.ts';
import { unblockCluster, unblockObject } from './unblock.ts';

export interface ClusterTree {
  readonly cluster: ClusterRow;
  /** The conditions that tell more than the row. */
  readonly conditions: readonly TreeNode[];
  readonly units: readonly TreeNode[];
  readonly objects: readonly TreeNode[];
  /** The objects that sync corrected last as it recorded them, newest first. */
  readonly drift: CorrectedDrift;
  /** The hint that ends the state of the cluster. */
  readonly unblock: string;
}

/** Each node is one unit, object or condition, or several equal ones. */
export interface TreeNode {
  readonly names: readonly string[];
  /** The number of what the node represents, if not all have names. */
  readonly count: number;
  readonly state: string;
  readonly because: string;
  readonly since?: string;
  /** The hint that ends the state. Empty: the state is as it should be. */
  readonly unblock: string;
  /** The objects of a unit that failed or wait. */
  readonly objects?: readonly TreeNode[];
}

export function treeOf(cluster: Cluster, row: ClusterRow, now: Date): ClusterTree {
  const { status } = cluster;
  const reason = status?.waiting?.reason ?? conditionOf(status?.conditions, 'Progressing')?.reason ?? '';
  return {
    cluster: row,
    conditions: conditionNodes(cluster, row),
    units: unitNodes(cluster, row, now),
    objects: objectNodes(cluster),
    drift: driftOf(cluster),
    unblock: unblockCluster({ ...row, reason }),
  };
}

function driftOf({ status }: Cluster): CorrectedDrift {
  return status?.sync?.drift ?? { total: 0, objects: [] };
}

/** Lists the conditions that are not True, with a message that is not the one of the cluster. */
function conditionNodes({ status }: Cluster, row: ClusterRow): readonly TreeNode[] {
  return ['Reachable', 'IdentityVerified', 'Healthy', 'Synced'].flatMap((type) => {
    const condition = conditionOf(status?.conditions, type);
    if (!condition || condition.status === 'True' || isTold(row, condition.message)) return [];
    const { lastTransitionTime, message, reason } = condition;
    const state = `${type}=${condition.status}`;
    const because = message === '' ? reason : message;
    return [{ names: [type], count: 1, state, because, since: lastTransitionTime, unblock: '' }];
  });
}

function isTold({ because, pending = '' }: ClusterRow, message: string): boolean {
  return message !== '' && [because, pending].some((text) => text.includes(message));
}

/** The name that promotion writes in place of too many units. */
const ALL_UNITS = '*';

/** Lists the units that are paused, held or soak, equal ones together, then each unit with objects that failed or wait. */
function unitNodes(cluster: Cluster, row: ClusterRow, now: Date): readonly TreeNode[] {
  const { status } = cluster;
  const sync: ClusterSync = status?.sync ?? {};
  const soaking = row.state === 'Soaking' ? soakNodes(sync) : [];
  const states = [...pausedNodes(cluster, row, now), ...heldNodes(row, sync), ...soaking];
  const failing = failuresByUnit(sync, status);
  const others = states.flatMap((node) => {
    const names = node.names.filter((unit) => !failing.has(unit));
    return names.length > 0 ? [{ ...node, names, count: names.length }] : [];
  });
  const failed = [...failing].map(([unit, { state, objects }]) => {
    const own = states.find(({ names }) => names.includes(unit)) ?? { state, because: '', unblock: '' };
    return { ...own, names: [unit], count: 1, objects };
  });
  return [...others, ...failed];
}

/** Lists the objects that could not be applied, and then those that failed after they were applied. */
function failuresByUnit(
  { failures = [], unhealthy = [] }: ClusterSync,
  status: Cluster['status'],
): ReadonlyMap<string, Pick<TreeNode, 'state'> & { readonly objects: readonly TreeNode[] }> {
  const listed = [...failures, ...unhealthy].flatMap(({ unit }) => unit ?? []);
  const units = [...new Set(listed)].toSorted(byCode);
  return new Map(
    units.map((unit) => {
      const notApplied = failures.filter((failure) => failure.unit === unit);
      const failed = unhealthy.filter((failure) => failure.unit === unit);
      const state = notApplied.length > 0 ? 'not as in git' : 'unhealthy';
      const objects = [
        ...failureNodes(notApplied, conditionSince(status, 'Synced')),
        ...failureNodes(failed, conditionSince(status, 'Healthy')),
      ];
      return [unit, { state, objects }];
    }),
  );
}

function pausedNodes(
  cluster: Cluster,
  { name, pipeline = '<pipeline>' }: ClusterRow,
  now: Date,
): readonly TreeNode[] {
  return activePauses(cluster, now).flatMap((pause) => {
    const { by, reason, since, until } = pause;
    const part = pause.object ?? pause.unit;
    if (part === undefined) return [];
    const unblock = `kubenode release resume ${pipeline} --cluster ${name} ${pauseFlag(pause)}`;
    return [
      nodeOf([part], {
        state: 'Paused',
        because: `by ${by}${until === undefined ? '' : ` until ${until}`}: ${reason}`,
        unblock,
        ...optional('since', since),
      }),
    ];
  });
}

function heldNodes(row: ClusterRow, { held = [] }: ClusterSync): readonly TreeNode[] {
  if (held.length === 0) return [];
  const unblock = `kubenode release acknowledge ${row.name} --reason TEXT, which prints what to commit`;
  const units = held.map(({ unit }) => unit).toSorted(byCode);
  const node = { state: 'Held', because: 'deletes are held', unblock };
  return [nodeOf(units, { ...node, ...optional('since', row.since) })];
}

function soakNodes({ soak }: ClusterSync): readonly TreeNode[] {
  const clocks = Map.groupBy(soak?.clocks ?? [], ({ since }) => since);
  return [...clocks].map(([since, own]) =>
    nodeOf(
      own.map(({ unit }) => (unit === ALL_UNITS ? 'all units' : unit)),
      { state: 'Soaking', because: '', since, unblock: 'no action required: it goes on when the soak ends' },
    ),
  );
}

/** Lists the objects of no known unit that failed or wait, how many more do, and how many match git. */
function objectNodes({ status }: Cluster): readonly TreeNode[] {
  const { failures = [], objects = {} }: ClusterSync = status?.sync ?? {};
  const { failed = 0, applied = 0 } = objects;
  const since = conditionSince(status, 'Synced');
  const others = failures.filter(({ unit }) => unit === undefined);
  return [
    ...failureNodes(others, since),
    ...unlistedNode(failed - failures.length, since),
    ...matchingNode(applied),
  ];
}

/** Returns the time since which the condition is not True. An object is not reported with a time of its own: it fails at most as long. */
function conditionSince(status: Cluster['status'], type: 'Synced' | 'Healthy'): string | undefined {
  const condition = conditionOf(status?.conditions, type);
  return condition?.status === 'True' ? undefined : condition?.lastTransitionTime;
}

/** Lists the failures; objects that fail for the same reason are one node. */
function failureNodes(failures: readonly SyncFailure[], since: string | undefined): readonly TreeNode[] {
  const groups = Map.groupBy(failures, ({ object = '', reason, message = '' }) =>
    JSON.stringify([reason, object === '' ? message : message.replaceAll(object, '')]),
  );
  return [...groups.values()].map((group) => {
    const { reason = 'Failed', message = '' } = group[0] ?? {};
    const names = group.map(({ object = 'an object' }) => object);
    const unblock = unblockObject(reason);
    return nodeOf(names, { state: reason, because: message, unblock, ...optional('since', since) });
  });
}

/** Returns a node for the failures that the status does not list: it has the first 20. */
function unlistedNode(count: number, since: string | undefined): readonly TreeNode[] {
  if (count <= 0) return [];
  const unblock = 'fix those above first: the next ones are listed then';
  return [{ names: [], count, state: 'Failed', because: 'not listed', unblock, ...optional('since', since) }];
}

function matchingNode(applied: number): readonly TreeNode[] {
  if (applied === 0) return [];
  const because = `${formatCount(applied, 'object')} as in git`;
  return [{ names: [], count: applied, state: 'Applied', because, unblock: '' }];
}

function nodeOf(names: readonly string[], node: Omit<TreeNode, 'names' | 'count'>): TreeNode {
  return { names, count: names.length, ...node };
}
