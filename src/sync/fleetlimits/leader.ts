/**
 * Hands out allowances while this process leads: reads what the clusters have, plans, and writes what differs. It keeps nothing that
 * another process would need: what the clusters have is the record.
 */
import type { FleetAllowance, FleetAllowanceSpec, FleetPolicy } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { Clock } from '../../os/clock.ts';
import { secondsAfter } from '../../os/dates.ts';
import { type BuildInput, buildAllowance, isDue, isEmptyAllowance, isSame } from './build.ts';
import { type CausesByPolicy, findCauses } from './causes/find.ts';
import { mayHold, shareOf } from './committed.ts';
import type { ClusterFacts, FleetInput, LinkedCluster, LinkState } from './fleet.ts';
import { type FleetPlan, planShares } from './plan.ts';

/** Holds what one cluster has, as far as this process knows. */
export type ClusterReading =
  | { readonly allowance: FleetAllowance | 'None'; readonly skewSeconds?: number }
  | { readonly because: string; readonly notServed?: true };

export interface ClusterPort {
  readonly name: string;
  facts(): ClusterFacts;
  read(): ClusterReading;
  /** Writes the allowance if the cluster still has what was read. Rejects when it is not known whether it was written. */
  write(spec: FleetAllowanceSpec, base: FleetAllowance | 'None'): Promise<'Written' | 'NotWritten'>;
}

export interface LeaderOptions {
  /** UID of the hub. */
  readonly hub: string;
  readonly epoch: number;
  readonly clock: Pick<Clock, 'now'>;
  readonly failed?: (cluster: string, error: unknown) => void;
}

export interface FleetReconcile {
  readonly input: FleetInput;
  readonly plan: FleetPlan;
  readonly causes: CausesByPolicy;
  /** An epoch in a cluster that is not below ours, and that this process did not write: it must lead with a higher one. */
  readonly epochAbove?: number;
}

export interface AllowanceLeader {
  /** Reads, plans and writes once. It is never called while another call is under way. */
  reconcile(policies: readonly FleetPolicy[], ports: readonly ClusterPort[]): Promise<FleetReconcile>;
}

interface Link {
  /** The last allowance that this process has sent. */
  lastSent: FleetAllowanceSpec | undefined;
  /** Whether the cluster adopted an allowance of this process, or there is nothing to adopt. */
  isJoined: boolean;
  state: LinkState;
  since: Date;
  last: FleetAllowance | 'None' | undefined;
  requestedSince: Date | undefined;
  keepsUntil: Date | undefined;
  /** Allowances that were sent and have not been read since. */
  attempts: readonly FleetAllowanceSpec[];
  /** Allowances that were sent and that the cluster may still adopt. */
  adoptable: readonly FleetAllowanceSpec[];
}

const MAX_SKEW_SECONDS = 30;
/** A cluster that got a share asks again within this time. */
const KEEP_SECONDS = 60;

export function createAllowanceLeader(options: LeaderOptions): AllowanceLeader {
  const { clock } = options;
  const takeover = clock.now();
  const links = new Map<string, Link>();

  return {
    async reconcile(policies, ports) {
      for (const name of missingFrom(links, ports)) links.delete(name);
      const now = clock.now();
      const clusters = ports.map((port) => observe(options, linkOf(port.name), { port, now }));
      const input = { policies, clusters, takeover, now };
      const plan = planShares(input);
      const epochs = clusters.flatMap(({ name, allowance }) =>
        foreignEpoch(options, linkOf(name), allowance),
      );
      const causes = findCauses(input);
      if (epochs.length > 0) return { input, plan, causes, epochAbove: Math.max(...epochs) };
      const served = ports.flatMap((port, index) => {
        const cluster = clusters[index];
        const isServed = cluster?.state === 'Known' || cluster?.state === 'Joining';
        return cluster && isServed ? [{ port, cluster, input, plan, causes }] : [];
      });
      await Promise.all(served.map((each) => write(options, linkOf(each.port.name), each)));
      return { input, plan, causes };
    },
  };

  function linkOf(name: string): Link {
    const link = links.get(name) ?? createLink(takeover);
    links.set(name, link);
    return link;
  }
}

function createLink(since: Date): Link {
  return {
    lastSent: undefined,
    isJoined: false,
    state: 'Unread',
    since,
    last: undefined,
    requestedSince: undefined,
    keepsUntil: undefined,
    attempts: [],
    adoptable: [],
  };
}

function missingFrom(links: ReadonlyMap<string, Link>, ports: readonly ClusterPort[]): readonly string[] {
  const names = new Set(ports.map(({ name }) => name));
  return [...links.keys()].filter((name) => !names.has(name));
}

interface Observation {
  readonly port: ClusterPort;
  readonly now: Date;
}

