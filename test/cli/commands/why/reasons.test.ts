import { expect, it } from 'vitest';
import { countReasons, formatReasons, type MachineReason } from '../../../../src/cli/commands/why/reasons.ts';

function reason(machine: string, of: string, unblock = ''): MachineReason {
  return {
    machine,
    set: 'base',
    versions: 'kubelet 1.34.2',
    reason: of,
    because: `${machine} is ${of}`,
    unblock,
  };
}

const FOUND = [
  reason('m-00', 'Held', 'kubenode machine release m-00'),
  ...['m-01', 'm-02', 'm-03', 'm-04', 'm-05', 'm-06'].map((name) => reason(name, 'Settled')),
];

it('ROL-61 counts the machines by reason, the commonest first, with the first names', () => {
  const counts = countReasons(FOUND);
  expect(counts.map(({ reason: of, machines }) => [of, machines])).toEqual([
    ['Settled', 6],
    ['Held', 1],
  ]);
  expect(formatReasons(counts, 80)).toBe(`
MACHINES   REASON    WHY
6          Settled   m-01 is Settled (m-01, m-02, m-03, m-04, m-05 and 1 other)
1          Held      m-00 is Held

  unblocks   Held: kubenode machine release m-00
`);
});

it('has a sentence for a set without machines', () => {
  expect(formatReasons([], 80)).toBe('\nno machine is selected\n');
});
