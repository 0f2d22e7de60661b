import { describe, expect, it } from 'vitest';
import { keptPolicies } from '../../../../src/sync/apply/prune/kept-policies.ts';

function rendered(apiVersion: string, kind: string, name: string): Parameters<typeof keptPolicies>[0] {
  const object = { apiVersion, kind, metadata: { name } };
  return [{ unit: 'web', digest: 'd', objects: [{ object, source: {} }] }];
}

const OWN = 'kubenode.dev/v1alpha1';

describe('keptPolicies', () => {
  it.each<[apiVersion: string, kind: string, kept: readonly string[]]>([
    [OWN, 'NodeRemedier', ['NodeRemedier/a']],
    [OWN, 'DefenderPolicy', ['DefenderPolicy/a']],
    [OWN, 'MachineComponentSet', []],
    ['example.com/v1', 'DefenderPolicy', []],
  ])('S24 a rollback leaves %s %s of the revision as %j', (apiVersion, kind, kept) => {
    const found = keptPolicies(rendered(apiVersion, kind, 'a'), { entries: new Map() });
    expect([...found.keys()]).toEqual(kept);
  });

  it('S24 a rollback deletes no limit that the revision does not have', () => {
    const entry = {
      group: 'kubenode.dev',
      version: 'v1alpha1',
      kind: 'DefenderPolicy',
      namespace: '',
      name: 'newer',
      unit: 'web',
      commit: 'c2',
    };
    const found = keptPolicies([], { entries: new Map([['key', entry]]) });
    expect([...found]).toEqual([
      ['DefenderPolicy/newer', 'a rollback changes no rules and no limits: they follow git when it ends'],
    ]);
  });
});
