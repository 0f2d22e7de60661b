/** Takes rights of a ClusterRole away, to see that the part that has them misses them. */
import type { PolicyRule } from '../../../src/api/roles/rbac.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { resources } from '../api/resources.ts';

interface ClusterRole extends KubeObject {
  readonly rules: readonly PolicyRule[];
}

/** Removes every rule of the role that names one of the resources. Returns what gives them back. */
export async function withoutRights(
  admin: Client,
  role: string,
  ...removed: readonly string[]
): Promise<() => Promise<void>> {
  const { rules } = await admin.get<ClusterRole>(resources.ClusterRole, { name: role });
  const left = rules.filter((rule) => !rule.resources.some((resource) => removed.includes(resource)));
  if (left.length === rules.length) throw new Error(`${role} has no rule for ${removed.join(' or ')}`);
  await setRules(admin, role, left);
  return () => setRules(admin, role, rules);
}

async function setRules(admin: Client, name: string, rules: readonly PolicyRule[]): Promise<void> {
  await admin.patch(resources.ClusterRole, { name }, { type: 'merge', body: { rules } });
}
