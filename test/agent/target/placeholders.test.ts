import { expect, it } from 'vitest';
import type { TargetFacts } from '../../../src/agent/target/facts.ts';
import { createReplacer } from '../../../src/agent/target/placeholders.ts';
import { placeholderNames } from '../../../src/api/machine/component-problems.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';

const MACHINE: TargetFacts = {
  name: 'n17',
  address: '10.0.0.1',
  zone: 'a',
  os: 'linux',
  arch: 'amd64',
  clusterServer: 'https://api.example.com',
  hostDirectory: '/',
  systemdUnits: true,
  portOf: (_component, { port }) => port,
};

it('replaces exactly the placeholders that a MachineComponent may contain', () => {
  const spec = componentSpec('1.0', {
    identity: 'Kubelet',
    parameters: [{ name: 'level' }],
    ports: [{ name: 'web', port: 80 }],
  });
  const input = {
    entry: { parameters: {} },
    spec,
    machine: MACHINE,
    directory: '/d',
    ports: { web: 80 },
  };
  expect(createReplacer(input).known).toEqual(placeholderNames(spec).map((name) => `\${${name}}`));
});