function observe(options: LeaderOptions, link: Link, { port, now }: Observation): LinkedCluster {
  const reading = port.read();
  if ('allowance' in reading) hear(options, link, reading.allowance, now);
  const state = stateOf(options, link, reading, now);
  if (state !== link.state) Object.assign(link, { state, since: now });
  link.requestedSince = isRequesting(link.last) ? (link.requestedSince ?? now) : undefined;
  return {
    ...port.facts(),
    state,
    since: link.since,
    ...optional('because', becauseOf(reading, link.last)),
    // While the cluster is cut off, what was read before counts on.
    ...optional('allowance', link.last === 'None' ? undefined : link.last),
    attempts: link.attempts,
    adoptable: link.adoptable,
    ...optional('keepsUntil', link.keepsUntil),
    ...optional('requestedSince', link.requestedSince),
    ...optional('isSkewed', isSkewed(reading) || undefined),
  };
}

function isSkewed(reading: ClusterReading): boolean {
  return 'allowance' in reading && Math.abs(reading.skewSeconds ?? 0) > MAX_SKEW_SECONDS;
}

function isRequesting(last: Link['last']): boolean {
  if (last === undefined || last === 'None') return false;
  return (last.status?.limits ?? []).some(({ requested = 0 }) => requested > 0);
}

/** A write whose answer was lost is settled by what is read afterwards, and every earlier one by what the cluster adopted. */
function hear(
  { epoch, hub }: LeaderOptions,
  link: Link,
  allowance: FleetAllowance | 'None',
  now: Date,
): void {
  link.last = allowance;
  link.adoptable = link.adoptable.filter(({ until }) => mayHold(until, now));
  if (allowance === 'None') return;
  const { spec, status } = allowance;
  if (spec.hub === hub && spec.epoch === epoch) {
    // Each write names the version that it is based on, so that earlier ones cannot arrive any more.
    link.attempts = link.attempts.filter(({ seq }) => seq > spec.seq);
  }
  if (status?.hub !== hub || status.epoch !== epoch) return;
  link.isJoined = true;
  const { seq: adopted = 0 } = status;
  link.adoptable = link.adoptable.filter(({ seq }) => seq > adopted);
}

function stateOf({ hub }: LeaderOptions, link: Link, reading: ClusterReading, now: Date): LinkState {
  if (!('allowance' in reading)) {
    if (reading.notServed) return 'NotServed';
    return link.isJoined ? 'CutOff' : 'Unread';
  }
  const { allowance } = reading;
  const isOfOther = allowance !== 'None' && allowance.spec.hub !== hub && mayHold(allowance.spec.until, now);
  if (isOfOther) return 'OtherHub';
  return link.isJoined ? 'Known' : 'Joining';
}

function becauseOf(reading: ClusterReading, last: Link['last']): string | undefined {
  if (!('allowance' in reading)) return reading.because;
  if (last === undefined || last === 'None') return undefined;
  return `hub ${last.spec.hub} handed out what is valid until ${last.spec.until}`;
}

/** A Lease that was restored from a backup gives an epoch again that an earlier process wrote. */
function foreignEpoch(
  { hub, epoch }: LeaderOptions,
  { lastSent }: Link,
  allowance: FleetAllowance | undefined,
): readonly number[] {
  if (!allowance || allowance.spec.hub !== hub) return [];
  const found = allowance.spec.epoch;
  const isOurs = found === epoch && lastSent !== undefined;
  return found < epoch || isOurs ? [] : [found];
}

interface PlannedWrite extends Pick<BuildInput, 'cluster' | 'input' | 'plan' | 'causes'> {
  readonly port: ClusterPort;
}

async function write(
  { hub, epoch, failed }: LeaderOptions,
  link: Link,
  { port, ...planned }: PlannedWrite,
): Promise<void> {
  const { cluster, input } = planned;
  const built = { ...planned, hub, epoch, ...nextAfter(link) };
  const spec = buildAllowance(built);
  if (!isDue(built, spec)) {
    // No policy selects the cluster, and no process has given it anything.
    link.isJoined ||= isEmptyAllowance(spec);
    return;
  }
  // Before it is sent: whatever happens now, it may have been written.
  noteSent(link, spec, { before: cluster.allowance?.spec, now: input.now });
  try {
    const result = await port.write(spec, link.last ?? 'None');
    if (result === 'Written') return;
    link.attempts = link.attempts.filter((each) => each !== spec);
    link.adoptable = link.adoptable.filter((each) => each !== spec);
  } catch (error) {
    failed?.(cluster.name, error);
  }
}

function nextAfter({ lastSent: sent }: Link): Pick<BuildInput, 'seq' | 'sent'> {
  return sent ? { seq: sent.seq + 1, sent } : { seq: 1 };
}

interface SentAfter {
  readonly before: FleetAllowanceSpec | undefined;
  readonly now: Date;
}

/** A cluster that gets a share keeps it for a while, and goes to the end of the queue. */
function noteSent(link: Link, spec: FleetAllowanceSpec, { before, now }: SentAfter): void {
  link.lastSent = spec;
  link.attempts = [...link.attempts.filter((each) => !isSame(each, spec)), spec];
  link.adoptable = [...link.adoptable.filter((each) => !isSame(each, spec)), spec];
  if (!hasMore(spec, before)) return;
  link.requestedSince = undefined;
  link.keepsUntil = secondsAfter(now, KEEP_SECONDS);
}

function hasMore(next: FleetAllowanceSpec, present: FleetAllowanceSpec | undefined): boolean {
  return next.limits.some(({ id, share }) => share > shareOf(present, id));
}
