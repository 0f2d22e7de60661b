/**
 * Finds numbers of a policy that are looser than those of `fleet-default` for the same acts: `fleet-default` always denies
 * first, so such a number looks like a limit and could never deny. Only what is certain for every fleet is reported: a
 * percentage of some nodes may be less than a smaller percentage of all. Pure.
 */
import type { Amount, DefenderPolicySpec } from '../../api/generated/types.ts';
import { FLEET_DEFAULT } from '../../api/names.ts';
import type { Problem } from '../../api/validation/validate.ts';
import { valueAt } from '../../kube/objects/json.ts';
import { actsIn, coversActs, type DeclaredActs } from './acts.ts';

/** The spec of a policy as git contains it, or with the defaults of the API server. */
export type DeclaredPolicySpec = Partial<Omit<DefenderPolicySpec, 'scope'>> & {
  readonly scope: Partial<DefenderPolicySpec['scope']>;
};

export function looserNumbers(
  spec: DeclaredPolicySpec,
  fleetDefault: DeclaredPolicySpec,
): readonly Problem[] {
  return [
    ...SETTINGS.flatMap((settings) => looserSettings(settings, spec, fleetDefault)),
    ...looserConcurrency(spec, fleetDefault),
    ...looserRates(spec, fleetDefault),
  ];
}

function looserThan(path: string, theirs: Amount, of = ''): Problem {
  const message = `looser than ${theirs} of ${FLEET_DEFAULT}${of}, so it could never deny: tighten it, or remove it`;
  return { path, message };
}

/** Whether a larger number permits more, or a smaller one. */
type Looser = 'larger' | 'smaller';

function isLooser(looser: Looser, mine: number, theirs: number): boolean {
  return looser === 'larger' ? mine > theirs : mine < theirs;
}

interface Setting {
  readonly path: readonly string[];
  readonly looser: Looser;
  readonly default: number;
}

/** Settings that deny together: one of them may be looser because another is tighter. */
type Settings = readonly Setting[];

function setting(path: string, looser: Looser, usual: number): Setting {
  return { path: path.split('.'), looser, default: usual };
}

const PERIOD = setting('perMachine.windowSeconds', 'smaller', 86_400);

/** The settings that are compared. Tests check that their defaults are those of the API server. */
export const SETTINGS: readonly Settings[] = [
  [setting('grantSeconds', 'larger', 300)],
  [setting('perMachine.maxGrants', 'larger', 5), PERIOD],
  [setting('perMachine.maxReboots', 'larger', 3), PERIOD],
  [setting('perMachine.minIntervalSeconds', 'smaller', 1800)],
  [
    setting('perMachine.lemon.repairs', 'larger', 5),
    setting('perMachine.lemon.windowSeconds', 'smaller', 604_800),
  ],
  [setting('selfDoubt.maxViewAgeSeconds', 'larger', 150)],
  [setting('selfDoubt.apiErrorPercent', 'larger', 20)],
  [setting('controlPlane.max', 'larger', 1)],
  [setting('controlPlane.readyAPIServersAfter', 'smaller', 2)],
  [setting('blockers.minNodeAgeSeconds', 'smaller', 900)],
];

/** A default that is looser than `fleet-default` was written by no one. */
function looserSettings(
  settings: Settings,
  spec: DeclaredPolicySpec,
  fleetDefault: DeclaredPolicySpec,
): readonly Problem[] {
  const compared = settings.map((each) => ({
    ...each,
    mine: numberAt(spec, each),
    theirs: numberAt(fleetDefault, each),
  }));
  if (compared.some(({ looser, mine, theirs }) => isLooser(looser, theirs, mine))) return [];
  return compared
    .filter((each) => each.mine !== each.default && isLooser(each.looser, each.mine, each.theirs))
    .map(({ path, theirs }) => looserThan(`spec.${path.join('.')}`, theirs));
}

function numberAt(spec: DeclaredPolicySpec, { path, default: usual }: Setting): number {
  const found = valueAt(spec, ...path);
  return typeof found === 'number' ? found : usual;
}

