/** Runs `kubenode install`, as a user with the rights of the guide. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { runCommandLine } from '../../../src/cli/run.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import { testIo } from '../../support/test-io.ts';

const GUIDE = readFileSync(join(import.meta.dirname, '../../../docs/guides/install.md'), 'utf8');
const CLUSTER_ROLES = rbac('ClusterRole', 'clusterroles');
const BINDINGS = rbac('ClusterRoleBinding', 'clusterrolebindings');

function rbac(kind: string, plural: string): Resource {
  return { group: 'rbac.authorization.k8s.io', version: 'v1', kind, plural, namespaced: false };
}

export interface Installed {
  readonly code: number;
  readonly outcomes: Readonly<Record<string, readonly string[]>>;
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** The outcomes are lists of `kind/name`. */
export async function installAs(kubeconfig: string, ...flags: readonly string[]): Promise<Installed> {
  const io = testIo({ env: { KUBECONFIG: kubeconfig } });
  const code = await runCommandLine(io, ['install', ...flags, '-o', 'json']);
  const { objects } = JSON.parse(io.stdout || '{"objects":[]}') as {
    objects: { kind: string; name: string; outcome: string }[];
  };
  const byOutcome = Map.groupBy(objects, ({ outcome }) => outcome);
  const names = [...byOutcome].map(([outcome, of]) => [
    outcome,
    of.map(({ kind, name }) => `${kind}/${name}`),
  ]);
  return {
    code,
    outcomes: Object.fromEntries(names) as Installed['outcomes'],
    errors: io.stderr.split('\n').filter((line) => line.startsWith('error:')),
    warnings: io.stderr.split('\n').filter((line) => line.startsWith('warning:')),
  };
}

/** The role of the guide, word for word. */
export function guideRole(): string {
  return /```yaml\n(apiVersion: rbac[\s\S]*?)```/.exec(GUIDE)?.[1] ?? '';
}

/** Gives the user the ClusterRole of that YAML. */
export async function giveRole(server: ApiServer, user: string, yaml: string): Promise<void> {
  const role = parse(yaml) as KubeObject;
  await server.client.create(CLUSTER_ROLES, role);
  await server.client.create(BINDINGS, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: role.metadata.name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role.metadata.name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  });
}
