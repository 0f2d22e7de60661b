import { describe, expect, it } from 'vitest';
import type { DemoProgram } from '../../../../src/cli/local/demo-programs.ts';
import { notInWorkReason, notRestartedReason } from '../../../../src/demo/tour/steps/crash.ts';

const program = (name: string, startTicks: string): DemoProgram => ({
  name,
  identity: { pid: 7, startTicks, bootId: 'b', command: [] },
});

describe('programs that were killed', () => {
  const killed = [program('sync', '1'), program('controllers test', '1')];

  it.each<[name: string, now: readonly DemoProgram[], reason: string | undefined]>([
    ['all started again', [program('sync', '2'), program('controllers test', '3')], undefined],
    ['one is missing', [program('sync', '2')], 'not running: controllers test'],
    ['one still runs', [program('sync', '1'), program('controllers test', '2')], 'not running: sync'],
  ])('are awaited: %s', (_, now, reason) => {
    expect(notRestartedReason(killed, now)).toBe(reason);
  });

  it('are killed when a machine is in work', () => {
    expect(notInWorkReason({ status: { counts: { inProgress: 1 } } } as never)).toBeUndefined();
    expect(notInWorkReason({} as never)).toBe('no machine is in work yet');
  });
});