interface Limit extends DeclaredActs {
  readonly name: string;
  readonly per: string;
  readonly labelKey?: string;
}

/** Returns the limits of `fleet-default` that count the same, for at least the same acts. */
function limitsOver<T extends Limit>(
  limit: Limit,
  { scope }: DeclaredPolicySpec,
  theirs: readonly T[] = [],
): readonly T[] {
  const acts = actsIn(scope, limit);
  return theirs.filter(
    (their) => their.per === limit.per && their.labelKey === limit.labelKey && coversActs(their, acts),
  );
}

function looserConcurrency(spec: DeclaredPolicySpec, fleetDefault: DeclaredPolicySpec): readonly Problem[] {
  if (!countsAlike(spec, fleetDefault)) return [];
  return (spec.concurrency ?? []).flatMap((limit, index) => {
    const over = limitsOver(limit, spec, fleetDefault.concurrency).find(
      ({ per, max }) =>
        isLooserAmount(limit.max, max, spec) &&
        (per !== 'Pool' || permitsSmallPools(max, spec, fleetDefault)),
    );
    return over ? [looserThan(`spec.concurrency[${index}].max`, over.max, `, limit ${over.name}`)] : [];
  });
}

/** A percentage and a number are not comparable without a fleet, nor are percentages of different sets of nodes. */
function isLooserAmount(mine: Amount, theirs: Amount, { scope }: DeclaredPolicySpec): boolean {
  if (typeof mine === 'number') return typeof theirs === 'number' && mine > theirs;
  const isComparable = typeof theirs === 'string' && scope.nodeSelector?.all === true;
  return isComparable && Number.parseInt(mine, 10) > Number.parseInt(theirs, 10);
}

/**
 * Tells whether the policy certainly permits as much in small pools as `fleet-default` does. A policy for some nodes of a pool
 * may apply the rule for small pools to them, although the rule does not apply to the whole pool.
 */
function permitsSmallPools(
  theirMax: Amount,
  { scope, counting }: DeclaredPolicySpec,
  fleetDefault: DeclaredPolicySpec,
): boolean {
  const mine = { ...SMALL_POOL, ...counting?.smallPool };
  const theirs = { ...SMALL_POOL, ...fleetDefault.counting?.smallPool };
  if (typeof theirMax === 'number' && mine.max >= theirMax) return true;
  return scope.nodeSelector?.all === true && mine.below <= theirs.below && mine.max >= theirs.max;
}

const SMALL_POOL = { below: 5, max: 1 } as const;
const COUNTING: Omit<DefenderPolicySpec['counting'], 'smallPool'> = {
  include: ['InFlight', 'NotReady', 'Cordoned', 'ForeignMaintenance', 'DeletedNotReplaced', 'Unknown'],
  lingerSeconds: 900,
};

/** Tells whether every machine that the policy counts is counted by `fleet-default`, and the other way round. */
function countsAlike(spec: DeclaredPolicySpec, fleetDefault: DeclaredPolicySpec): boolean {
  const mine = { ...COUNTING, ...spec.counting };
  const theirs = { ...COUNTING, ...fleetDefault.counting };
  return (
    mine.include.every((state) => theirs.include.includes(state)) &&
    theirs.include.every((state) => mine.include.includes(state)) &&
    mine.lingerSeconds <= theirs.lingerSeconds
  );
}

function looserRates(spec: DeclaredPolicySpec, fleetDefault: DeclaredPolicySpec): readonly Problem[] {
  return (spec.rates ?? []).flatMap((rate, index) => {
    const { max, burst = max, windowSeconds } = rate;
    const over = limitsOver(rate, spec, fleetDefault.rates).find((their) => {
      const theirBurst = their.burst ?? their.max;
      const isTighter = windowSeconds !== their.windowSeconds || max < their.max || burst < theirBurst;
      return !isTighter && (max > their.max || burst > theirBurst);
    });
    if (!over) return [];
    const field = max > over.max ? 'max' : 'burst';
    const theirs = over[field] ?? over.max;
    return [looserThan(`spec.rates[${index}].${field}`, theirs, `, limit ${over.name}`)];
  });
}
