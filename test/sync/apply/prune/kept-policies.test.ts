import { describe, expect, it } from 'vitest';
import { withKeptPolicies } from '../../../../src/sync/apply/prune/kept-policies.ts';

function rendered(apiVersion: string, kind: string, name: string): Parameters<typeof withKeptPolicies>[1] {
  const object = { apiVersion, kind, metadata: { name } };
  return [{ unit: 'web', digest: 'd', objects: [{ object, source: {} }] }];
}

const ROLLBACK = { isRollback: true } as const;
const OWN = 'kubenode.dev/v1alpha1';

describe('withKeptPolicies', () => {
  it.each<[apiVersion: string, kind: string, kept: readonly string[]]>([
    [OWN, 'NodeRemedier', ['NodeRemedier/a']],
    [OWN, 'DefenderPolicy', ['DefenderPolicy/a']],
    [OWN, 'MachineComponentSet', []],
    ['example.com/v1', 'DefenderPolicy', []],
  ])('S24 a rollback leaves %s %s of the revision as %j', (apiVersion, kind, kept) => {
    const { pausedObjects: found = new Map() } = withKeptPolicies(ROLLBACK, rendered(apiVersion, kind, 'a'), {
      entries: new Map(),
    });
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
    const { pausedObjects: found = [] } = withKeptPolicies(ROLLBACK, [], {
      entries: new Map([['key', entry]]),
    });
    expect([...found]).toEqual([
      ['DefenderPolicy/newer', 'a rollback changes no rules and no limits: they follow git when it ends'],
    ]);
  });

  it('S24 without a rollback only what a person paused is left as it is', () => {
    const pausedObjects = new Map([['NodeRemedier/b', 'paused by anna']]);
    const units = rendered(OWN, 'NodeRemedier', 'a');
    const none = { entries: new Map() };
    expect(withKeptPolicies({ pausedObjects }, units, none)).toEqual({ pausedObjects });
    expect(withKeptPolicies({}, units, none)).toEqual({});
    const both = withKeptPolicies({ ...ROLLBACK, pausedObjects }, units, none).pausedObjects ?? new Map();
    expect(both.get('NodeRemedier/b')).toBe('paused by anna');
    expect(both.has('NodeRemedier/a')).toBe(true);
  });
});
