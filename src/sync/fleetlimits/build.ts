/** Builds the allowance of a cluster from a plan, and tells whether it has to be written. Pure. */
import { isDeepStrictEqual } from 'node:util';
import type { FleetAllowanceSpec, FleetLimit, FleetPolicy } from '../../api/generated/types.ts';
import { optional } from '../../kube/objects/optional.ts';
import { isSelected } from '../../kube/objects/selector.ts';
import { secondsAfter } from '../../os/dates.ts';
import { type CausesByPolicy, causesFor } from './causes/find.ts';
import { type FleetInput, type LimitOfFleet, type LinkedCluster, stopFor } from './fleet.ts';
import type { FleetPlan } from './plan.ts';

export interface BuildInput {
  readonly cluster: LinkedCluster;
  readonly input: FleetInput;
  readonly plan: FleetPlan;
  readonly causes: CausesByPolicy;
  readonly hub: string;
  readonly epoch: number;
  /** Above every one that this process has sent to the cluster: the Defender adopts no lower one, also after the object was deleted. */
  readonly seq: number;
  /** The last allowance that this process has sent to the cluster. */
  readonly sent?: FleetAllowanceSpec;
}

const MAX_MESSAGE = 256;
const DEFAULT_SECONDS = 300;
const RETRY_MS = 10_000;

export function buildAllowance({
  cluster,
  input,
  plan,
  causes,
  hub,
  epoch,
  seq,
}: BuildInput): FleetAllowanceSpec {
  const { now, policies } = input;
  const { name } = cluster;
  return {
    hub,
    epoch,
    seq,
    cluster: name,
    at: now.toISOString(),
    until: secondsAfter(now, lifetime(policies, cluster)).toISOString(),
    killSwitch: stopFor(policies, cluster, now),
    limits: plan.limits.filter((limit) => limit.selects(cluster)).map((limit) => limitFor(limit, name, plan)),
    ...optional('causes', causesFor(cluster, policies, causes)),
  };
}

/** The shortest of all policies, so that each of them is kept. */
function lifetime(policies: readonly FleetPolicy[], { labels }: LinkedCluster): number {
  const own = policies.filter(({ spec }) => isSelected(spec.clusterSelector, labels));
  const seconds = own.map(({ spec }) => spec.allowanceSeconds);
  return seconds.length === 0 ? DEFAULT_SECONDS : Math.min(...seconds);
}

function limitFor(limit: LimitOfFleet, cluster: string, { shares, waiting }: FleetPlan): FleetLimit {
  const { id, kind, floor, actions, windowSeconds, max, per } = limit;
  const wait = waiting.find((each) => each.cluster === cluster && each.limit === id);
  return {
    id,
    kind,
    share: shares.get(cluster)?.get(id) ?? 0,
    floor,
    actions,
    max,
    per,
    ...optional('windowSeconds', windowSeconds),
    ...optional('message', wait?.because.slice(0, MAX_MESSAGE)),
  };
}

/** Tells whether to write. An allowance without limits is not renewed, and not taken over from an earlier process. */
export function isDue(built: BuildInput, next: FleetAllowanceSpec): boolean {
  const last = built.cluster.attempts.at(-1);
  const present = last ?? storedAs(built);
  if (isLost(last, built.input.now)) return true;
  if (isEmptyAllowance(next) && isEmptyAllowance(present)) return false;
  return !present || isOutdated(present, next, built);
}

/** An older cluster drops fields that it does not know: what was sent counts, or it would be sent in each reconcile. */
function storedAs({ cluster: { allowance }, sent }: BuildInput): FleetAllowanceSpec | undefined {
  const stored = allowance?.spec;
  return sent && stored?.epoch === sent.epoch && stored.seq === sent.seq ? sent : stored;
}

/** The answer of the last write was lost: it is sent again after a while. */
function isLost(last: FleetAllowanceSpec | undefined, now: Date): boolean {
  return last !== undefined && +now - Date.parse(last.at) >= RETRY_MS;
}

function isOutdated(
  present: FleetAllowanceSpec,
  next: FleetAllowanceSpec,
  { hub, epoch }: BuildInput,
): boolean {
  const isOfOthers = present.hub !== hub || present.epoch !== epoch;
  return isOfOthers || !isSame(present, next) || isHalfOver(present, next);
}

/** Half of its life is left for writes that fail. */
function isHalfOver(present: FleetAllowanceSpec, next: FleetAllowanceSpec): boolean {
  const lifeMs = Date.parse(next.until) - Date.parse(next.at);
  return Date.parse(present.until) - Date.parse(next.at) < lifeMs / 2;
}

export function isEmptyAllowance(spec: FleetAllowanceSpec | undefined): boolean {
  return spec === undefined || (spec.limits.length === 0 && !spec.killSwitch.engaged && !spec.causes);
}

export function isSame(a: FleetAllowanceSpec, b: FleetAllowanceSpec): boolean {
  return isDeepStrictEqual([a.limits, a.killSwitch, a.causes], [b.limits, b.killSwitch, b.causes]);
}
