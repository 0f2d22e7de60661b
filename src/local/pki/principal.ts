/** Who a client certificate stands for. Pure. */
import { AGENT_GROUP, AGENT_USER_PREFIX, NODE_USER_PREFIX, serviceAccountUser } from '../../api/names.ts';
import { PRINCIPALS } from '../../api/principals.ts';

export interface Principal {
  readonly user: string;
  readonly groups?: readonly string[];
}

/** The groups are those that the API server itself gives to such a user. */
export function principalNamed(name: string, more: readonly string[] = []): Principal {
  const user = PRINCIPALS.some((principal) => principal === name) ? serviceAccountUser(name) : name;
  return { user, groups: [...groupsOf(user), ...more] };
}

function groupsOf(user: string): string[] {
  const [, namespace] = /^system:serviceaccount:([^:]+):[^:]+$/.exec(user) ?? [];
  if (namespace !== undefined) return ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  if (user.startsWith(AGENT_USER_PREFIX)) return [AGENT_GROUP];
  if (user.startsWith(NODE_USER_PREFIX)) return ['system:nodes'];
  return [];
}
