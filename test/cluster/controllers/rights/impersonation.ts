/** The right of `kubenode controllers` to act as the accounts of its controllers. */
import { CONTROLLER_PRINCIPALS } from '../../../../src/api/principals.ts';
import { controllersRights } from '../../../../src/api/roles/controllers.ts';
import { type Right, rightsIn } from '../rights.ts';

export function toImpersonate(...accounts: readonly string[]): readonly Right[] {
  return rightsIn(controllersRights(CONTROLLER_PRINCIPALS)).filter(
    ({ verb, name = '' }) => verb === 'impersonate' && accounts.includes(name),
  );
}

/** The accounts that the process may not impersonate, as it logged it. */
export function refusedAccounts(logged: string): readonly string[] {
  const refusals =
    /serviceaccounts \W+(?<account>kubenode-[a-z]+)\W+is forbidden: [^}]*? cannot impersonate/g;
  const found = [...logged.matchAll(refusals)].map(({ groups = {} }) => groups['account'] ?? '');
  return [...new Set(found)].toSorted();
}
