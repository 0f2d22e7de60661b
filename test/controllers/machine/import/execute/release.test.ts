import { expect, it } from 'vitest';
import { createImports } from '../../../../../src/controllers/machine/import/execute/execute.ts';
import { condition, machine } from '../../../../support/builders.ts';
import { virtualClock } from '../../../../support/virtual-clock.ts';
import { importedMachine } from './import-bed.ts';

it('MAC-20 tells once that a cleanup is incomplete, however often the deletion asks', () => {
  const [told, counted] = [[] as string[], [] as string[]];
  const clock = virtualClock();
  const context = {
    clock,
    log: { warn: () => undefined },
    event: (_: unknown, { note }: { readonly note: string }) => told.push(note),
  } as never;
  const { metadata, spec } = importedMachine('m');
  const deleted = machine('m', {
    metadata: { ...metadata, deletionTimestamp: new Date(0).toISOString() },
    spec,
    status: { conditions: [condition('PreflightPassed', 'True')] },
  });
  const imports = createImports({
    incomplete: { add: ({ reason }: { readonly reason: string }) => counted.push(reason) },
  });
  const released = [1, 2, 3].map(() => imports.release(deleted, context));
  expect([released, counted]).toEqual([['Incomplete', 'Incomplete', 'Incomplete'], ['ImportsNotRun']]);
  expect(told).toEqual([expect.stringContaining('ImportsNotRun: this process imports no hosts')]);
  imports.forget(deleted);
  imports.release(deleted, context);
  expect(counted).toHaveLength(2);
});
