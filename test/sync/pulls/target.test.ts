import { expect, it } from 'vitest';
import type { Pipeline } from '../../../src/api/generated/types.ts';
import { planDestination } from '../../../src/sync/pulls/target.ts';
import { secretStore } from '../../support/secret-store.ts';
import { reportingPipeline } from '../report/builders.ts';

const secrets = secretStore({
  name: 'status',
  use: 'git-status; api.github.com',
  data: { token: 'ghp_1234' },
});
const planning = (source: Partial<Pipeline['spec']['source']> = {}) =>
  reportingPipeline({ planComments: { forks: false }, ...source });

it('S22 has a status of its own beside that of the commit', () => {
  expect(planDestination(planning({ ref: 'release/1.2' }), secrets)).toMatchObject({
    project: { type: 'GitHub', path: 'acme/fleet', context: 'kubenode/fleet/plan' },
    address: 'https://github.com/acme/fleet kubenode/fleet/plan',
    branch: 'release/1.2',
    forks: false,
    credential: { type: 'Token', token: 'ghp_1234' },
  });
});

it('S22 plans forks only where the Pipeline permits it', () => {
  expect(planDestination(planning({ planComments: { forks: true } }), secrets)?.forks).toBe(true);
});

it('S22 needs no token for a Pipeline that plans no pull requests', () => {
  expect(planDestination(reportingPipeline(), secretStore())).toBeUndefined();
  const { statusCredentialsRef: _, ...source } = planning().spec.source;
  const pipeline = { ...planning(), spec: { ...planning().spec, source } };
  expect(planDestination(pipeline, secretStore())).toBeUndefined();
});

it.each(['HEAD', 'refs/tags/v1', 'refs/notes/main'])('S22 has no pull requests for %s', (ref) => {
  expect(() => planDestination(planning({ ref }), secrets)).toThrow(
    `pull requests are for a branch, and ${ref} is not one: set spec.source.ref to refs/heads/NAME`,
  );
});
