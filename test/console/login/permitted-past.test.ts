import { describe, expect, it } from 'vitest';
import { createPermittedPast } from '../../../src/console/login/permitted-past.ts';
import type { PastAnswer } from '../../../src/console/state/history/ranges.ts';
import type { ListOptions } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import { virtualClock } from '../../support/virtual-clock.ts';

const ANSWER: PastAnswer = {
  at: 60,
  from: 0,
  step: 30,
  lines: {
    ready: [9, 9],
    changing: [1, 1],
    trouble: [0, 0],
    updated: [9, 9],
    repairs: [2, 2],
    grants: [3, 3],
  },
  missing: [
    { field: 'contact', because: 'Prometheus has no kubenode_sync_contact_age_seconds in this range' },
  ],
};

/** The kinds that the person may not list, and the code of the answer. */
function bed(refused: Readonly<Record<string, 'Forbidden' | 'NotFound' | 'Unreachable'>>) {
  const asked: string[] = [];
  const state = { refused };
  const clock = virtualClock();
  const client = {
    list: ({ plural }: Resource) => {
      asked.push(plural);
      const code = state.refused[plural];
      return code
        ? Promise.reject(new KubeError(code, `list ${plural}: ${code}`))
        : Promise.resolve({ items: [], resourceVersion: '1' });
    },
  };
  const past = createPermittedPast({ client, clock, read: () => Promise.resolve(ANSWER) });
  return { past, asked, state, clock };
}

describe('the past of a person', () => {
  it('CON-31 is complete for a person who may list all kinds that the lines count', async () => {
    const { past, asked } = bed({});
    expect(await past('1h')).toEqual(ANSWER);
    expect(asked.toSorted()).toEqual([
      'clusters',
      'defenderledgers',
      'machinecomponentsets',
      'machines',
      'remedyoperationjobs',
    ]);
  });

  it('CON-31 has no number about machines for a person who may not list machines, and names the right', async () => {
    const { past } = bed({ machines: 'Forbidden' });
    const { lines, missing } = await past('24h');
    expect(Object.keys(lines)).toEqual(['updated', 'repairs', 'grants']);
    const because = 'you may not list machines.kubenode.dev';
    expect(missing).toEqual([
      ...ANSWER.missing,
      ...(['ready', 'changing', 'trouble'] as const).map((field) => ({ field, because })),
    ]);
  });

  it.each([
    ['may list nothing', 'Forbidden', 'you may not list machines.kubenode.dev'],
    ['asks a cluster without the kinds', 'NotFound', 'kind Machine is not installed in this cluster'],
    ['asks a server that does not answer', 'Unreachable', 'does not answer whether you may list machines'],
  ] as const)('CON-31 has no line at all for a person who %s', async (_, code, because) => {
    const kinds = ['machines', 'machinecomponentsets', 'remedyoperationjobs', 'defenderledgers', 'clusters'];
    const { past } = bed(Object.fromEntries(kinds.map((kind) => [kind, code])));
    const { lines, missing } = await past('1h');
    expect(lines).toEqual({});
    expect(missing.find(({ field }) => field === 'ready')?.because).toContain(because);
  });

  it('CON-31 asks about all kinds at once, and for a short time', async () => {
    const asked: (number | undefined)[] = [];
    const client = {
      list: (_: Resource, { timeoutMs }: ListOptions = {}) => {
        asked.push(timeoutMs);
        return new Promise<never>(() => undefined);
      },
    };
    const clock = virtualClock();
    void createPermittedPast({ client, clock, read: () => Promise.resolve(ANSWER) })('1h');
    await clock.advance(0);
    expect(asked).toEqual([5000, 5000, 5000, 5000, 5000]);
  });

  it('CON-31 loses a line within a minute after its right was taken away, and asks no more often', async () => {
    const { past, asked, state, clock } = bed({});
    await past('1h');
    await past('15m');
    expect(asked.length).toBe(5);
    state.refused = { defenderledgers: 'Forbidden' };
    await clock.advance(30_000);
    expect(Object.keys((await past('1h')).lines)).not.toContain('grants');
    expect(asked.length).toBe(10);
  });
});
