import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { identityUnitRefusals, identityUnits } from '../../../src/sync/judge/identity-units.ts';
import { HUB_TARGET, type RenderedTarget } from '../../../src/sync/rendered.ts';

function pipeline(name: string, ...units: readonly string[]): KubeObject {
  const identities = units.map((unit) => ({ unit, serviceAccount: `apps/${unit}` }));
  return { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Pipeline', metadata: { name }, spec: { identities } };
}

function target(name: string, units: Readonly<Record<string, readonly KubeObject[]>>): RenderedTarget {
  const rendered = Object.entries(units).map(([unit, objects]) => ({
    unit,
    objects: objects.map((object) => ({ object, source: { file: 'fleet/hub.ts:3' } })),
    digest: '',
  }));
  return { target: name, units: rendered, digest: '' };
}

function commit(pipelines: readonly KubeObject[], ...units: readonly string[]): RenderedTarget[] {
  const rendered = Object.fromEntries(units.map((unit) => [unit, []]));
  return [target(HUB_TARGET, { fleet: pipelines }), target('test', {}), target('prod', rendered)];
}

const CORRECT = 'correct the name, or add the identity in the commit that adds the unit';

describe('identityUnitRefusals', () => {
  it.each<[what: string, given: { named: string[]; units: string[]; before?: string[] }, hints: string[]]>([
    ['accepts the name of a unit that one cluster gets', { named: ['web'], units: ['web', 'db'] }, []],
    [
      'suggests the unit that was meant',
      { named: ['frontnd'], units: ['frontend', 'db'] },
      ['did you mean frontend?'],
    ],
    ['suggests no unit that has an account', { named: ['web', 'wev'], units: ['web', 'db'] }, [CORRECT]],
    ['refuses a name that is like no unit', { named: ['ui'], units: ['frontend'] }, [CORRECT]],
    ['refuses each unknown name', { named: ['ui', 'api'], units: ['frontend'] }, [CORRECT, CORRECT]],
    ['refuses the name of a unit that comes later', { named: ['web'], units: [] }, [CORRECT]],
    ['refuses a unit of the hub, which no account writes', { named: ['fleet'], units: ['web'] }, [CORRECT]],
    [
      'lets the identity of a unit that a revert removed stay',
      { named: ['web'], units: ['web-2'], before: ['web'] },
      [],
    ],
    [
      'refuses a new name beside one that may stay',
      { named: ['web', 'dv'], units: ['db'], before: ['web'] },
      ['did you mean db?'],
    ],
  ])('S29 judges the units that are named: %s', (_, { named, units, before = [] }, hints) => {
    const targets = commit([pipeline('fleet', ...named)], ...units);
    const found = identityUnitRefusals({ targets }, { pipeline: 'fleet', before: new Set(before) });
    expect(found.map(({ message }) => message.replace(/^.*from this commit: /, ''))).toEqual(hints);
  });

  it('S29 names the Pipeline, its file and the unknown unit in the refusal', () => {
    const targets = commit([pipeline('fleet', 'wev')], 'web');
    expect(identityUnitRefusals({ targets }, { pipeline: 'fleet', before: new Set() })).toEqual([
      {
        target: 'hub',
        unit: 'fleet',
        object: 'kubenode.dev/Pipeline fleet',
        source: 'fleet/hub.ts:3',
        message: 'spec.identities names unit wev, which no cluster gets from this commit: did you mean web?',
      },
    ]);
  });

  it('S29 judges no Pipeline that promotes another folder or that the commit does not declare', () => {
    const targets = commit([pipeline('other', 'wev'), pipeline('fleet', 'web')], 'web');
    for (const name of ['fleet', 'absent']) {
      expect(identityUnitRefusals({ targets }, { pipeline: name, before: new Set() })).toEqual([]);
    }
  });
});

describe('identityUnits', () => {
  it('S29 returns the units that the Pipeline of the commit names, and none without it', () => {
    const targets = commit([pipeline('other', 'db'), pipeline('fleet', 'web', 'api')]);
    expect([...identityUnits({ targets }, 'fleet')]).toEqual(['web', 'api']);
    expect([...identityUnits({ targets }, 'absent')]).toEqual([]);
    expect([...identityUnits(undefined, 'fleet')]).toEqual([]);
  });
});
