/** The ledger as a parameter: without it nobody can say whether there is a grant, so the answer is no. */
import { LEDGER } from '../names.ts';
import type { Params } from './policy.ts';

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
