/** The ledger as the parameter of policies. Without it no policy can tell whether a grant exists, so it denies. */
import type { KubeObject } from '../../kube/objects/object.ts';
import { GROUP, LEDGER } from '../names.ts';
import { installed } from '../principals.ts';
import type { Params } from './policy.ts';

/**
 * A policy whose parameter object is missing denies every request that it matches, whatever its conditions evaluate to:
 * without a ledger no Machine could be written. So an installation creates an empty one. It is new, so the
 * Defender takes it over with its first write and has nothing to rebuild (`isNewLedger`).
 */
export const initialLedger: KubeObject = {
  apiVersion: `${GROUP}/v1alpha1`,
  kind: 'DefenderLedger',
  metadata: installed(LEDGER, 'Grants in flight and used rates. Written by the Defender only.'),
  spec: { seq: 0, epoch: 0 },
};

export const ledgerParams: Params = {
  kind: 'DefenderLedger',
  ref: { name: LEDGER, parameterNotFoundAction: 'Deny' },
};

/** Whether the ledger has an unsettled entry with this id and fence for this machine. */
export function granted(machine: string, id: string, fence: string): string {
  const entry = `params.spec.grants[${machine}]`;
  return (
    `has(params.spec.grants) && ${machine} in params.spec.grants && ` +
    `${entry}.state != 'Settled' && ${entry}.id == ${id} && ${entry}.fence == ${fence}`
  );
}
