/** The ledger as a parameter: without it nobody can say whether there is a grant, so the answer is no. */
import type { KubeObject } from '../../kube/objects/object.ts';
import { GROUP, LEDGER } from '../names.ts';
import { installed } from '../principals.ts';
import type { Params } from './policy.ts';

/**
 * A policy whose parameter is missing refuses all that it matches, whatever its conditions say: without a ledger
 * no Machine could be written. So an installation makes one, in which everything is denied until a defender takes
 * it over.
 */
export const initialLedger: KubeObject = {
  apiVersion: `${GROUP}/v1alpha1`,
  kind: 'DefenderLedger',
  metadata: installed(LEDGER, 'Grants in flight and used rates; written by the defender alone.'),
  spec: { seq: 0, epoch: 0, recovering: true },
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
