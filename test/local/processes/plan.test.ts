import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FoundProcess,
  type ProcessSlot,
  planProcesses,
  planStop,
  type StrayProcess,
} from '../../../src/local/processes/plan.ts';

const DESIRED = ['/bin/etcd', '--port=1', '--data=x'];

describe('planProcesses', () => {
  it.each<[name: string, found: FoundProcess[], expected: string[]]>([
    ['starts a process that is not running', [], ['start etcd: it is not running']],
    ['adopts a running process', [running(7)], ['adopt etcd 7: it is already running']],
    [
      'keeps the oldest of several, which holds the port',
      [running(9, '200'), running(7, '1000'), running(8, '30')],
      [
        'stop etcd 9: it is running twice',
        'stop etcd 7: it is running twice',
        'adopt etcd 8: it is already running',
      ],
    ],
    [
      'restarts a process with other settings and lists them',
      [running(7, '1', ['/bin/etcd', '--port=2', '--data=x', '--old'])],
      [
        'stop etcd 7: its settings changed: no --port=2, no --old, --port=1',
        'start etcd: its settings changed: no --port=2, no --old, --port=1',
      ],
    ],
    [
      'restarts a process with another program',
      [running(7, '1', ['/old/etcd', '--port=1', '--data=x'])],
      [
        'stop etcd 7: expected program /bin/etcd, got /old/etcd',
        'start etcd: expected program /bin/etcd, got /old/etcd',
      ],
    ],
    [
      'ignores the order of arguments',
      [running(7, '1', ['/bin/etcd', '--data=x', '--port=1'])],
      ['adopt etcd 7: it is already running'],
    ],
  ])('%s', (_, found, expected) => {
    expect(explain([{ id: 'etcd', command: DESIRED, found }], [])).toEqual(expected);
  });

  it('plans all stops before all starts', () => {
    const changed = running(7, '1', ['/bin/etcd', '--port=2']);
    const slots = [
      { id: 'etcd', command: DESIRED, found: [] },
      { id: 'hub/kube-apiserver', command: DESIRED, found: [changed] },
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

  it('leaves each process running once and never stops an unknown process', () => {
    const anyFound = fc.record({
      pid: fc.integer({ min: 1, max: 99 }),
      startTicks: fc.nat(999).map(String),
      command: fc.constantFrom(DESIRED, ['/bin/etcd', '--port=2']),
    });
    const anySlots = fc.uniqueArray(anyFound, { selector: ({ pid }) => pid, maxLength: 8 }).chain((found) =>
      fc.array(fc.nat(2), { minLength: found.length, maxLength: found.length }).map((owners) =>
        ['a', 'b', 'c'].map((id, slot) => ({
          id,
          command: DESIRED,
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
          expect(left.every(({ command }) => command === DESIRED)).toBe(true);
          expect(stopped.every((pid) => found.some((process) => process.pid === pid))).toBe(true);
        }
        expect(entries.every(({ because }) => because.length > 0)).toBe(true);
      }),
    );
  });
});

describe('planStop', () => {
  it('stops API servers before etcd, and their clients before them', () => {
    const strays: StrayProcess[] = [
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

  it('is empty if no process is running', () => {
    expect(planStop([])).toEqual([]);
  });
});

function running(pid: number, startTicks = '1', command: readonly string[] = DESIRED): FoundProcess {
  return { pid, startTicks, command };
}

function explain(slots: readonly ProcessSlot[], strays: readonly StrayProcess[]): string[] {
  return planProcesses(slots, strays).map((entry) => {
    const target = entry.act === 'start' ? entry.id : `${entry.id} ${entry.pid}`;
    return `${entry.act} ${target}: ${entry.because}`;
  });
}
