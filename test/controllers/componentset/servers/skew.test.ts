import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MemberState } from '../../../../src/controllers/componentset/machine/member-state.ts';
import { planRollout } from '../../../../src/controllers/componentset/plan.ts';
import { type Revision, revisionOf } from '../../../../src/controllers/componentset/revision/resolve.ts';
import { createSkewRule, type FindIdentity } from '../../../../src/controllers/componentset/servers/skew.ts';
import type { ServerVersions } from '../../../../src/rollout/kubelet-skew.ts';
import { component } from '../../../support/builders.ts';
import { inputOf, member } from '../rollout/rollout-input.ts';

function known(...versions: readonly string[]): ServerVersions {
  return { state: 'Known', versions };
}

const UNKNOWN: ServerVersions = { state: 'Unknown', because: '10.0.0.2:6443 does not answer' };

/** Components by their name: `kubelet-1.34.2`. */
const find: FindIdentity = (ref) => {
  const [name, ...version] = ref.split('-');
  return { identity: name === 'kubelet' ? 'Kubelet' : 'None', version: version.join('-') };
};

function revision(...refs: readonly string[]): Revision {
  return revisionOf(
    refs.map((ref) => {
      const [name = '', ...version] = ref.split('-');
      return { ...component(name, version.join('-')), state: 'Present', parameters: {} };
    }),
  );
}

describe('createSkewRule', () => {
  const old = revision('app-1', 'kubelet-1.33.0');
  const newer = revision('app-2', 'kubelet-1.35.0');
  const sameKubelet = revision('app-2', 'kubelet-1.33.0');
  const at = member('a', { at: old });

  it.each<readonly [to: Revision, servers: ServerVersions, expected: string | undefined]>([
    [newer, known('v1.34.0'), 'KubeletSkew'],
    [newer, UNKNOWN, 'ServerVersionUnknown'],
    [newer, known('v1.35.0'), undefined],
    [sameKubelet, UNKNOWN, undefined],
    [revision('app-2'), UNKNOWN, undefined],
  ])('ROL-53 forbids only what moves a kubelet: %#', (to, servers, expected) => {
    expect(createSkewRule(servers, find)(at, to)?.reason).toBe(expected);
  });

  it('ROL-53 leaves a kubelet that a person pinned to the person', () => {
    const pinned = { ...at, pinned: ['kubelet'] };
    expect(createSkewRule(UNKNOWN, find)(pinned, newer)).toBeUndefined();
  });

  it('ROL-53 removes a kubelet, or one whose MachineComponent is not found, without a comparison', () => {
    const removed = revisionOf([{ ...component('kubelet', '1.35.0'), state: 'Absent', parameters: {} }]);
    expect(createSkewRule(UNKNOWN, find)(at, removed)).toBeUndefined();
    expect(createSkewRule(UNKNOWN, () => undefined)(at, newer)).toBeUndefined();
  });
});

const MINORS = fc.integer({ min: 30, max: 36 });
const VERSIONS = MINORS.map((minor) => `1.${minor}.0`);
const SERVERS = fc.oneof(
  { weight: 4, arbitrary: fc.array(VERSIONS, { minLength: 1, maxLength: 3 }).map((all) => known(...all)) },
  { weight: 1, arbitrary: fc.constant(UNKNOWN) },
);

/** Of the kubelet of the revision. */
function minorOf({ components }: Revision): number {
  return Number(components[0]?.componentRef.split('.')[1]);
}

/** Counted without the planner. */
function isSupported(minor: number, servers: ServerVersions): boolean {
  if (servers.state === 'Unknown') return false;
  const lowest = Math.min(...servers.versions.map((version) => Number(version.split('.')[1])));
  return minor <= lowest && minor >= lowest - 3;
}

/** Revisions that machines are started with. */
function startedAt(
  members: readonly MemberState[],
  parts: Parameters<typeof inputOf>[0],
): readonly Revision[] {
  const { actions } = planRollout(inputOf({ members, ...parts }));
  return actions.flatMap((action) => (action.type === 'Assign' ? [action.revision] : []));
}

describe('planRollout', () => {
  it('ROL-53 never starts a kubelet that an API server does not support, in any order of upgrades', () => {
    const step = fc.record({ servers: SERVERS, desired: VERSIONS, from: VERSIONS, failed: fc.boolean() });
    fc.assert(
      fc.property(step, ({ servers, desired, from, failed }) => {
        const [stable, target] = [revision(`kubelet-${from}`), revision(`kubelet-${desired}`)];
        const members = [
          member(
            'a',
            failed ? { at: target, batch: 0, step: 'Failed', reason: 'RolledBack' } : { at: stable },
          ),
          member('b', { at: stable }),
          member('c', { at: 'None' }),
        ];
        const started = startedAt(members, {
          desired: { revision: target, yanked: [] },
          stable,
          progress: {
            updateRevision: target.name,
            history: [{ revision: stable.name, result: 'Completed' }],
            batch: { index: 0, size: 2, total: 3, startedAt: new Date(0) },
          },
          skewOf: createSkewRule(servers, find),
        });
        expect(started.map(minorOf).filter((minor) => !isSupported(minor, servers))).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  it('ROL-53 names the Service whose endpoints decide', () => {
    const plan = planRollout(
      inputOf({
        members: [member('a', { at: revision('kubelet-1.33.0') })],
        desired: { revision: revision('kubelet-1.35.0'), yanked: [] },
        progress: { history: [] },
        skewOf: createSkewRule(known('v1.34.0'), find),
      }),
    );
    const wait = {
      reason: 'KubeletSkew',
      because: 'kubelet 1.35.0 is newer than the API server, v1.34.0. Upgrade the API server first',
      blocker: { kind: 'Service', name: 'kubernetes', namespace: 'default' },
    };
    expect(plan.limit).toMatchObject(wait);
    expect(plan.waiting.get('a')).toEqual(wait);
  });
});
