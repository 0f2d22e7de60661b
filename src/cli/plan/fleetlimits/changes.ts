/** Tells what a commit changes of the limits over clusters: which are looser, tighter, new or removed, and what it stops. Pure. */
import { durationText } from '../../../api/elapsed.ts';
import type {
  Cluster,
  FleetConcurrency,
  FleetPolicy,
  FleetPolicySpec,
  FleetRate,
} from '../../../api/generated/types.ts';
import { selectableLabels } from '../../../api/status/cluster-labels.ts';
import { byCode, canonicalJson } from '../../../kube/objects/digest.ts';
import { isSelected } from '../../../kube/objects/selector.ts';
import { concurrencyText, declaredFleetLimits, rateText } from '../../../rollout/fleet-words.ts';
import { shortClusterList } from '../../../sync/fleetlimits/short-cluster-list.ts';
import type { FleetLimitEffect, FleetPolicyChange } from '../../../sync/preview/fleet-limits.ts';
import { causeChanges } from './cause-changes.ts';
import { numberChange, type PolicyFinding } from './policy-finding.ts';

export interface FleetPolicySides {
  readonly before: readonly FleetPolicy[];
  readonly after: readonly FleetPolicy[];
  /** The clusters after the commit. */
  readonly clusters: readonly Cluster[];
}

export function planPolicyChanges({
  before,
  after,
  clusters,
}: FleetPolicySides): readonly FleetPolicyChange[] {
  const names = new Set([...before, ...after].map(({ metadata }) => metadata.name));
  return [...names].toSorted(byCode).flatMap((policy) => {
    const find = (all: readonly FleetPolicy[]): FleetPolicy | undefined =>
      all.find(({ metadata }) => metadata.name === policy);
    return changesBetween(find(before), find(after), clusters).map((found) => ({ policy, ...found }));
  });
}

function changesBetween(
  before: FleetPolicy | undefined,
  after: FleetPolicy | undefined,
  clusters: readonly Cluster[],
): readonly PolicyFinding[] {
  return [
    ...stopChanges(before?.spec.killSwitch, after?.spec.killSwitch),
    ...limitChanges(before, after),
    ...causeChanges(before?.spec, after?.spec),
    ...(before && after ? commonChanges(before.spec, after.spec, clusters) : []),
  ];
}

type KillSwitchSpec = FleetPolicySpec['killSwitch'];

const NOT_ENGAGED: KillSwitchSpec = { engaged: false, scope: 'All' };

function stopChanges(
  before: KillSwitchSpec = NOT_ENGAGED,
  after: KillSwitchSpec = NOT_ENGAGED,
): readonly PolicyFinding[] {
  if (canonicalJson(before) === canonicalJson(after)) return [];
  if (after.engaged) return [{ effect: 'Stops', text: stopText(after) }];
  return before.engaged ? [{ effect: 'Resumes', text: 'git stops nothing any more' }] : [];
}

function stopText({ scope, by = 'unknown', reason = 'no reason given', until }: KillSwitchSpec): string {
  const end = until === undefined ? '' : ` until ${until}`;
  return `scope ${scope}${end}, by ${by}: ${reason}`;
}

interface ComparedLimit {
  readonly name: string;
  readonly text: string;
  /** A concurrency limit, or a rate. */
  readonly limit: FleetConcurrency | FleetRate;
}

/** A limit of acts in work and a rate are different limits, also under the same name. */
function limitChanges(
  before: FleetPolicy | undefined,
  after: FleetPolicy | undefined,
): readonly PolicyFinding[] {
  const [old, next] = [limitsByKey(before), limitsByKey(after)];
  return [...new Set([...old.keys(), ...next.keys()])].flatMap((key) => {
    const [from, to] = [old.get(key), next.get(key)];
    if (from && to) return changedLimit(from, to);
    if (to) return [{ effect: 'Tightened', text: `new limit ${to.name}: ${to.text}` }];
    return from ? [{ effect: 'Loosened', text: `no limit any more: ${from.name}: ${from.text}` }] : [];
  });
}

