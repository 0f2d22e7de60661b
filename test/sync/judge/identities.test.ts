import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { identityRefusals } from '../../../src/sync/judge/identities.ts';
import { HUB_TARGET, type RenderedTarget } from '../../../src/sync/rendered.ts';

function ours(kind: string, name: string, spec: object = {}): KubeObject {
  return { apiVersion: 'kubenode.dev/v1alpha1', kind, metadata: { name }, spec };
}

function target(name: string, units: Readonly<Record<string, readonly KubeObject[]>>): RenderedTarget {
  const rendered = Object.entries(units).map(([unit, objects]) => ({
    unit,
    objects: objects.map((object) => ({ object, source: { file: 'fleet/rules.ts:3' } })),
    digest: '',
  }));
  return { target: name, units: rendered, digest: '' };
}

const NAMES_RULES = ours('Pipeline', 'fleet', { identities: [{ unit: 'rules', serviceAccount: 'a/b' }] });
const RULE = ours('NodeRemedier', 'hung');

describe('identityRefusals', () => {
  it.each<[what: string, hub: KubeObject, units: Readonly<Record<string, readonly KubeObject[]>>, n: number]>(
    [
      ['a rule in a unit with an account', NAMES_RULES, { rules: [RULE] }, 1],
      ['a limit in a unit with an account', NAMES_RULES, { rules: [ours('DefenderPolicy', 'pool')] }, 1],
      ['no rule in another unit', NAMES_RULES, { guards: [RULE] }, 0],
      ['no other kind of kubenode', NAMES_RULES, { rules: [ours('MachineSet', 'pool')] }, 0],
      ['no rule without an account', ours('Pipeline', 'fleet'), { rules: [RULE] }, 0],
      ['no entry of another kind', { ...NAMES_RULES, kind: 'Other' }, { rules: [RULE] }, 0],
      [
        'no entry of a Pipeline of another group',
        { ...NAMES_RULES, apiVersion: 'tekton.dev/v1' },
        { rules: [RULE] },
        0,
      ],
      [
        'no entry of a Pipeline in a cluster',
        ours('Pipeline', 'fleet'),
        { pipelines: [NAMES_RULES], rules: [RULE] },
        0,
      ],
    ],
  )('S29 refuses %s of the same commit', (_, pipeline, units, expected) => {
    const targets = [target(HUB_TARGET, { pipelines: [pipeline] }), target('prod', units)];
    const found = [...identityRefusals({ targets })];
    expect(found).toHaveLength(expected);
    for (const refusal of found) {
      expect(refusal).toMatchObject({ target: 'prod', unit: 'rules', source: 'fleet/rules.ts:3' });
      expect(refusal.message).toBe(
        'only kubenode-sync may write it, and spec.identities of Pipeline fleet names an account for unit rules: move it to another unit',
      );
    }
  });

  it('S29 refuses no rule in a unit of the hub, which no account writes', () => {
    const targets = [target(HUB_TARGET, { pipelines: [NAMES_RULES], rules: [RULE] })];
    expect([...identityRefusals({ targets })]).toEqual([]);
  });
});
