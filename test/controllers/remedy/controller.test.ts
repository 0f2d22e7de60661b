import { describe, expect, it } from 'vitest';
import { NODE_REMEDIERS } from '../../../src/api/generated/resources.ts';
import type { NodeRemedier } from '../../../src/api/generated/types.ts';
import { createRemedyController } from '../../../src/controllers/remedy/controller.ts';
import { type ControllerBed, createControllerBed, sweepCrashes } from '../../support/controller/bed.ts';
import { remedier } from '../../support/remediers.ts';

const KINDS = [{ resource: NODE_REMEDIERS, status: true, lists: { conditions: ['type'] } }];
const COMMIT = { 'kubenode.dev/commit': '4f2c9e1a77b0' };
const UNKNOWN_FACT = { '/rule/conditions/all/0/fact': 'weather' };

function optionsFor(...objects: readonly NodeRemedier[]): Parameters<typeof createControllerBed>[0] {
  return { controllers: [createRemedyController()], kinds: KINDS, objects };
}

async function start(...objects: readonly NodeRemedier[]): Promise<ControllerBed> {
  const bed = createControllerBed(optionsFor(...objects));
  await bed.start();
  await bed.advance(3000);
  return bed;
}

function statusOf(bed: ControllerBed, name: string): NodeRemedier['status'] {
  return bed.get<NodeRemedier>(NODE_REMEDIERS, name)?.status;
}

function acceptedOf(bed: ControllerBed, name: string): string | undefined {
  const found = statusOf(bed, name)?.conditions.find(({ type }) => type === 'Accepted');
  return found && `${found.status}: ${found.message}`;
}

describe('the remedy controller', () => {
  it('writes Accepted, digest and commit once, and nothing while nothing changes', async () => {
    const bed = await start(remedier({}, { annotations: COMMIT }));
    expect(statusOf(bed, 'kernel-hang')).toMatchObject({
      observedGeneration: 1,
      phase: 'Held',
      commit: '4f2c9e1a77b0',
      ruleDigest: expect.stringMatching(/^sha256:/) as string,
    });
    expect(bed.writes()).toEqual(['apply NodeRemedier kernel-hang status']);
    await bed.advance(600_000);
    expect(bed.writes()).toEqual([]);
  });

  it('accepts the other rules beside one that does not compile and one whose test fails', async () => {
    const bed = await start(
      remedier(UNKNOWN_FACT, { name: 'a-bad' }),
      remedier({ '/rule/gate/all/0/operator': 'lessThan' }, { name: 'b-failing' }),
      remedier({}, { name: 'c-good' }),
    );
    expect(acceptedOf(bed, 'a-bad')).toMatch(
      /^False: rule a-bad: spec\.rule\.conditions\.all\[0\]\.fact: unknown fact "weather"/,
    );
    expect(acceptedOf(bed, 'b-failing')).toMatch(
      /^False: rule b-failing: spec\.tests\[0\]: test "hung" failed: expected Match, got Held/,
    );
    expect(acceptedOf(bed, 'c-good')).toBe('True: all 4 tests passed');
  });

  it('judges the new rule after a change, and names the new commit when only that changed', async () => {
    const bed = await start(remedier(UNKNOWN_FACT));
    expect(statusOf(bed, 'kernel-hang')?.phase).toBe('Refused');
    bed.apply(remedier());
    await bed.advance(3000);
    expect([statusOf(bed, 'kernel-hang')?.phase, statusOf(bed, 'kernel-hang')?.commit]).toEqual([
      'Held',
      undefined,
    ]);
    bed.apply(remedier({}, { annotations: COMMIT }));
    await bed.advance(3000);
    expect(statusOf(bed, 'kernel-hang')?.commit).toBe('4f2c9e1a77b0');
  });

  it('ends the same after a crash at each of its writes', async () => {
    const writes = await sweepCrashes(optionsFor(remedier()), async (bed) => {
      await bed.advance(5000);
      expect(acceptedOf(bed, 'kernel-hang')).toBe('True: all 4 tests passed');
    });
    expect(writes).toBe(1);
  });
});
