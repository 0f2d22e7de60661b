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
import { grant, inputOf, member, NEW } from '../rollout/rollout-input.ts';

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
  const actions = ['a', 'b', 'c'].map((name) => assignment(name));
  const paused = (): MachineComponentSet => ({ ...input.set, spec: { ...input.set.spec, paused: true } });
  const context = {
    view: () => ({ get: () => (writes.length >= pausedAfter ? paused() : input.set) }),
    async apply(_resource: unknown, { metadata: { name } }: { metadata: { name: string } }) {
      const code = errors[name]?.[writes.filter((each) => each === name).length];
      writes.push(name);
      if (code) throw new KubeError(code, `machine ${name}`);
    },
    clock: { sleep: done, monotonicMs: () => 0 },
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

describe('carryOutActions of many machines that are done', () => {
  it('settles for a quarter of a second, grants what is asked, and is planned again for the rest', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `m-${index}`);
    const { writes, settled, assigned, isIncomplete } = await settleAndAssign(names, { writeMs: 10 });
    expect(writes.at(-1)).toBe('next');
    expect(settled.length).toBeGreaterThanOrEqual(25);
    expect(settled.length).toBeLessThan(40);
    expect(writes.length).toBe(settled.length + 1);
    expect(assigned).toEqual(['next']);
    expect(isIncomplete).toBe(true);
  });

  it('settles all of them where the server is fast', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `m-${index}`);
    const { settled, isIncomplete } = await settleAndAssign(names, { writeMs: 1 });
    expect(settled).toHaveLength(40);
    expect(isIncomplete).toBe(false);
  });

  it('settles some however slow the server is', async () => {
    const { settled, isIncomplete } = await settleAndAssign(['a', 'b'], { writeMs: 60_000 });
    expect(settled).toEqual(['of a']);
    expect(isIncomplete).toBe(true);
  });
});

interface SettledBatch {
  readonly writes: readonly string[];
  readonly settled: readonly string[];
  readonly assigned: readonly string[];
  readonly isIncomplete: boolean;
}

/** Machines with grants that are done, and one that is assigned. Each write takes so long on the clock. */
async function settleAndAssign(
  names: readonly string[],
  { writeMs }: { readonly writeMs: number },
): Promise<SettledBatch> {
  const input = inputOf();
  const grants = memoryGrants({ now: () => NOW });
  const writes: string[] = [];
  let nowMs = 0;
  const context = {
    view: () => ({ get: () => input.set }),
    async apply(_resource: unknown, { metadata: { name } }: { metadata: { name: string } }) {
      nowMs += writeMs;
      writes.push(name);
    },
    clock: { sleep: done, monotonicMs: () => nowMs },
    log: { info: () => undefined },
    event: () => undefined,
  } as unknown as ReconcileContext;
  const actions = [
    ...names.map((name): RolloutAction => {
      const held = { ...member(name), holdsGrant: true, grant: grant({ id: `of ${name}` }) };
      return { do: 'Settle', member: held, outcome: 'Succeeded', because: '' };
    }),
    assignment('next'),
  ];
  const settled: string[] = [];
  const settle: typeof grants.settle = async (settlements) => {
    settled.push(...settlements.map(({ id }) => id));
  };
  const { isIncomplete } = await carryOutActions({ input, actions, grants: { ...grants, settle }, context });
  return { writes, settled, assigned: [...grants.open.keys()], isIncomplete };
}

function assignment(name: string): RolloutAction {
  return {
    do: 'Assign',
    member: member(name),
    revision: NEW,
    permission: { by: 'Ask', class: 'Restart', recovery: false },
    because: '',
  };
}