function limitsByKey(policy: FleetPolicy | undefined): ReadonlyMap<string, ComparedLimit> {
  if (!policy) return new Map();
  const { concurrency, rates } = policy.spec;
  const texts = declaredFleetLimits(policy);
  return new Map(
    [...concurrency, ...rates].map((limit, index) => {
      const { name, max } = limit;
      const text = `at most ${max} ${texts[index]?.counts ?? ''}`;
      return [`${index < concurrency.length ? 'concurrency' : 'rate'} ${name}`, { name, text, limit }];
    }),
  );
}

function changedLimit(from: ComparedLimit, to: ComparedLimit): readonly PolicyFinding[] {
  const { name } = to;
  const [old, next] = [from.limit, to.limit];
  const counted = [old, next].map(countedText);
  return [
    ...numberChange(`${name}: max`, [old.max, next.max], 'Loosened'),
    ...numberChange(`${name}: floor`, [old.floor, next.floor], 'Loosened'),
    ...('windowSeconds' in old && 'windowSeconds' in next
      ? numberChange(`${name}: period`, [old.windowSeconds, next.windowSeconds], 'Tightened', durationText)
      : []),
    ...(counted[0] === counted[1]
      ? []
      : [{ effect: countedEffect(old, next), text: `${name}: ${counted[0]} → ${counted[1]}` }]),
  ];
}

function countedText(limit: FleetConcurrency | FleetRate): string {
  // The period is compared on its own.
  return 'per' in limit
    ? concurrencyText(limit)
    : rateText({ ...limit, windowSeconds: 0 }).replace(/ in 0 s$/, '');
}

/** A rate that counts more acts is tighter. An empty list counts by risk, so that it cannot be compared with names. */
function countedEffect(
  old: FleetConcurrency | FleetRate,
  next: FleetConcurrency | FleetRate,
): FleetLimitEffect {
  const [from = [], to = []] = [old, next].map(actionsOf);
  if (from.length === 0 || to.length === 0) return 'Changed';
  if (from.every((action) => to.includes(action))) return 'Tightened';
  return to.every((action) => from.includes(action)) ? 'Loosened' : 'Changed';
}

function actionsOf(limit: FleetConcurrency | FleetRate): readonly string[] {
  return 'actions' in limit ? limit.actions : [];
}

function commonChanges(
  before: FleetPolicySpec,
  after: FleetPolicySpec,
  clusters: readonly Cluster[],
): readonly PolicyFinding[] {
  const counted = [before.cutOff.countSeconds, after.cutOff.countSeconds] as const;
  const lasting = [before.allowanceSeconds, after.allowanceSeconds] as const;
  return [
    ...selectorChange(before, after, clusters),
    ...numberChange('an allowance lasts', lasting, 'Changed', durationText),
    ...numberChange('a cluster that is not reached counts for', counted, 'Tightened', durationText),
  ];
}

function selectorChange(
  { clusterSelector: before }: FleetPolicySpec,
  { clusterSelector: after }: FleetPolicySpec,
  clusters: readonly Cluster[],
): readonly PolicyFinding[] {
  if (canonicalJson(before) === canonicalJson(after)) return [];
  const selected = (selector: typeof before): readonly string[] =>
    clusters
      .filter((each) => isSelected(selector, selectableLabels(each)))
      .map(({ metadata }) => metadata.name);
  const [old, next] = [selected(before), selected(after)];
  const [added, removed] = [
    next.filter((name) => !old.includes(name)),
    old.filter((name) => !next.includes(name)),
  ];
  const text = [listText('also for', added), listText('no longer for', removed)].filter(Boolean).join('; ');
  return [
    { effect: selectorEffect(added, removed), text: text || 'selects the same clusters in another way' },
  ];
}

function selectorEffect(added: readonly string[], removed: readonly string[]): FleetLimitEffect {
  if (added.length > 0 && removed.length === 0) return 'Tightened';
  return removed.length > 0 && added.length === 0 ? 'Loosened' : 'Changed';
}

function listText(label: string, names: readonly string[]): string {
  return names.length === 0 ? '' : `${label} ${shortClusterList(names)}`;
}
