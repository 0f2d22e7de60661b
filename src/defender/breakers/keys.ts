/** Forms the names of breakers in the ledger: `<policy>/<breaker>/<key>`. Pure. */

import { dimensionValues, valueKey } from '../../api/diagnosis/dimensions.ts';
import type { Risk } from '../../api/enums.ts';
import type { Breaker, LedgerHolder } from '../../api/generated/types.ts';
import type { MachineFacts } from '../facts/facts.ts';
import { CLUSTER_KEY, NO_KEY } from '../facts/grouping.ts';
import { holderKey, isAtLeast } from '../ledger/entries.ts';

export interface BreakerKey {
  readonly id: string;
  /** The name of the key for people: `zone eu-1a`. */
  readonly label: string;
  /** The dimension of a common cause. */
  readonly dimension?: string;
}

export interface BreakerSubject {
  readonly holder: LedgerHolder;
  readonly machine: Pick<MachineFacts, 'zone' | 'pool' | 'dimensions'>;
}

/** Keys have at most 160 characters in the ledger. */
export function breakerId(policy: string, breaker: string, key: string): string {
  return `${policy}/${breaker}/${key}`.slice(0, 160);
}

/** Returns the breakers that an act on this machine meets: one, or for common causes one for each dimension. */
export function breakerKeys(
  policy: string,
  breaker: Breaker,
  subject: BreakerSubject,
): readonly BreakerKey[] {
  return keysOf(breaker, subject).map(({ key, ...rest }) => ({
    id: breakerId(policy, breaker.name, key),
    ...rest,
  }));
}

type ShortKey = Omit<BreakerKey, 'id'> & { readonly key: string };

function keysOf(breaker: Breaker, subject: BreakerSubject): readonly ShortKey[] {
  if (breaker.type === 'CommonCause') return dimensionKeys(breaker, subject);
  const { machine, holder } = subject;
  const keys = { Cluster: CLUSTER_KEY, Zone: machine.zone, Pool: machine.pool, Holder: holderKey(holder) };
  const key = keys[breaker.per] ?? NO_KEY;
  return [{ key, label: breaker.per === 'Cluster' ? key : `${breaker.per.toLowerCase()} ${key}` }];
}

function dimensionKeys({ dimensions = [] }: Breaker, { machine }: BreakerSubject): readonly ShortKey[] {
  return dimensions.flatMap((dimension) =>
    dimensionValues(machine, dimension).map((value) => ({
      key: valueKey(dimension, value),
      label: `${dimension} ${value}`,
      dimension,
    })),
  );
}

/** Tells whether the breaker stops acts of this risk. Without a list of risks, it stops everything disruptive. */
export function isBreakerFor({ risks }: Pick<Breaker, 'risks'>, risk: Risk): boolean {
  return risks.length === 0 ? isAtLeast(risk, 'Pod') : risks.includes(risk);
}
