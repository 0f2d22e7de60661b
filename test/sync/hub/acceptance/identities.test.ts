import { describe, expect, it } from 'vitest';
import type { Pipeline, PipelineGateSet } from '../../../../src/api/generated/types.ts';
import { identityQuestion, identityRefusal } from '../../../../src/sync/hub/acceptance/identities.ts';
import { HUB_TARGET, type Rendered } from '../../../../src/sync/rendered.ts';

const NEVER = new AbortController().signal;

function gates(...units: readonly string[]): PipelineGateSet {
  const identities = units.map((unit) => ({ unit, serviceAccount: 'apps/deployer' }));
  return { identities } as unknown as PipelineGateSet;
}

function pipelineWith(status?: object): Pipeline {
  const spec = { identities: [{ unit: 'typo', serviceAccount: 'apps/deployer' }] };
  return { metadata: { name: 'fleet' }, spec, status } as unknown as Pipeline;
}

/** Renders a commit whose Pipeline names an account for unit wev. */
function rendered(commit: string): Rendered {
  const identities = [{ unit: 'wev', serviceAccount: 'apps/deployer' }];
  const object = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Pipeline',
    metadata: { name: 'fleet' },
    spec: { identities },
  };
  const hub = { unit: 'fleet', objects: [{ object, source: { file: 'hub.ts:1' } }], digest: '' };
  const web = { unit: 'web', objects: [], digest: '' };
  const targets = [
    { target: HUB_TARGET, units: [hub], digest: '' },
    { target: 'prod', units: [web], digest: '' },
  ];
  return { commit, targets };
}

const renders = { get: async (commit: string) => rendered(commit) };

describe('identityQuestion', () => {
  it('S29 knows the units of the gates in force and of stricter ones before them, not those of the spec', () => {
    const status = { gates: { inForce: gates('web'), judging: { gates: gates('web', 'db') } } };
    expect(identityQuestion(pipelineWith(status))).toEqual({
      pipeline: 'fleet',
      before: new Set(['web', 'db']),
    });
    expect(identityQuestion(pipelineWith())).toEqual({ pipeline: 'fleet', before: new Set() });
  });
});

describe('identityRefusal', () => {
  it.each<[what: string, newest: string | undefined, before: string[], isRefused: boolean]>([
    ['refuses the first commit with a typo', undefined, [], true],
    ['refuses a later commit with a typo', 'older', ['web'], true],
    ['lets an identity stay that was in force', 'older', ['wev'], false],
    ['does not judge the accepted commit again', 'head', [], false],
  ])('S29 judges the names in identities: %s', async (_, newest, before, isRefused) => {
    const identities = { pipeline: 'fleet', before: new Set(before) };
    const refusal = await identityRefusal(renders, { head: 'head', newest, identities, signal: NEVER });
    expect(refusal).toEqual(
      isRefused
        ? {
            accepted: false,
            verdict: 'Refused',
            message:
              'kubenode.dev/Pipeline fleet of hub: spec.identities names unit wev, which no cluster gets from this commit: did you mean web? [hub.ts:1]',
          }
        : undefined,
    );
  });
});
