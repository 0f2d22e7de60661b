/** The ServiceAccounts as which sync writes the objects of units. */
import type { UnitIdentity } from '../../../api/generated/types.ts';
import { withWritesAs } from '../../../kube/auth/write-as.ts';
import type { Client } from '../../../kube/client/client.ts';
import { impersonateServiceAccount } from '../../../kube/controller/principals.ts';

export interface UnitAccount {
  readonly namespace: string;
  readonly name: string;
}

/** The account of each unit that has one. */
export type UnitAccounts = ReadonlyMap<string, UnitAccount>;

/** Reads `spec.identities` of a Pipeline, in which accounts are `namespace/name`. */
export function unitAccounts(identities: readonly UnitIdentity[] = []): UnitAccounts {
  return new Map(
    identities.map(({ unit, serviceAccount }) => {
      const [namespace = '', name = ''] = serviceAccount.split('/');
      return [unit, { namespace, name }];
    }),
  );
}

export function accountText({ namespace, name }: UnitAccount): string {
  return `${namespace}/${name}`;
}

interface UnitWrites {
  readonly client: Client;
  readonly accounts?: UnitAccounts;
}

/** Returns the client that writes the objects of the unit. A unit without an account is written by sync itself. */
export function unitClient({ client, accounts }: UnitWrites, unit: string): Client {
  const account = accounts?.get(unit);
  return account ? withWritesAs(client, impersonateServiceAccount(account)) : client;
}
