import { describe, expect, it } from 'vitest';
import { formatMachines, machineRow } from '../../../src/views/machine/list.ts';
import { ago, machine, NOW } from '../../support/builders.ts';

const READY = machine('m-2', { spec: { zone: 'b' }, status: { phase: 'Ready' } });
const WAITS = machine('m-1', {
  status: {
    phase: 'Updating',
    waiting: {
      reason: 'WaitingForDrain',
      since: ago(90),
      message: 'pod shop/web-1 is protected by PodDisruptionBudget web',
    },
  },
});
const UNSEEN = { ...machine('m-3'), status: undefined } as never;

describe('formatMachines', () => {
  it('counts the phases, and lists machines that need somebody first', () => {
    const text = formatMachines([READY, WAITS, UNSEEN].map(machineRow), NOW, { limit: 10 });
    expect(text).toBe(`3 machines: 1 Pending, 1 Updating, 1 Ready

MACHINE   PHASE      SINCE   ZONE   RUNS             WHY
m-3       Pending    -       -      -                NotObserved: no controller
                                                     has observed it: check that
                                                     kubenode controllers runs
m-1       Updating   90s     -      kubelet-1.34.2   WaitingForDrain: pod
                                                     shop/web-1 is protected by
                                                     PodDisruptionBudget web
m-2       Ready      60m     b      kubelet-1.34.2
`);
  });

  it('stays short in a fleet of 10,000 machines, and names what was cut', () => {
    const rows = Array.from({ length: 10_000 }, (_, index) => ({ ...machineRow(READY), name: `m-${index}` }));
    const text = formatMachines(rows, NOW, { limit: 50 });
    expect(text.split('\n')).toHaveLength(55);
    expect(text).toContain('and 9950 more: --limit 10000 lists all');
  });

  it('has a sentence for a cluster without machines', () => {
    expect(formatMachines([], NOW, { limit: 10 })).toBe('no machines\n');
  });
});
