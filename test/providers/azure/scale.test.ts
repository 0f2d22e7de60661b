/** 0 → N → 0 instances by the calls of the machine controller, while Azure fails and answers are lost. */
import { expect, it } from 'vitest';
import { COUNT, expectExactlyAsMany } from '../cloud/scale.ts';
import { type AzureBed, CONFIG, openAzureBed } from './bed.ts';
import { GROUP } from './server/arm.ts';
import { ArmRefusal, refusalAnswer } from './server/refusal.ts';

const FAILED = refusalAnswer(new ArmRefusal(500, 'InternalServerError', 'An error occurred.'));

it(`MAC-30 has exactly as many virtual machines as machines, sends at most two requests a machine and hour, and has none after it: ${COUNT}, whatever Azure answers`, async () => {
  await using bed = await openAzureBed();
  bed.arm.pageSize = 50;
  const instances = await expectExactlyAsMany({
    provider: bed.provider,
    config: CONFIG,
    existing: () => Promise.resolve(existing(bed)),
    requests: () => bed.proxy.requests.length,
    failSometimes: (draw) =>
      bed.proxy.always(() => {
        const fault = draw();
        if (fault === 'Fail') return { type: 'Answer', answer: FAILED };
        return fault && { type: fault };
      }),
  });
  expect(instances).toBe(COUNT);
  expect(bed.arm.leaked).toEqual([]);
  expect(bed.arm.deployments.size).toBe(COUNT);
});

function existing({ arm }: AzureBed): readonly string[] {
  return [...arm.vms.keys()].map(
    (name) => `azure://${GROUP}/providers/Microsoft.Compute/virtualMachines/${name}`,
  );
}
