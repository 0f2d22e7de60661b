import { expect, it } from 'vitest';
import { applyMachineStatus } from '../../../../src/controllers/remedyjob/execute/machine-status.ts';
import type { ReconcileContext } from '../../../../src/kube/controller/reconcile-context.ts';
import { jobMachine } from '../jobs.ts';

it('R33 writes only to the version of the Machine that was judged', async () => {
  const written: unknown[] = [];
  const applyStatus: ReconcileContext['applyStatus'] = (_, intent) => {
    written.push(intent.metadata);
    return Promise.reject(new Error('not stored'));
  };
  const judged = jobMachine();
  const machine = { ...judged, metadata: { ...judged.metadata, uid: 'uid-1', resourceVersion: '7' } };
  await expect(applyMachineStatus(machine, {}, { applyStatus })).rejects.toThrow('not stored');
  expect(written).toEqual([{ name: 'm', uid: 'uid-1', resourceVersion: '7' }]);
});
