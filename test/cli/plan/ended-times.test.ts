import { expect, it } from 'vitest';
import { endedTimeWarnings } from '../../../src/cli/plan/ended-times.ts';
import type { RenderedTarget } from '../../../src/sync/rendered.ts';

const NOW = new Date('2030-01-01T12:00:00Z');

function target(name: string, until: string, spec: object = {}): RenderedTarget {
  const freezes = [{ name: 'sale', from: '2029-11-10T00:00:00Z', until, reason: 'sale', risks: ['Node'] }];
  const object = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'DefenderPolicy',
    metadata: { name: 'gpu' },
    spec: { scope: { nodeSelector: { all: true } }, freezes, ...spec },
  };
  const objects = [{ object, source: { file: 'rules/gpu.ts:3', construct: `${name}/rules/gpu` } }];
  return { target: name, units: [{ unit: 'rules', objects, digest: '' }], digest: '' };
}

it('R24 a freeze that is over is shown once by plan, with file and line', () => {
  const ended = '2029-11-12T00:00:00Z';
  const targets = [target('a', ended), target('b', ended), target('c', '2030-02-01T00:00:00Z')];
  expect(endedTimeWarnings({ targets }, NOW)).toEqual([
    `rules/gpu.ts:3 DefenderPolicy gpu: spec.freezes[0].until: ended at ${ended}, so it denies nothing: remove it, or set a later time`,
  ]);
  expect(endedTimeWarnings({ targets: [target('a', ended, { scope: {} })] }, NOW)).toEqual([]);
});
