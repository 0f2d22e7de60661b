import { expect, it } from 'vitest';
import { installation } from '../../../src/api/install/installation.ts';
import { waitUntilInForce } from '../../../src/api/install/ready.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { listAt, textAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';

/** What is created to see whether the policies are in force. The policy that protects the ledger denies it at once. */
async function probes(): Promise<readonly Resource[]> {
  const created: Resource[] = [];
  const create = async (resource: Resource, object: KubeObject): Promise<KubeObject> => {
    if (object.kind === 'DefenderLedger') throw new KubeError('Forbidden', 'protected');
    created.push(resource);
    return object;
  };
  const clock = createSystemClock();
  await waitUntilInForce({ create } as unknown as Client, { clock, end: clock.monotonicMs() + 60_000 });
  return created;
}

function isMatched(policy: KubeObject, { group, plural }: Resource): boolean {
  return listAt(policy, 'spec', 'matchConstraints', 'resourceRules').some(
    (rule) =>
      listAt(rule, 'apiGroups').includes(group) &&
      listAt(rule, 'resources').includes(plural) &&
      listAt(rule, 'operations').includes('CREATE'),
  );
}

function parametersOf(policy: KubeObject): string | undefined {
  return textAt(policy, 'spec', 'paramKind', 'kind');
}

it('an installation waits for the parameters of each policy: until they are read, it denies all that it matches', async () => {
  const created = await probes();
  const policies = installation().filter((object) => parametersOf(object) !== undefined);
  const covered = policies.filter((policy) => created.some((resource) => isMatched(policy, resource)));
  expect(new Set(policies.map(parametersOf))).toEqual(new Set(['DefenderLedger', 'Machine']));
  expect(new Set(covered.map(parametersOf))).toEqual(new Set(['DefenderLedger', 'Machine']));
});
