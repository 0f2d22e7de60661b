/** 0 → N → 0 instances by the calls of the machine controller, while Azure fails and answers are lost. */
import { expect, it } from 'vitest';
import { byCode } from '../../../src/kube/objects/digest.ts';
import { LONG, randomFrom, SEED } from '../../support/sweep-size.ts';
import { createFleet, hasNoInstance } from '../cloud/fleet.ts';
import { type AzureBed, CONFIG, openAzureBed } from './bed.ts';
import { GROUP } from './server/arm.ts';
import { ArmRefusal, refusalAnswer } from './server/refusal.ts';

const COUNT = LONG ? 1000 : 60;
const ROUNDS = 60;
const ERROR_SHARE = 0.05;
const LOST_SHARE = 0.1;

it(`MAC-30 has exactly as many virtual machines as machines, reads each twice an hour, and has none after it: ${COUNT}, whatever Azure answers`, async () => {
  await using bed = await openAzureBed();
  bed.arm.pageSize = 50;
  const fleet = createFleet(bed.provider, { count: COUNT, config: CONFIG });
  const restore = failSometimes(bed);
  for (let round = 0; round < ROUNDS && fleet.machines().some(hasNoInstance); round += 1) {
    await fleet.ensureAll();
  }
  restore();
  expect(fleet.machines().filter(hasNoInstance)).toEqual([]);
  const recorded = fleet.machines().map(({ status }) => status?.infra?.providerID ?? '');
  expect(existing(bed)).toEqual(recorded.toSorted(byCode));

  // What was not read yet is read now.
  await fleet.ensureAll();
  fleet.joinAll();
  const before = bed.proxy.requests.length;
  for (let minute = 0; minute < 120; minute += 1) await fleet.ensureAll();
  expect(bed.proxy.requests.length - before).toBeLessThanOrEqual(4 * COUNT);

  failSometimes(bed);
  for (let round = 0; round < ROUNDS && fleet.machines().length > 0; round += 1) await fleet.removeAll();
  expect([fleet.machines(), existing(bed), bed.arm.leaked]).toEqual([[], [], []]);
  expect(bed.arm.deployments.size).toBe(COUNT);
});

function existing({ arm }: AzureBed): readonly string[] {
  const ids = [...arm.vms.keys()].map(
    (name) => `azure://${GROUP}/providers/Microsoft.Compute/virtualMachines/${name}`,
  );
  return ids.toSorted(byCode);
}

/** Server errors before anything happens, and answers that are lost after it. */
function failSometimes({ proxy }: AzureBed): () => void {
  const random = randomFrom(SEED);
  const answer = refusalAnswer(new ArmRefusal(500, 'InternalServerError', 'An error occurred.'));
  return proxy.always(() => {
    const drawn = random();
    if (drawn < ERROR_SHARE) return { type: 'Answer', answer };
    return drawn < ERROR_SHARE + LOST_SHARE ? { type: 'LoseAnswer' } : undefined;
  });
}
