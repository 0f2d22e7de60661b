import { describe, expect, it } from 'vitest';
import type { MachineComponentSet } from '../../../../src/api/generated/types.ts';
import {
  carryOutActions,
  type RolloutResult,
} from '../../../../src/controllers/componentset/execute/execute.ts';
import type { RolloutAction } from '../../../../src/controllers/componentset/rollout/input.ts';
import { KubeError, type KubeErrorCode } from '../../../../src/kube/client/errors.ts';
import type { ReconcileContext } from '../../../../src/kube/controller/reconcile-context.ts';
import { NOW } from '../../../support/builders.ts';
import { memoryGrants } from '../../../support/memory-grants.ts';
import { inputOf, member, NEW } from '../rollout/rollout-input.ts';

interface Bed {
  /** By machine, the answers to its writes, in order; then each succeeds. */
  readonly errors?: Readonly<Record<string, readonly KubeErrorCode[]>>;
  /** After so many writes the view has a paused set. */
  readonly pausedAfter?: number;
}

/** Assigns the new revision to machines a, b and c. */
async function assign({ errors = {}, pausedAfter = Number.POSITIVE_INFINITY }: Bed): Promise<{
  readonly result: RolloutResult;
  readonly writes: readonly string[];
}> {
  const input = inputOf();
  const writes: string[] = [];
  const actions = ['a', 'b', 'c'].map(
    (name): RolloutAction => ({
      type: 'Assign',
      member: member(name),
      revision: NEW,
      permission: { by: 'Ask', class: 'Restart', recovery: false },
      because: '',
    }),
  );
  const paused = (): MachineComponentSet => ({ ...input.set, spec: { ...input.set.spec, paused: true } });
  const context = {
    view: () => ({ get: () => (writes.length >= pausedAfter ? paused() : input.set) }),
    async apply(_resource: unknown, { metadata: { name } }: { metadata: { name: string } }) {
      const code = errors[name]?.[writes.filter((each) => each === name).length];
      writes.push(name);
      if (code) throw new KubeError(code, `machine ${name}`);
    },
    clock: { sleep: done },
    log: { info: () => undefined },
    event: () => undefined,
  } as unknown as ReconcileContext;
  const result = await carryOutActions({
    input,
    actions,
    grants: memoryGrants({ now: () => NOW }),
    context,
  });
  return { result, writes };
}

async function done(): Promise<void> {}

describe('carryOutActions', () => {
  it('repeats a machine that the server refuses, and no other', async () => {
    expect(await assign({ errors: { b: ['Forbidden', 'Forbidden'] } })).toEqual({
      result: { denials: [], isIncomplete: false },
      writes: ['a', 'b', 'c', 'b', 'b'],
    });
  });

  it('plans again after a conflict, tells no failure, and does not repeat the write', async () => {
    expect(await assign({ errors: { b: ['Conflict'] } })).toEqual({
      result: { denials: [], isIncomplete: true },
      writes: ['a', 'b', 'c'],
    });
  });

  it('tries each machine once and tells the first failure', async () => {
    const { result, writes } = await assign({ errors: { a: ['Invalid'], c: ['Unreachable'] } });
    expect(writes).toEqual(['a', 'b', 'c']);
    expect(result).toMatchObject({ isIncomplete: true, failure: { message: 'machine a' } });
  });

  it('ROL-34 writes no further machine of a batch when the set is paused meanwhile', async () => {
    const { result, writes } = await assign({ pausedAfter: 1 });
    expect(result).toEqual({ denials: [], isIncomplete: true });
    expect(writes).toEqual(['a']);
  });
});
