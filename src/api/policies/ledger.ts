/** The ledger as a parameter: without it nobody can say whether there is a grant, so the answer is no. */
import type { KubeObject } from '../../kube/objects/object.ts';
import { GROUP, LEDGER } from '../names.ts';
import { installed } from '../principals.ts';
import type { Params } from './policy.ts';

/**
 * A policy whose parameter object is missing denies every request that it matches, whatever its conditions evaluate to:
 * without a ledger no Machine could be written. So an installation creates an empty one. It is new, not lost, so the
 * Defender takes it over with its first write and has nothing to rebuild (`isNewLedger`).
 */
export const initialLedger: KubeObject = {
  apiVersion: `${GROUP}/v1alpha1`,
  kind: 'DefenderLedger',
  metadata: installed(LEDGER, 'Grants in flight and used rates; written by the defender alone.'),
  spec: { seq: 0, epoch: 0 },
};

export const ledgerParams: Params = {
  kind: 'DefenderLedger',
  ref: { name: LEDGER, parameterNotFoundAction: 'Deny' },
};

/** The ledger holds, for this machine, an entry of this id and fence that is not settled. */
export function granted(machine: string, id: string, fence: string): string {
  const entry = `params.spec.grants[${machine}]`;
  return (
    `has(params.spec.grants) && ${machine} in params.spec.grants && ` +
    `${entry}.state != 'Settled' && ${entry}.id == ${id} && ${entry}.fence == ${fence}`
  );
}
