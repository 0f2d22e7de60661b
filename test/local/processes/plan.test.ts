import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Found,
  planProcesses,
  planStop,
  type Slot,
  type Stray,
} from '../../../src/local/processes/plan.ts';

const WANTED = ['/bin/etcd', '--port=1', '--data=x'];

describe('planProcesses', () => {
  it.each<[name: string, found: Found[], says: string[]]>([
    ['starts what does not run', [], ['start etcd: it does not run']],
    ['adopts what runs', [running(7)], ['adopt etcd 7: it runs already']],
    [
      'keeps the oldest of several, which has the port',
      [running(9, '200'), running(7, '1000'), running(8, '30')],
      ['stop etcd 9: it runs twice', 'stop etcd 7: it runs twice', 'adopt etcd 8: it runs already'],
    ],
    [
      'starts again what runs with other settings, and says which',
      [running(7, '1', ['/bin/etcd', '--port=2', '--data=x', '--old'])],
      [
        'stop etcd 7: its settings changed: no --port=2, no --old, --port=1',
        'start etcd: its settings changed: no --port=2, no --old, --port=1',
      ],
    ],
    [
      'starts again what is another program',
      [running(7, '1', ['/old/etcd', '--port=1', '--data=x'])],
      [
        'stop etcd 7: it runs /old/etcd, wanted is /bin/etcd',
        'start etcd: it runs /old/etcd, wanted is /bin/etcd',
      ],
    ],
    [
      'does not mind the order of arguments',
      [running(7, '1', ['/bin/etcd', '--data=x', '--port=1'])],
      ['adopt etcd 7: it runs already'],
    ],
  ])('%s', (_, found, says) => {
    expect(explain([{ id: 'etcd', command: WANTED, found }], [])).toEqual(says);
  });

  it('stops everything that has to go before it starts anything', () => {
    const changed = running(7, '1', ['/bin/etcd', '--port=2']);
    const slots = [
      { id: 'etcd', command: WANTED, found: [] },
      { id: 'hub/kube-apiserver', command: WANTED, found: [changed] },
    ];
    const acts = planProcesses(slots, [{ pid: 3, program: 'kube-scheduler' }]).map(
      ({ act, id }) => `${act} ${id}`,
    );
    expect(acts).toEqual([
      'stop kube-scheduler',
      'stop hub/kube-apiserver',
      'start etcd',
      'start hub/kube-apiserver',
    ]);
  });

  it('never leaves two of a kind, never touches what it was not shown, and ends with each running once', () => {
    const anyFound = fc.record({
      pid: fc.integer({ min: 1, max: 99 }),
      startTicks: fc.nat(999).map(String),
      command: fc.constantFrom(WANTED, ['/bin/etcd', '--port=2']),
    });
    const anySlots = fc.uniqueArray(anyFound, { selector: ({ pid }) => pid, maxLength: 8 }).chain((found) =>
      fc.array(fc.nat(2), { minLength: found.length, maxLength: found.length }).map((owners) =>
        ['a', 'b', 'c'].map((id, slot) => ({
          id,
          command: WANTED,
          found: found.filter((_, index) => owners[index] === slot),
        })),
      ),
    );
    fc.assert(
      fc.property(anySlots, (slots) => {
        const entries = planProcesses(slots, []);
        for (const { id, found } of slots) {
          const own = entries.filter((entry) => entry.id === id);
          const stopped = own.flatMap((entry) => (entry.act === 'stop' ? entry.pid : []));
          const left = found.filter(({ pid }) => !stopped.includes(pid));
          const started = own.filter(({ act }) => act === 'start').length;
          expect(left.length + started).toBe(1);
          expect(left.every(({ command }) => command === WANTED)).toBe(true);
          expect(stopped.every((pid) => found.some((process) => process.pid === pid))).toBe(true);
        }
        expect(entries.every(({ because }) => because.length > 0)).toBe(true);
      }),
    );
  });
});

describe('planStop', () => {
  it('ends API servers before the etcd that they need, and their clients before them', () => {
    const strays: Stray[] = [
      'etcd',
      'kube-apiserver',
      'kube-scheduler',
      'kube-apiserver',
      'kube-controller-manager',
    ].map((program, index) => ({ program, pid: index + 1 }));
    expect(planStop(strays).map((stage) => stage.map(({ id, pid }) => `${id} ${pid}`))).toEqual([
      ['kube-scheduler 3'],
      ['kube-controller-manager 5'],
      ['kube-apiserver 2', 'kube-apiserver 4'],
      ['etcd 1'],
    ]);
  });

  it('has nothing to do where nothing runs', () => {
    expect(planStop([])).toEqual([]);
  });
});

function running(pid: number, startTicks = '1', command: readonly string[] = WANTED): Found {
  return { pid, startTicks, command };
}

function explain(slots: readonly Slot[], strays: readonly Stray[]): string[] {
  return planProcesses(slots, strays).map((entry) => {
    const who = entry.act === 'start' ? entry.id : `${entry.id} ${entry.pid}`;
    return `${entry.act} ${who}: ${entry.because}`;
  });
}
